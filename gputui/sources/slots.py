"""Which slot of the server a board sits in."""

from __future__ import annotations

from pathlib import Path

from gputui.bus import parse_bus_id
from gputui.sources.files import names, read_text


def slot_of(root: Path, bus_id: str) -> str | None:
    """The slot's name as the firmware tells it (/sys/bus/pci/slots, sysfs-bus-pci); None for none.

    The address there is that of the slot, which a GPU behind a switch on its board does not have.
    """
    folder = f"{root}/sys/bus/pci/slots"
    try:
        slots = names(folder)
    except OSError:
        return None
    for slot in slots:
        try:
            address = read_text(f"{folder}/{slot}/address")
        except OSError:
            continue
        if parse_bus_id(address) == bus_id:
            return slot
    return None
