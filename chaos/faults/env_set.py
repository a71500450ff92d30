"""A variable in a job's environment that has another value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.job_environment import change_settings
from chaos.format.values import Settings
from chaos.selection import JobId
from chaos.undo import Undo
from fakes.world import World


@fault("env", by="set")
@dataclass(frozen=True, slots=True)
class Set:
    """Set variables in a job's environment, from its next start on: ``NCCL_SOCKET_IFNAME: eth0``.

    They stand in the file that the job's script sources, ``/home/USER/JOB.env``. Healing puts the
    file back, unless somebody has changed it since.
    """

    job: JobId
    set: Settings

    does_not_prove: ClassVar[str] = "that the job would not set them itself"

    def apply(self, world: World, undo: Undo) -> None:
        """Write them down; what runs has read the file already."""
        change_settings(world, self.job.text, dict(self.set.pairs), undo)
