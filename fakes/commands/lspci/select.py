"""Which devices a call is about: ``-s`` and ``-d`` of lspci and setpci (pciutils(7))."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.pci.tree import PciDevice

_ANY = ("", "*")


class BadFilterError(Exception):
    """A filter that is none; what lspci says of it."""


def by_slot(devices: Sequence[PciDevice], wanted: str) -> list[PciDevice]:
    """Those at ``[[domain]:][bus]:[device][.function]``; parts that are left out fit all."""
    place, _, function = wanted.partition(".")
    parts = place.split(":")
    if len(parts) > 3:
        raise BadFilterError("-s: Invalid bus number")
    domain, bus, slot = (["", "", *parts] if len(parts) == 1 else ["", *parts])[-3:]
    names = ("domain", "bus", "slot", "function")
    for name, text in zip(names, (domain, bus, slot, function), strict=True):
        if text not in _ANY and not _is_hex(text):
            raise BadFilterError(f"-s: Invalid {name} number")
    return [
        device
        for device in devices
        if _fits(domain, device.address[:4])
        and _fits(bus, device.address[5:7])
        and _fits(slot, device.address[8:10])
        and _fits(function, device.address[11:])
    ]


def by_id(devices: Sequence[PciDevice], wanted: str) -> list[PciDevice]:
    """Those with ``[vendor]:[device][:class[:prog-if]]``."""
    parts = [*wanted.split(":"), "", "", ""]
    if ":" not in wanted:
        raise BadFilterError("-d: ID must have a colon")
    for name, text in zip(("vendor", "device", "class"), parts, strict=False):
        if text not in _ANY and not _is_hex(text.rstrip("x")):
            raise BadFilterError(f"-d: Invalid {name} ID")
    vendor, number, kind = parts[:3]
    return [
        device
        for device in devices
        if _fits(vendor, f"{device.vendor:04x}")
        and _fits(number, f"{device.device:04x}")
        and _of_class(kind, device.kind)
    ]


def _of_class(wanted: str, kind: int) -> bool:
    text = f"{kind:04x}"
    if wanted in _ANY:
        return True
    if "x" in wanted:
        return text.startswith(wanted.rstrip("x").lower())
    return int(wanted, 16) == kind


def _fits(wanted: str, text: str) -> bool:
    return wanted in _ANY or int(wanted, 16) == int(text, 16)


def _is_hex(text: str) -> bool:
    try:
        return int(text or "0", 16) >= 0
    except ValueError:
        return False
