"""The events of one moment: what was said at the same time has no order."""

from __future__ import annotations

from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent

Heard = tuple[KernelEvent | JobEvent, KernelEvent | None]
"""An event, and the one that told the same before, if one did."""

_MOST = 1000
"""Logs with stamps of whole seconds may have many of one moment; more are judged in turn."""


class Moment:
    """Collects events of the same time, and gives them in an order that is always the same."""

    def __init__(self) -> None:
        self._heard: list[Heard] = []

    def takes(self, event: KernelEvent | JobEvent) -> bool:
        """Whether an event is of the moment that is being collected."""
        if not self._heard:
            return True
        return self._heard[0][0].time_s == event.time_s and len(self._heard) < _MOST

    def add(self, event: KernelEvent | JobEvent, told: KernelEvent | None = None) -> None:
        """Collect one; ``told`` is the one that told the same before."""
        self._heard.append((event, told))

    def take(self) -> list[Heard]:
        """All that were collected, in order; afterwards there are none."""
        heard, self._heard = self._heard, []
        if len(heard) > 1:
            heard.sort(key=_place)
        return heard


def _place(one: Heard) -> tuple[str, str, int, int, str]:
    """Kernel before jobs, then by kind and by whom it is about; at last by the words."""
    event, _ = one
    if isinstance(event, JobEvent):
        return "~" + event.pattern, event.job or "", event.rank or 0, event.pid or 0, event.text
    return event.kind, event.bus_id or "", event.code or 0, event.pid or 0, event.text
