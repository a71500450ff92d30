"""What reaches the screen from outside it."""

from __future__ import annotations

from textual.message import Message

from gputui.model import Snapshot


class SnapshotArrived(Message, bubble=False):
    """The monitor knows something new. Of several that wait, only the newest is looked at."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self.snapshot = snapshot

    def can_replace(self, message: Message) -> bool:
        """Whether this one makes ``message`` pointless."""
        return isinstance(message, SnapshotArrived)
