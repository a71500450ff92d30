"""/sys/bus/pci: the devices on the bus, their links, and what drives them.

A directory for each device, with what drivers/pci/pci-sysfs.c of Linux puts there and scripts read.
"""

from __future__ import annotations

from functools import cache, lru_cache

from fakes.files.registry import Content, Files, Folder, Link, node_tree
from fakes.files.unchanged import unless_changed
from fakes.hardware.pcie import AerError
from fakes.node import Node
from fakes.pci.tree import PciDevice, pci_devices
from fakes.system.machine import cpu_list
from fakes.world import World

_PATH = "/sys/bus/pci"

_SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
_NO_ANSWER_SPEED, _NO_ANSWER_WIDTH = "Unknown", 63
"""What the kernel makes of a link status that reads as all ones."""

_CORRECTABLE = (
    "RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout", "NonFatalErr", "CorrIntErr", "HeaderOF",
)  # fmt: skip
_UNCORRECTABLE = (
    "Undefined", "DLP", "SDES", "TLP", "FCP", "CmpltTO", "CmpltAbrt", "UnxCmplt", "RxOF", "MalfTLP",
    "ECRC", "UnsupReq", "ACSViol", "UncorrIntErr", "BlockedTLP", "AtomicOpBlocked", "TLPBlockedErr",
    "PoisonTLPBlocked",
)  # fmt: skip


@node_tree(_PATH)
def pci(node: Node, world: World) -> Files:
    """Every device, and every driver with the devices that are bound to it."""
    del world
    errors = tuple(tuple(gpu.pcie.errors[kind] for kind in AerError) for gpu in node.gpus)
    links = tuple((gpu.lost is None, gpu.pcie_generation, gpu.pcie_width) for gpu in node.gpus)
    adapters = tuple(one.pci_address for one in node.network.adapters)
    interfaces = tuple(one.pci_address for one in node.network.outward)
    state = (errors, links, adapters, interfaces, node.modules.loaded)
    return unless_changed(node, _PATH, state, lambda: _files_of(pci_devices(node), errors))


@lru_cache(maxsize=16)
def _files_of(devices: tuple[PciDevice, ...], errors: tuple[tuple[int, ...], ...]) -> Files:
    files: dict[str, Content] = {"rescan": "", "slots": Folder(), "drivers": Folder()}
    for device in devices:
        home = f"devices/{device.address}"
        files.update(_of_device(device, home))
        if device.driver:
            files[f"{home}/driver"] = Link(f"../../drivers/{device.driver}")
            files[f"drivers/{device.driver}/bind"] = ""
            files[f"drivers/{device.driver}/unbind"] = ""
            files[f"drivers/{device.driver}/{device.address}"] = Link(f"../../{home}")
        if device.gpu is not None:
            corrected, nonfatal, fatal = errors[device.gpu.index]
            files[f"{home}/aer_dev_correctable"] = _counts(_CORRECTABLE, "COR", corrected)
            files[f"{home}/aer_dev_nonfatal"] = _counts(_UNCORRECTABLE, "NONFATAL", nonfatal)
            files[f"{home}/aer_dev_fatal"] = _counts(_UNCORRECTABLE, "FATAL", fatal)
    return files


def _of_device(device: PciDevice, home: str) -> dict[str, Content]:
    code = device.kind << 8 | device.prog_if
    files: dict[str, Content] = {
        f"{home}/vendor": f"0x{device.vendor:04x}\n",
        f"{home}/device": f"0x{device.device:04x}\n",
        f"{home}/class": f"0x{code:06x}\n",
        f"{home}/numa_node": f"{device.numa_node}\n",
    }
    if device.below is not None or device.link is None:
        return files
    link = device.link
    speed, width = f"{_SPEEDS[link.generation]} GT/s PCIe", link.width
    if device.gone:
        speed, width = _NO_ANSWER_SPEED, _NO_ANSWER_WIDTH
    return files | {
        f"{home}/revision": f"0x{device.revision:02x}\n",
        f"{home}/subsystem_vendor": f"0x{device.subsystem[0]:04x}\n",
        f"{home}/subsystem_device": f"0x{device.subsystem[1]:04x}\n",
        f"{home}/local_cpulist": f"{cpu_list(device.numa_node)}\n",
        f"{home}/power/control": "on\n",
        f"{home}/driver_override": "(null)\n",
        f"{home}/current_link_speed": f"{speed}\n",
        f"{home}/current_link_width": f"{width}\n",
        f"{home}/max_link_speed": f"{_SPEEDS[link.max_generation]} GT/s PCIe\n",
        f"{home}/max_link_width": f"{link.max_width}\n",
        f"{home}/reset": "",
        f"{home}/remove": "",
    }


@cache
def _counts(names: tuple[str, ...], kind: str, total: int) -> str:
    """A table of errors: all that were are of the first sort."""
    rows = [f"{name} {total if number == 0 else 0}\n" for number, name in enumerate(names)]
    return "".join((*rows, f"TOTAL_ERR_{kind} {total}\n"))
