"""``lspci`` (pciutils): the devices on the node's bus, a GPU that fell off it with revision ff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.lspci.details import details
from fakes.commands.lspci.lines import Style, described, quoted, record
from fakes.commands.lspci.select import BadFilterError, by_id, by_slot
from fakes.commands.lspci.tree import tree
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.pci.config import config_space
from fakes.pci.tree import PciDevice, pci_devices

_FLAGS = frozenset("nmvkDtxqbPQ")
_WITH_VALUE = frozenset("sd")
_VERSION = "lspci version 3.9.0\n"
_DUMPS = {1: 64, 3: 256, 4: 4096}


@command("lspci", latency_us=30_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """List them."""
    letters = ""
    devices: Sequence[PciDevice] = pci_devices(node)
    words = list(argv)
    try:
        while words:
            word = words.pop(0)
            if word == "--version":
                out.write(_VERSION)
                return 0
            if not word.startswith("-") or word == "-":
                err.write(f"lspci: Unexpected argument {word}\n")
                return 1
            given = word[1:]
            while given:
                letter, given = given[0], given[1:]
                if letter in _WITH_VALUE:
                    value = given or (words.pop(0) if words else "")
                    devices = (by_slot if letter == "s" else by_id)(devices, value)
                    break
                if letter not in _FLAGS:
                    err.write(f"lspci: -{letter}: this option is not known here\n")
                    return NOT_UNDERSTOOD
                letters += letter
    except BadFilterError as bad:
        err.write(f"lspci: {bad}\n")
        return 1
    _print(devices, letters, node, out)
    return 0


def _print(devices: Sequence[PciDevice], letters: str, node: Node, out: TextIO) -> None:
    domains = "D" in letters or any(not one.address.startswith("0000:") for one in devices)
    style = Style(min(letters.count("n"), 2), domains)
    level = letters.count("v")
    if "t" in letters:
        out.writelines(f"{line}\n" for line in tree(devices, names=bool(level)))
        return
    for device in devices:
        if "m" in letters:
            out.write(record(device, style) if level else f"{quoted(device, style)}\n")
            continue
        out.write(_heading(device, style, level))
        space = config_space(device, node.boots, node.pci_writes)
        if level:
            out.writelines(f"{line}\n" for line in details(device, space, style, level))
        elif "k" in letters:
            out.write(_drivers(device))
        if "x" in letters:
            out.writelines(_dump(space, letters.count("x")))
        if level or "x" in letters:
            out.write("\n")


def _heading(device: PciDevice, style: Style, level: int) -> str:
    text = described(device, style)
    prog_if = 0xFF if device.gone else device.prog_if
    if level and prog_if:
        names = {2: " [NVM Express]"} if device.kind == _DRIVE else {}
        text += f" (prog-if {prog_if:02x}{names.get(prog_if, '')})"
    elif level and device.kind in _NORMAL:
        text += f" (prog-if 00 [{_NORMAL[device.kind]}])"
    return f"{text}\n"


_DRIVE = 0x0108
_NORMAL = {0x0604: "Normal decode", 0x0300: "VGA controller"}


def _drivers(device: PciDevice) -> str:
    text = f"\tSubsystem: {device.subsystem[0]:04x}:{device.subsystem[1]:04x}\n"
    if device.driver:
        text += f"\tKernel driver in use: {device.driver}\n"
    if device.modules:
        text += f"\tKernel modules: {', '.join(device.modules)}\n"
    return text


def _dump(space: bytearray, times: int) -> list[str]:
    size = _DUMPS.get(times, 64)
    return [f"{at:02x}: {space[at : at + 16].hex(' ')}\n" for at in range(0, size, 16)]
