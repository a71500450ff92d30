"""Xids that another Xid brings about: the same GPU, within seconds.

When a GPU fails, the driver removes the channels that were in use: an Xid 45 (or 43) for each, and
whatever the application ran into before it noticed (13, 31). NVIDIA's catalogue says of 45 that the
Xid before it is the one to follow, and newer drivers name it in the line.
"""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.rule import Cause
from gputui.logs.kernel import KernelEvent

_SECONDARY = frozenset({13, 31, 43, 45, 154})
_PRIMARY = (79, 119, 120, 95, 94, 48, 140, 64, 63, 74)
"""Off the bus, the system processor, memory, a link: the gravest first."""

_KINDS = ("EccUncorrectable", "NvlinkDown", "GpuHung")
"""What the same failures are called where readings or other lines show them."""

LINK_XIDS = frozenset({74, *range(144, 151)})
"""NVLink errors, and those of NVLink5."""

_LINK_KINDS = ("NvlinkDown", "NvlinkErrors")
"""What they are called where readings show them, or the line itself names the link."""

_HANG_XIDS = frozenset({119, 120})
"""The system processor does not answer the driver, so that calls to the GPU do not return."""

WITHIN_S = 10.0


def causes_of_xid(event: KernelEvent) -> Iterator[Cause]:
    """What may have brought an Xid about, if it is there; what the line names comes first."""
    if event.caused_by is not None:
        yield Cause("GpuXid", key=str(event.caused_by))
    if event.code in LINK_XIDS:
        yield from (Cause(kind, within_s=WITHIN_S) for kind in _LINK_KINDS)
    if event.code in _HANG_XIDS:
        yield Cause("GpuHung", within_s=WITHIN_S)
    if event.code in _SECONDARY:
        yield from (Cause("GpuXid", key=str(code), within_s=WITHIN_S) for code in _PRIMARY)
        yield from (Cause(kind, within_s=WITHIN_S) for kind in _KINDS)
