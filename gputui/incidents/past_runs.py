"""What holds of what was remembered, and what is to be remembered next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gputui.incidents.case import SavedIncident
from gputui.incidents.casebook import REOPENS_WITHIN_S
from gputui.incidents.inventory import SeenGpu
from gputui.logs.kernel import KERNEL, KernelEvent
from gputui.model import Incident, NodeSample, Severity
from gputui.state import MOST_CLEARED, NodeState

_FORGOTTEN_S = 30 * 86_400.0
"""A GPU that has not been seen for a month was taken out."""

_CLOCKS_DIFFER_S = 2.0
"""A line read back has the log's stamp, which is not quite when it was heard."""


class PastRuns:
    """What is remembered of one node. ``first`` is the first sample of this run."""

    def __init__(self, state: NodeState = NodeState(), first: NodeSample | None = None) -> None:  # noqa: B008 (frozen)
        readings = first.host_readings if first else None
        self._boot_id = readings.boot_id if readings else None
        now_s = first.time_s if first else 0.0
        same_boot = self._boot_id is not None and self._boot_id == state.boot_id
        self.gpus: tuple[SeenGpu, ...] = tuple(
            gpu for gpu in state.gpus if now_s - gpu.seen_s < _FORGOTTEN_S
        )
        self._known_until_s = state.heard_s + _CLOCKS_DIFFER_S if same_boot else 0.0
        self._heard_s = state.heard_s if same_boot else 0.0
        self._cleared = {incident.id: incident for incident in state.cleared}
        self._open: list[SavedIncident] = []
        for one in state.open:
            if _holds(one, now_s, same_boot=same_boot):
                self._open.append(one)
            else:
                self.note([replace(one.incident, cleared_s=one.last_s)])

    @property
    def cleared(self) -> Iterable[Incident]:
        """The incidents that are over, as far as they are kept."""
        return self._cleared.values()

    def take_open(self) -> list[SavedIncident]:
        """The incidents that are still open, as far as is known; once."""
        still_open, self._open = self._open, []
        return still_open

    def knows(self, event: KernelEvent, *, live: bool) -> bool:
        """Whether an event was taken in by an earlier run."""
        if event.told_by != KERNEL:
            return False
        if not live and event.time_s <= self._known_until_s:
            return True
        self._heard_s = max(self._heard_s, event.time_s)
        return False

    def note(self, changed: Iterable[Incident]) -> None:
        """Incidents changed: those that are over are kept."""
        for incident in changed:
            self._cleared.pop(incident.id, None)
            if incident.cleared_s is not None:
                self._cleared[incident.id] = incident
        while len(self._cleared) > MOST_CLEARED:
            del self._cleared[self._least()]

    def _least(self) -> str:
        """The id of the one that matters least: the oldest that is not grave, by which a GPU that
        fails again and again could be known.
        """
        mild = (one.id for one in self._cleared.values() if one.severity is not Severity.CRITICAL)
        return next(mild, next(iter(self._cleared)))

    def state(self, gpus: tuple[SeenGpu, ...], still_open: tuple[SavedIncident, ...]) -> NodeState:
        """What is to be remembered: with the open incidents that nobody has taken yet."""
        return NodeState(
            boot_id=self._boot_id,
            heard_s=self._heard_s,
            gpus=gpus,
            open=(*still_open, *self._open),
            cleared=tuple(self._cleared.values()),
        )


def _holds(one: SavedIncident, now_s: float, *, same_boot: bool) -> bool:
    """What was noticed just now may go on; what is grave stays so until a reboot."""
    if now_s - one.last_s <= REOPENS_WITHIN_S:
        return True
    return same_boot and one.incident.severity is Severity.CRITICAL
