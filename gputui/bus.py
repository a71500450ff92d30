"""PCI addresses, written one way."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\s*([0-9a-f]{1,16}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?\s*", re.I)


def bus_id(domain: int, bus: int, device: int) -> str:
    """A GPU's address: lower case, at least four digits of domain, no function."""
    return f"{domain:04x}:{bus:02x}:{device:02x}"


def parse_bus_id(text: str) -> str | None:
    """The address that ``text`` writes in any of the usual ways; None if it is none.

    Kernel (``0000:3b:00``), lspci (``0000:3b:00.0``) and NVML (``00000000:3B:00.0``) differ in the
    domain's width, case and function.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    domain, bus, device = (int(part, 16) for part in found.groups())
    return bus_id(domain, bus, device)
