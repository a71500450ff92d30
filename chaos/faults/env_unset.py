"""A variable that a job's environment has no longer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import quoted
from chaos.fault import fault
from chaos.fault_parts.job_environment import change_settings
from chaos.selection import JobId
from chaos.undo import Undo
from fakes.world import World

_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:, *[A-Za-z_][A-Za-z0-9_]*)*")


@fault("env", by="unset")
@dataclass(frozen=True, slots=True)
class Unset:
    """Take variables (``NCCL_DEBUG``, ``A,B``) out of a job's environment, from its next start on.

    Healing puts them back, unless somebody has changed the job's file since.
    """

    job: JobId
    unset: str

    does_not_prove: ClassVar[str] = "that the job would not set them itself"

    def __post_init__(self) -> None:
        """Refuse what are no names."""
        if not _NAMES.fullmatch(self.unset):
            raise ValueError(f"unset: {quoted(self.unset)} is no list of names, such as A,B.")

    def apply(self, world: World, undo: Undo) -> None:
        """Take them out of the file; what runs has read it already."""
        names = [name.strip() for name in self.unset.split(",")]
        change_settings(world, self.job.text, dict.fromkeys(names), undo)
