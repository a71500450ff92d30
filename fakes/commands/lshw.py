"""``lshw``: the node's hardware, by class: displays (GPUs), network, and what there is in brief."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.pci.tree import PciDevice, pci_devices
from fakes.system import machine

_IGNORED = ("-numeric", "-quiet", "-sanitize", "-notime")
_CLASSES = {0x03: "display", 0x02: "network", 0x01: "storage", 0x06: "bridge"}


@command("lshw", latency_us=1_500_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Describe what there is."""
    wanted: set[str] = set()
    short = False
    words = list(argv)
    while words:
        word = words.pop(0)
        if word in ("-C", "-c", "-class"):
            wanted.add(words.pop(0) if words else "")
        elif word == "-short":
            short = True
        elif word == "-version":
            out.write("B.02.19\n")
            return 0
        elif word not in _IGNORED:
            err.write(f"lshw: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    present = [device for device in pci_devices(node) if not device.gone]
    devices = [device for device in present if not wanted or _class(device) in wanted]
    if short:
        out.write(f"{'H/W path':<19}{'Device':<12}{'Class':<15}Description\n{'=' * 57}\n")
        out.writelines(
            f"{'/0/' + device.address[5:]:<31}{_class(device):<15}{device.name}\n"
            for device in devices
        )
        return 0
    if not wanted:
        out.write(f"{node.name}\n    description: Rack Mount Chassis\n")
        out.write(f"    product: {machine.PRODUCT}\n    vendor: {machine.MANUFACTURER}\n")
        out.write(f"    serial: {machine.identity(node.name).serial}\n    width: 64 bits\n")
    for number, device in enumerate(devices):
        out.writelines(f"{line}\n" for line in _described(device, number, nested=not wanted))
    return 0


def _class(device: PciDevice) -> str:
    return _CLASSES.get(device.kind >> 8, "generic")


def _described(device: PciDevice, number: int, *, nested: bool) -> Iterator[str]:
    indent = "     " if nested else "  "
    unit = f":{number}" if number else ""
    claimed = "" if device.driver else " UNCLAIMED"
    yield f"{indent}*-{_class(device)}{unit}{claimed}"
    rows = [
        ("description", device.class_name),
        ("product", device.name),
        ("vendor", device.vendor_name),
        ("physical id", device.address[8:10].lstrip("0") or "0"),
        ("bus info", f"pci@{device.address}"),
        ("version", f"{device.revision:02x}"),
        ("width", "64 bits"),
        ("clock", "33MHz"),
        ("capabilities", "pm msix pciexpress bus_master cap_list"),
    ]
    if device.driver:
        rows.append(("configuration", f"driver={device.driver} latency=0"))
    yield from (f"{indent}     {label}: {value}" for label, value in rows)
