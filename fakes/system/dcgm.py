"""What a node's DCGM host engine remembers between two calls: groups, watches, jobs.

Return codes are dcgmReturn_t of DCGM's dcgm_structs.h; ``dcgmi`` ends with their last eight bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

VERSION = "3.3.8"
SERVICE = "nvidia-dcgm"
ALL_GPUS, ALL_SWITCHES = 0, 1
_FIRST_GROUP = 2


class Status(IntEnum):
    """Return codes that occur here."""

    OK = 0
    BADPARAM = -1
    GENERIC_ERROR = -3
    NOT_CONFIGURED = -5
    NOT_SUPPORTED = -6
    NO_DATA = -14
    GPU_IS_LOST = -18
    CONNECTION_NOT_VALID = -21
    NVVS_ERROR = -30
    NVVS_ISOLATE_ERROR = -51
    NVML_NOT_LOADED = -56
    NVML_DRIVER_TIMEOUT = -57

    @property
    def exit_status(self) -> int:
        """The same as a process ends with it."""
        return self.value & 0xFF


@dataclass(slots=True, eq=False)
class Group:
    """GPUs under one name."""

    id: int
    name: str
    gpus: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class HostEngine:
    """Groups by number, the groups whose health is watched, and the jobs whose use is recorded.

    ``jobs`` are when each began and ended (microseconds of the run; None while it goes on).
    """

    groups: dict[int, Group] = field(default_factory=dict)
    watched: set[int] = field(default_factory=set)
    jobs: dict[str, tuple[int, int | None]] = field(default_factory=dict)

    def create(self, name: str, gpus: tuple[int, ...]) -> Group:
        """A new group."""
        number = max(self.groups, default=_FIRST_GROUP - 1) + 1
        group = self.groups[number] = Group(number, name, gpus)
        return group

    def members(self, group: int, count: int) -> tuple[int, ...] | None:
        """The GPUs of a group, on a node with ``count``; None if there is no such group."""
        if group == ALL_GPUS:
            return tuple(range(count))
        found = self.groups.get(group)
        return found.gpus if found else None

    def forget(self) -> None:
        """End: a host engine that starts anew knows nothing."""
        self.groups.clear()
        self.watched.clear()
        self.jobs.clear()
