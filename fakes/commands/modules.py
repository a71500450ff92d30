"""``lsmod``, ``modprobe``, ``rmmod`` and ``modinfo``: the kernel's modules (kmod 29)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.kernel import RELEASE
from fakes.system.modules import DRIVER, KNOWN, InUseError, Module, canonical
from fakes.world import World

_BUILT_IN = frozenset({"loop", "ext4", "vfat", "ipv6", "configfs", "efivarfs"})


@command("lsmod", latency_us=10_000)
def lsmod(node: Node, out: TextIO) -> int:
    """A module a line: its size, how often it is held, and by which others."""
    out.write("Module                  Size  Used by\n")
    for module in node.modules.loaded:
        holders = ",".join(node.modules.holders(module.name))
        uses = node.modules.uses(node, module.name)
        row = f"{module.name:<19} {module.size_bytes:>8}  {uses} {holders}"
        out.write(f"{row.rstrip() if not holders else row}\n")
    return 0


@command("rmmod", latency_us=500_000)
def rmmod(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Take modules out, in the order given. What is in use stays."""
    try:
        options, names = parse(argv, {"f": "force", "s": "syslog", "v": "verbose", "w": "wait"}, {})
    except UnknownOptionError as error:
        err.write(f"rmmod: {error}\n")
        return NOT_UNDERSTOOD
    if not names:
        err.write("rmmod: ERROR: missing module name.\n")
        return 1
    status = 0
    for name in names:
        if "verbose" in options:
            out.write(f"rmmod {canonical(name)}\n")
        try:
            node.modules.unload(node, world, name)
        except KeyError:
            err.write(f"rmmod: ERROR: Module {canonical(name)} is not currently loaded\n")
            status = 1
        except InUseError as error:
            by = f" by: {' '.join(error.holders)}" if error.holders else ""
            err.write(f"rmmod: ERROR: Module {error.name} is in use{by}\n")
            status = 1
    return status


@command("modprobe", latency_us=500_000)
def modprobe(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Load a module with those that it needs; with ``-r`` take it out, and what nobody needs then.

    Several names are several modules only with ``-r`` or ``-a``: else the rest are parameters.
    """
    flags = {
        "r": "remove", "v": "verbose", "q": "quiet", "f": "force", "a": "all", "n": "dry-run",
        "i": "ignore-install", "b": "use-blacklist",
    }  # fmt: skip
    try:
        options, names = parse(argv, flags, {"S": "set-version", "d": "dirname"}, ("wait",))
    except UnknownOptionError as error:
        err.write(f"modprobe: {error}\n")
        return NOT_UNDERSTOOD
    if not names:
        err.write("modprobe: ERROR: missing parameters. See -h.\n")
        return 1
    if "remove" in options:
        return max(_remove(name, node, world, err, options) for name in names)
    wanted = names if "all" in options else names[:1]
    return max(_load(name, node, world, out, err, options) for name in wanted)


def _load(
    name: str, node: Node, world: World, out: TextIO, err: TextIO, options: dict[str, str]
) -> int:
    if canonical(name) in _BUILT_IN:
        return 0
    if canonical(name) not in KNOWN:
        if "quiet" not in options:
            err.write(
                f"modprobe: FATAL: Module {name} not found in directory /lib/modules/{RELEASE}\n"
            )
        return 1
    if "verbose" in options and canonical(name) not in node.modules:
        out.write(f"insmod {_file(KNOWN[canonical(name)])} \n")
    if "dry-run" not in options:
        node.modules.load(node, world, name)
    return 0


def _remove(name: str, node: Node, world: World, err: TextIO, options: dict[str, str]) -> int:
    name = canonical(name)
    if name in _BUILT_IN:
        err.write(f"modprobe: FATAL: Module {name} is builtin.\n")
        return 1
    if name not in KNOWN:
        if "quiet" not in options:
            err.write(f"modprobe: FATAL: Module {name} not found.\n")
        return 1
    if name not in node.modules:
        return 0
    if "dry-run" in options:
        return 0
    try:
        node.modules.unload(node, world, name)
    except InUseError as error:
        if "quiet" not in options:
            by = f" by: {' '.join(error.holders)}" if error.holders else ""
            err.write(f"modprobe: FATAL: Module {error.name} is in use{by}.\n")
        return 1
    for needed in KNOWN[name].needs:
        if needed in node.modules and not node.modules.uses(node, needed):
            _remove(needed, node, world, err, options)
    return 0


@command("modinfo", latency_us=10_000)
def modinfo(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """What a module's file says of itself; with ``-F`` one field, ``-n`` its place."""
    try:
        options, names = parse(argv, {"n": "filename", "0": "null"}, {"F": "field", "k": "set"})
    except UnknownOptionError as error:
        err.write(f"modinfo: {error}\n")
        return NOT_UNDERSTOOD
    if not names:
        err.write("modinfo: ERROR: missing module or filename.\n")
        return 1
    status = 0
    for name in names:
        module = KNOWN.get(canonical(re.sub(r"^.*/|\.ko.*$", "", name)))
        if module is None:
            err.write(f"modinfo: ERROR: Module {name} not found.\n")
            status = 1
            continue
        fields = _fields(module, node)
        field = "filename" if "filename" in options else options.get("field")
        if field is None:
            out.writelines(f"{key + ':':<16}{value}\n" for key, value in fields)
        else:
            out.writelines(f"{value}\n" for key, value in fields if key == field)
    return status


def _fields(module: Module, node: Node) -> list[tuple[str, str]]:
    is_driver = module.name.startswith("nvidia") and module.name != "nvidia_fs"
    fields = [("filename", _file(module))]
    if is_driver:
        fields += [("version", node.driver.version), ("supported", "external")]
    fields += [
        ("license", "Dual MIT/GPL" if is_driver else "Dual BSD/GPL"),
        ("srcversion", f"{abs(hash_of(module.name)):023X}"[:23]),
        ("depends", ",".join(needed for needed in module.needs)),
        ("name", module.name),
        ("vermagic", f"{RELEASE} SMP mod_unload modversions "),
    ]
    if module.name == DRIVER:
        fields.insert(1, ("firmware", f"nvidia/{node.driver.version}/gsp_tu10x.bin"))
        fields.insert(2, ("firmware", f"nvidia/{node.driver.version}/gsp_ga10x.bin"))
    return fields


def hash_of(name: str) -> int:
    """A number for a name, the same at every run."""
    return int.from_bytes(name.encode() * 12, "big") % 16**23


def _file(module: Module) -> str:
    folder = "updates/dkms" if module.name.startswith(("nvidia", "gdrdrv")) else "kernel/drivers"
    file = module.name.replace("_", "-") if module.name.startswith("nvidia_") else module.name
    return f"/lib/modules/{RELEASE}/{folder}/{file}.ko"
