"""Configuration space of a node's PCI devices: the bytes that lspci decodes and setpci reads.

Offsets and bits are those of the PCI and PCI Express base specifications (type 0 and 1 headers,
PCI Express capability structure, Access Control Services). A device that does not answer reads as
all ones. What somebody wrote is kept until the node boots again.
"""

from __future__ import annotations

from struct import pack_into

from fakes.pci.tree import Link, PciDevice
from fakes.pci.writes import PciWrites

SIZE = 4096
EXPRESS, ADVANCED_ERRORS, ACCESS_CONTROL = 0x60, 0x100, 0x148
"""Where the capabilities are, on every device that has them."""

_STATUS_HAS_CAPABILITIES = 0x10
_COMMAND = 0x0406  # memory, bus master, no INTx
_EXPRESS_ID, _ERRORS_ID, _ACCESS_ID = 0x10, 0x01, 0x0D
_ENDPOINT, _ROOT_PORT = 0, 4
_PAYLOAD_256 = 1
_READ_512, _READ_4096 = 2, 5
_NETWORK = 0x02
_ALL_OF_ACCESS, _USUAL_ACCESS = 0x1F, 0x1D


def config_space(device: PciDevice, boots: int, writes: PciWrites) -> bytearray:
    """What a device's configuration space reads as, all 4 KiB."""
    if device.gone:
        return bytearray(b"\xff" * SIZE)
    space = bytearray(SIZE)
    _header(space, device)
    if device.link is not None:
        _express(space, device, device.link)
    for (boot, address, offset), value in writes.bytes.items():
        if (boot, address) == (boots, device.address):
            space[offset] = value
    return space


def _header(space: bytearray, device: PciDevice) -> None:
    pack_into("<HHHH", space, 0, device.vendor, device.device, _COMMAND, 0)
    if device.link is not None:
        pack_into("<H", space, 6, _STATUS_HAS_CAPABILITIES)
        space[0x34] = EXPRESS
    space[8], space[9] = device.revision, device.prog_if
    space[0xA], space[0xB] = device.kind & 0xFF, device.kind >> 8
    if device.below is not None:
        space[0xE] = 1
        space[0x18], space[0x19], space[0x1A] = device.bus, device.below, device.below
        pack_into("<H", space, 0x3E, 0x0003)
    else:
        pack_into("<HH", space, 0x2C, *device.subsystem)
        space[0x3D] = 1 if device.driver else 0


def _express(space: bytearray, device: PciDevice, link: Link) -> None:
    port = device.below is not None
    kind = _ROOT_PORT if port else _ENDPOINT
    read = _READ_4096 if device.kind >> 8 == _NETWORK else _READ_512
    pack_into("<BBH", space, EXPRESS, _EXPRESS_ID, 0, 2 | kind << 4)
    pack_into("<I", space, EXPRESS + 4, _PAYLOAD_256 | 0x8000 | (0 if port else 1 << 28))
    pack_into("<H", space, EXPRESS + 8, 0x0F | 1 << 4 | _PAYLOAD_256 << 5 | 1 << 8 | read << 12)
    pack_into("<I", space, EXPRESS + 12, link.max_generation | link.max_width << 4)
    pack_into("<H", space, EXPRESS + 16, 0x40)
    pack_into("<H", space, EXPRESS + 18, link.generation | link.width << 4 | 1 << 12)
    pack_into("<H", space, EXPRESS + 48, link.max_generation)
    following = ACCESS_CONTROL if port else 0
    pack_into("<I", space, ADVANCED_ERRORS, _ERRORS_ID | 2 << 16 | following << 20)
    if port:
        pack_into("<I", space, ACCESS_CONTROL, _ACCESS_ID | 1 << 16)
        pack_into("<HH", space, ACCESS_CONTROL + 4, _ALL_OF_ACCESS, _USUAL_ACCESS)
