"""When the node was started, and whether that was since it was last watched."""

from __future__ import annotations

from gputui.model import NodeSample

NODE_REBOOTED = "NodeRebooted"
"""The kind of incident that tells of a new boot."""

_CLOCKS_DIFFER_S = 30.0
"""A node's uptime and the clock of whoever reads it do not go quite alike."""


class Boots:
    """The boots of one node: by the kernel's name for each, or else by an uptime that fell."""

    def __init__(self) -> None:
        self.rebooted_s: float | None = None
        """When it was found to have been started anew (Unix time)."""
        self.booted_s: float | None = None
        """When the present boot began (Unix time), where that is told."""
        self._boot_id: str | None = None

    def recall(self, boot_id: str | None, rebooted_s: float | None = None) -> None:
        """Learn in which boot the node was when it was last watched, and since when, if it was
        told then that this boot was news.
        """
        self._boot_id = boot_id
        self.rebooted_s = rebooted_s

    def add(self, sample: NodeSample) -> None:
        """Take in a sample."""
        host = sample.host_readings
        if host is None:
            return
        booted_s = None if host.uptime_s is None else sample.time_s - host.uptime_s
        if host.boot_id is not None:
            rebooted = self._boot_id not in (None, host.boot_id)
            self._boot_id = host.boot_id
        else:
            rebooted = (
                booted_s is not None
                and self.booted_s is not None
                and booted_s - self.booted_s > _CLOCKS_DIFFER_S
            )
        if rebooted:
            self.rebooted_s = sample.time_s
        if booted_s is not None:
            self.booted_s = booted_s
