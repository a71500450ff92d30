"""/sys/module and /lib/modules: what is loaded, and the files it is loaded from."""

from __future__ import annotations

from fakes.files.registry import Content, Files, Folder, Link, node_tree
from fakes.node import Node
from fakes.system.kernel import RELEASE
from fakes.system.modules import KNOWN
from fakes.world import World


@node_tree("/sys/module")
def sys_module(node: Node, world: World) -> Files:
    """A directory for each module that is loaded: how often it is held, by which, its version."""
    del world
    files: dict[str, Content] = {}
    for module in node.modules.loaded:
        home = module.name
        files[f"{home}/refcnt"] = f"{node.modules.uses(node, module.name)}\n"
        files[f"{home}/holders"] = Folder()
        for holder in node.modules.holders(module.name):
            files[f"{home}/holders/{holder}"] = Link(f"../../{holder}")
        if module.name.startswith("nvidia") and module.name != "nvidia_fs":
            files[f"{home}/version"] = f"{node.driver.version}\n"
    if "nvidia" in node.modules:
        files["nvidia/parameters/NVreg_EnableGpuFirmware"] = "18\n"
    return files


@node_tree("/usr/lib/modules")
def lib_modules(node: Node, world: World) -> Files:
    """The modules' files, which are empty, under the release that ``uname -r`` tells."""
    del node, world
    files: dict[str, Content] = {}
    for module in KNOWN.values():
        if module.name.startswith(("nvidia", "gdrdrv")):
            name = module.name.replace("_", "-") if module.name != "nvidia_fs" else module.name
            files[f"{RELEASE}/updates/dkms/{name}.ko"] = ""
        else:
            files[f"{RELEASE}/kernel/drivers/{module.name}.ko"] = ""
    return files
