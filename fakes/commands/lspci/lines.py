"""One line for each device, in words or numbers."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.pci.tree import PciDevice, vendor_name


@dataclass(frozen=True, slots=True)
class Style:
    """How lines are written: numbers 0 for words, 1 for numbers, 2 for both."""

    numbers: int = 0
    domains: bool = False


def slot(device: PciDevice, style: Style) -> str:
    """Its address, without the domain unless that is asked for."""
    return device.address if style.domains else device.address[5:]


def described(device: PciDevice, style: Style) -> str:
    """``1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)``."""
    where = slot(device, style)
    kind, ids = f"{device.kind:04x}", f"{device.vendor:04x}:{device.device:04x}"
    if style.numbers == 1:
        text = f"{where} {kind}: {ids}"
    elif style.numbers:
        name = "Device" if device.name == unnamed(device.device) else device.name
        text = f"{where} {device.class_name} [{kind}]: {device.vendor_name} {name} [{ids}]"
    else:
        text = f"{where} {device.class_name}: {device.vendor_name} {device.name}"
    return text + (f" (rev {device.revision:02x})" if device.revision else "")


def quoted(device: PciDevice, style: Style) -> str:
    """For programs: ``1b:00.0 "3D controller" "NVIDIA Corporation" "GH100" -ra1 "" ""``."""
    values = [
        _value(device.class_name, device.kind, style),
        _value(device.vendor_name, device.vendor, style),
        _value(device.name, device.device, style),
    ]
    text = " ".join([slot(device, style), *(f'"{value}"' for value in values)])
    if device.revision:
        text += f" -r{device.revision:02x}"
    text += f" -p{device.prog_if:02x}"
    vendor, number = device.subsystem
    if not vendor or device.below is not None or device.gone:
        return f'{text} "" ""'
    owner = _value(vendor_name(vendor), vendor, style)
    return f'{text} "{owner}" "{_value(unnamed(number), number, style)}"'


def record(device: PciDevice, style: Style) -> str:
    """The same as lines with labels (``-vmm``), followed by an empty one."""
    vendor, number = device.subsystem
    rows = [
        ("Slot", slot(device, style)),
        ("Class", _value(device.class_name, device.kind, style)),
        ("Vendor", _value(device.vendor_name, device.vendor, style)),
        ("Device", _value(device.name, device.device, style)),
    ]
    if vendor and device.below is None and not device.gone:
        rows.append(("SVendor", _value(vendor_name(vendor), vendor, style)))
        rows.append(("SDevice", _value(unnamed(number), number, style)))
    if device.revision:
        rows.append(("Rev", f"{device.revision:02x}"))
    rows.append(("ProgIf", f"{device.prog_if:02x}"))
    rows.append(("NUMANode", str(device.numa_node)))
    return "".join(f"{label}:\t{value}\n" for label, value in rows) + "\n"


def unnamed(number: int) -> str:
    """What stands for a name where the list has none, as it has none of subsystems here."""
    return f"Device {number:04x}"


def _value(words: str, number: int, style: Style) -> str:
    if style.numbers == 1:
        return f"{number:04x}"
    if not style.numbers:
        return words
    return f"{'Device' if words == unnamed(number) else words} [{number:04x}]"
