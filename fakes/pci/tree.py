"""The PCI devices of a node as its bus shows them: bridges, GPUs, NVSwitches and the rest.

A GPU that fell off the bus is in the tree still, for the kernel does not take it out; what its
configuration space answers is all ones, which lspci shows as revision ff. Names are those of the
public list of PCI ids (pci-ids.ucw.cz); which bridge is where is this project's own arrangement:
one root port for each GPU (``Gpu.port_bus_id``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fakes.hardware.gpu import Gpu
from fakes.hardware.links import switches_of
from fakes.network.interface import Medium
from fakes.node import Node
from fakes.system.machine import numa_node_of

NVIDIA, INTEL, ASPEED, SAMSUNG, MELLANOX = 0x10DE, 0x8086, 0x1A03, 0x144D, 0x15B3
VENDORS = {
    MELLANOX: "Mellanox Technologies",
    NVIDIA: "NVIDIA Corporation",
    INTEL: "Intel Corporation",
    ASPEED: "ASPEED Technology, Inc.",
    SAMSUNG: "Samsung Electronics Co Ltd",
}
CLASSES = {
    0x0108: "Non-Volatile memory controller",
    0x0200: "Ethernet controller",
    0x0207: "Infiniband controller",
    0x0300: "VGA compatible controller",
    0x0302: "3D controller",
    0x0600: "Host bridge",
    0x0604: "PCI bridge",
    0x0680: "Bridge",
}
_NAMES = {
    (NVIDIA, 0x2330): "GH100 [H100 SXM5 80GB]",
    (NVIDIA, 0x20B2): "GA100 [A100 SXM4 80GB]",
    (NVIDIA, 0x27B8): "AD104GL [L4]",
    (NVIDIA, 0x22A3): "GH100 [H100 NVSwitch]",
    (NVIDIA, 0x1AF1): "GA100 [A100 NVSwitch]",
}
_ADAPTERS = {
    "ConnectX-7": (0x1021, "MT2910 Family [ConnectX-7]", 5),
    "ConnectX-6": (0x101B, "MT28908 Family [ConnectX-6]", 4),
}
_ETHERNET_ADAPTER = "ConnectX-6"
_ROOT_PORT = 0x352A
_HOST_BRIDGE = 0x09A2
_DRIVES = ((0x02, 0), (0x03, 0), (0xE1, 1), (0xE2, 1))
_REVISION = 0xA1


@dataclass(frozen=True, slots=True)
class Link:
    """A PCI Express link: what the device can do, and what it does."""

    max_generation: int
    max_width: int
    generation: int
    width: int


@dataclass(frozen=True, slots=True)
class PciDevice:
    """One function. ``address`` is ``0000:1b:00.0``, ``kind`` the class and sub-class.

    ``below`` is the bus behind it, if it is a bridge, ``driver`` what is bound to it; ``gone`` says
    that it answers with all ones. ``gpu`` is the GPU that it is.
    """

    address: str
    kind: int
    vendor: int
    device: int
    name: str
    revision: int = 0
    subsystem: tuple[int, int] = (0, 0)
    driver: str = ""
    modules: tuple[str, ...] = ()
    numa_node: int = 0
    below: int | None = None
    link: Link | None = None
    prog_if: int = 0
    gone: bool = False
    gpu: Gpu | None = None

    @property
    def vendor_name(self) -> str:
        """Who made it."""
        return vendor_name(self.vendor)

    @property
    def class_name(self) -> str:
        """What it is."""
        return CLASSES.get(self.kind, f"Class {self.kind:04x}")

    @property
    def bus(self) -> int:
        """The bus that it sits on."""
        return int(self.address[5:7], 16)


def pci_devices(node: Node) -> tuple[PciDevice, ...]:
    """All of a node's devices, by address."""
    return tuple(sorted(_devices(node), key=lambda device: device.address))


def vendor_name(vendor: int) -> str:
    """A vendor's name in the public list."""
    return VENDORS.get(vendor, f"Vendor {vendor:04x}")


def device_name(vendor: int, device: int) -> str:
    """A device's name in the public list; ``Device 1234`` where it has none."""
    return _NAMES.get((vendor, device), f"Device {device:04x}")


def _devices(node: Node) -> Iterator[PciDevice]:
    yield PciDevice(
        "0000:00:00.0", 0x0600, INTEL, _HOST_BRIDGE, "Ice Lake Memory Map/VT-d", 0x20,
        subsystem=(INTEL, 0),
    )  # fmt: skip
    yield PciDevice(
        "0000:04:00.0", 0x0300, ASPEED, 0x2000, "ASPEED Graphics Family", 0x52,
        subsystem=(ASPEED, 0x2000), driver="ast", modules=("ast",),
    )  # fmt: skip
    for number, (bus, numa_node) in enumerate(_DRIVES):
        yield PciDevice(
            f"0000:{bus:02x}:00.0", 0x0108, SAMSUNG, 0xA824, "NVMe SSD Controller PM173X",
            subsystem=(SAMSUNG, 0xA801 + number), driver="nvme", modules=("nvme",),
            numa_node=numa_node, link=Link(4, 4, 4, 4), prog_if=2,
        )  # fmt: skip
    for gpu in node.gpus:
        yield _root_port(gpu)
        yield _of_gpu(node, gpu)
    if node.gpus:
        yield from _switches(node)
    for adapter in node.network.adapters:
        yield _adapter(adapter.pci_address, 0x0207, adapter.generation.model, adapter.numa_node)
    for interface in node.network.outward:
        if interface.pci_address and interface.medium is Medium.ETHERNET:
            yield _adapter(interface.pci_address, 0x0200, _ETHERNET_ADAPTER, interface.numa_node)


def _adapter(address: str, kind: int, model: str, numa_node: int) -> PciDevice:
    device, name, generation = _ADAPTERS[model]
    return PciDevice(
        address, kind, MELLANOX, device, name, subsystem=(MELLANOX, 0x0041),
        driver="mlx5_core", modules=("mlx5_core",), numa_node=numa_node,
        link=Link(generation, 16, generation, 16),
    )  # fmt: skip


def _root_port(gpu: Gpu) -> PciDevice:
    return PciDevice(
        f"{gpu.port_bus_id}.0", 0x0604, INTEL, _ROOT_PORT, f"Device {_ROOT_PORT:04x}", 0x30,
        subsystem=(INTEL, 0), driver="pcieport", numa_node=numa_node_of(gpu.index),
        below=gpu.pci_bus, link=_link(gpu),
    )  # fmt: skip


def _of_gpu(node: Node, gpu: Gpu) -> PciDevice:
    profile = gpu.profile
    device, subsystem = profile.pci_device_id >> 16, profile.pci_subsystem_id
    return PciDevice(
        f"{gpu.bus_id}.0", 0x0302, NVIDIA, device, device_name(NVIDIA, device),
        0xFF if gpu.lost else _REVISION,
        subsystem=(subsystem & 0xFFFF, subsystem >> 16),
        driver="nvidia" if _is_loaded(node) else "",
        modules=("nvidiafb", "nouveau", "nvidia_drm", "nvidia"),
        numa_node=numa_node_of(gpu.index), link=_link(gpu), gone=gpu.lost is not None, gpu=gpu,
    )  # fmt: skip


def _link(gpu: Gpu) -> Link:
    pcie = gpu.profile.pcie
    return Link(pcie.generation, pcie.width, gpu.pcie_generation, gpu.pcie_width)


_SWITCH_LINKS = {0x1AF1: Link(2, 2, 2, 2), 0x22A3: Link(4, 2, 4, 2)}
"""Of an NVSwitch to its host, by its device number (as public checks of HGX boards expect)."""


def _switches(node: Node) -> Iterator[PciDevice]:
    device = node.gpus[0].profile.nvlink.switch_pci_device_id >> 16
    for switch in switches_of(node):
        yield PciDevice(
            f"{switch.bus_id}.0", 0x0680, NVIDIA, device, device_name(NVIDIA, device), _REVISION,
            subsystem=(NVIDIA, device), driver="nvidia-nvswitch" if _is_loaded(node) else "",
            modules=("nvidiafb", "nouveau", "nvidia_drm", "nvidia"), link=_SWITCH_LINKS[device],
        )  # fmt: skip


def _is_loaded(node: Node) -> bool:
    return "nvidia" in node.modules
