"""``sel``: the event log of the service processor."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fakes.node import Node
from fakes.system.bmc import MOST_ENTRIES, Event

_ENTRY_BYTES = 18


def listing(
    node: Node, *, extended: bool, last: int | None = None, first: int | None = None
) -> str:
    """``sel list``, or with ``extended`` ``sel elist``, which names the sensor."""
    events = list(enumerate(node.bmc.events, 1))
    events = events[-last:] if last else events[:first] if first else events
    if not events:
        return "SEL has no entries\n"
    return "".join(_line(number, event, node, extended=extended) for number, event in events)


def _line(number: int, event: Event, node: Node, *, extended: bool) -> str:
    sensor = event.sensor if extended else f"#0x{event.number:02x}"
    text = event.text
    if " | " in text:
        text = text if extended else " | ".join(text.split(" | ")[:2])
    else:
        text += f" | {'Asserted' if event.asserted else 'Deasserted'}"
    what = f"{event.sensor_type} {sensor}"
    return f"{number:4x} | {stamp(node, event.at_us, ' | ')} | {what} | {text}\n"


def information(node: Node) -> str:
    """``sel info``."""
    events: Sequence[Event] = node.bmc.events
    cleared_us = node.bmc.cleared_us
    used = round(100 * len(events) / MOST_ENTRIES)
    rows = (
        ("Version", "1.5 (v1.5, v2 compliant)"),
        ("Entries", str(len(events))),
        ("Free Space", f"{(MOST_ENTRIES - len(events)) * _ENTRY_BYTES} bytes "),
        ("Percent Used", f"{used}%"),
        ("Last Add Time", stamp(node, events[-1].at_us) if events else "Not Available"),
        ("Last Del Time", "Not Available" if cleared_us is None else stamp(node, cleared_us)),
        ("Overflow", "true" if len(events) >= MOST_ENTRIES else "false"),
        ("Supported Cmds", "'Delete' 'Partial Add' 'Reserve' 'Get Alloc Info' "),
        ("# of Alloc Units", str(MOST_ENTRIES)),
        ("Alloc Unit Size", str(_ENTRY_BYTES)),
        ("# Free Units", str(MOST_ENTRIES - len(events))),
        ("Largest Free Blk", str(MOST_ENTRIES - len(events))),
        ("Max Record Size", "1"),
    )
    return "SEL Information\n" + "".join(f"{label:<16} : {value}\n" for label, value in rows)


def stamp(node: Node, at_us: int, between: str = " ") -> str:
    """``11/30/2026 21:05:03``."""
    moment = time.gmtime(node.epoch.unix_us(at_us) / 1e6)
    return time.strftime(f"%m/%d/%Y{between}%H:%M:%S", moment)
