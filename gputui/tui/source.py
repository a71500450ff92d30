"""The part of the monitor that the screen needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gputui.model import Snapshot


class SnapshotSource(Protocol):
    """Where snapshots come from."""

    def start(self, on_snapshot: Callable[[Snapshot], None]) -> None:
        """Begin to deliver snapshots, from a thread of its own."""

    def stop(self) -> None:
        """End it. Calling it twice does nothing."""

    def acknowledge(self, incident_id: str) -> bool:
        """Somebody has seen an incident; False if it is no longer open."""

    def snooze(self, incident_id: str, for_s: float) -> bool:
        """Let nobody be called for it for a while, zero to end that; False if it is over."""
