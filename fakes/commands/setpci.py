"""``setpci`` (pciutils): registers of devices, read and written.

What resets a device by its bridge (the secondary bus reset) is not imitated: what a GPU under a
driver is like after it is not known. Everything else that is written is read back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.lspci.select import BadFilterError, by_id, by_slot
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.pci.config import ACCESS_CONTROL, ADVANCED_ERRORS, EXPRESS, config_space
from fakes.pci.tree import PciDevice, pci_devices

_REGISTERS = {
    "VENDOR_ID": (0x00, 2), "DEVICE_ID": (0x02, 2), "COMMAND": (0x04, 2), "STATUS": (0x06, 2),
    "REVISION": (0x08, 1), "CLASS_PROG": (0x09, 1), "CLASS_DEVICE": (0x0A, 2),
    "CACHE_LINE_SIZE": (0x0C, 1), "LATENCY_TIMER": (0x0D, 1), "HEADER_TYPE": (0x0E, 1),
    "SUBSYSTEM_VENDOR_ID": (0x2C, 2), "SUBSYSTEM_ID": (0x2E, 2), "INTERRUPT_LINE": (0x3C, 1),
    "INTERRUPT_PIN": (0x3D, 1), "PRIMARY_BUS": (0x18, 1), "SECONDARY_BUS": (0x19, 1),
    "SUBORDINATE_BUS": (0x1A, 1), "BRIDGE_CONTROL": (0x3E, 2),
    "CAP_EXP": (EXPRESS, 0), "ECAP_AER": (ADVANCED_ERRORS, 0), "ECAP_ACS": (ACCESS_CONTROL, 0),
    "CAP10": (EXPRESS, 0), "ECAP1": (ADVANCED_ERRORS, 0), "ECAPD": (ACCESS_CONTROL, 0),
}  # fmt: skip
_CAPABILITIES = {"CAP_EXP", "ECAP_AER", "ECAP_ACS", "CAP10", "ECAP1", "ECAPD"}
_WIDTHS = {"b": 1, "w": 2, "l": 4}
_REGISTER = re.compile(r"([A-Za-z_0-9]+)(?:\+([0-9A-Fa-fx]+))?(?:\.([bwlBWL]))?$")
_SECONDARY_BUS_RESET = 0x40
_BRIDGE_CONTROL = 0x3E


class _BadRegisterError(Exception):
    pass


@command("setpci", latency_us=20_000)
def main(
    argv: Sequence[str], node: Node, out: TextIO, err: TextIO, is_privileged: bool = True
) -> int:
    """Read and write, in the order given."""
    devices: Sequence[PciDevice] = pci_devices(node)
    words = list(argv)
    chosen = False
    lenient = False
    try:
        while words and words[0].startswith("-"):
            word = words.pop(0)
            if word == "--version":
                out.write("setpci version 3.9.0\n")
                return 0
            if word[:2] in ("-s", "-d"):
                value = word[2:] or (words.pop(0) if words else "")
                devices = (by_slot if word[1] == "s" else by_id)(devices, value)
                chosen = True
            elif word in ("-f", "-v", "-D", "-r"):
                lenient = lenient or word == "-f"
            else:
                err.write(f"setpci: {word}: this option is not known here\n")
                return NOT_UNDERSTOOD
    except BadFilterError as bad:
        err.write(f"setpci: {bad}\n")
        return 1
    if not words or not chosen:
        err.write("setpci: No operation specified\nTry `setpci --help' for more information.\n")
        return 1
    if not devices:
        if not lenient:
            err.write("setpci: Warning: No devices selected for "
                      f"`{words[0]}'.\n")  # fmt: skip
        return 0
    try:
        for word in words:
            for device in devices:
                if not _act(word, device, node, out, err, is_privileged=is_privileged):
                    return NOT_UNDERSTOOD if is_privileged else 1
    except _BadRegisterError as bad:
        err.write(f"setpci: {bad}\n")
        return 1
    return 0


def _act(
    word: str, device: PciDevice, node: Node, out: TextIO, err: TextIO, *, is_privileged: bool
) -> bool:
    name, writes, value = word.partition("=")
    at, width = _place(name, device)
    space = config_space(device, node.boots, node.pci_writes)
    if not writes:
        found = int.from_bytes(space[at : at + width], "little")
        out.write(f"{found:0{2 * width}x}\n")
        return True
    if not is_privileged:
        err.write("pcilib: sysfs_write: write failed: Operation not permitted\n")
        return False
    for offset, byte in _bytes(value, at, width, space):
        if offset == _BRIDGE_CONTROL and byte & _SECONDARY_BUS_RESET and device.below is not None:
            err.write("setpci: a secondary bus reset is not imitated by this look-alike\n")
            return False
        if not device.gone:
            node.pci_writes.bytes[node.boots, device.address, offset] = byte
    return True


def _bytes(text: str, at: int, width: int, space: bytearray) -> Iterator[tuple[int, int]]:
    """Offsets and the bytes to write there: ``VALUE`` or ``VALUE:MASK``, several by commas."""
    for number, part in enumerate(text.split(",")):
        wanted, _, mask = part.partition(":")
        place = at + number * width
        try:
            bits = int(mask, 16) if mask else (1 << 8 * width) - 1
            value = int(wanted, 16)
        except ValueError:
            raise _BadRegisterError(f'Invalid value "{part}"') from None
        before = int.from_bytes(space[place : place + width], "little")
        after = (before & ~bits) | (value & bits)
        yield from enumerate((after & (1 << 8 * width) - 1).to_bytes(width, "little"), place)


def _place(name: str, device: PciDevice) -> tuple[int, int]:
    found = _REGISTER.match(name)
    if found is None:
        raise _BadRegisterError(f'Unable to parse register "{name}".')
    base, plus, letter = found.groups()
    if base.upper() in _REGISTERS:
        at, width = _REGISTERS[base.upper()]
        if base.upper() in _CAPABILITIES and not _has(base.upper(), device):
            raise _BadRegisterError(f"{device.address}: Instance #0 of {base} not found - "
                                    "there are no capabilities with that id.")  # fmt: skip
    else:
        try:
            at, width = int(base, 16), 1
        except ValueError:
            raise _BadRegisterError(f'Unable to parse register "{name}".') from None
    width = _WIDTHS[letter.lower()] if letter else width
    if not width:
        raise _BadRegisterError(f'Missing width specifier for "{name}".')
    return at + (int(plus, 16) if plus else 0), width


def _has(capability: str, device: PciDevice) -> bool:
    if device.link is None or device.gone:
        return False
    return device.below is not None or capability not in ("ECAP_ACS", "ECAPD")
