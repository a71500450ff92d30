"""Xids that NVML tells by itself (nvmlEventSetWait), as lines of a log and back.

Most users may not read the kernel log; NVML tells them the code and the GPU, and nothing more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gputui.bus import parse_bus_id

if TYPE_CHECKING:
    from gputui.logs.kernel import KernelEvent

NVML = "nvml"
"""The name of this log among the sources of log lines."""

_LINE = re.compile(r"NVML event: Xid (?P<code>\d+) on (?P<bus>[0-9a-fA-F:.]+)\b")


def xid_line(bus_id: str, code: int) -> str:
    """The line that stands for an event."""
    return f"NVML event: Xid {code} on {bus_id}"


def parse_xid_line(text: str, time_s: float) -> KernelEvent | None:
    """The event on a line; None if there is none.

    >>> parse_xid_line("NVML event: Xid 79 on 0000:3b:00", 0.0).code
    79
    """
    from gputui.logs.kernel import KernelEvent  # whoever only writes such lines needs none of it

    found = _LINE.match(text)
    bus_id = parse_bus_id(found["bus"]) if found else None
    if found is None or bus_id is None:
        return None
    return KernelEvent("xid", time_s, text, bus_id=bus_id, code=int(found["code"]), told_by=NVML)
