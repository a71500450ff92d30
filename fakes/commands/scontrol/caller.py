"""Who called scontrol, how it is to print, and how it says no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.jobs.cluster import Cluster
from fakes.world import World

Row = tuple[str, ...]
"""What stands in a line: ``Name=value`` each."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A call, and what it is to print like."""

    world: World
    user: str
    out: TextIO
    err: TextIO
    env: Mapping[str, str]
    one_line: bool = False
    details: bool = False
    as_json: bool = False
    is_privileged: bool = True

    @property
    def cluster(self) -> Cluster:
        """The scheduler."""
        return self.world.cluster

    def write(self, record: Sequence[Row], *, after: str = "\n") -> None:
        """Print a record: its lines, or all of them as one."""
        lines = [" ".join(row) for row in record]
        joint = " " if self.one_line else "\n   "
        self.out.write(joint.join(lines) + ("\n" if self.one_line else f"\n{after}"))


class RefusedError(Exception):
    """What scontrol or slurmctld says no to, in its words."""


class NotFoundError(RefusedError):
    """What there is none of: that is said on standard output."""


class UnknownHereError(Exception):
    """What the real command may know. One clause."""
