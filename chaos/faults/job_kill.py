"""A rank of a job that is killed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.selection import JobId
from chaos.undo import Undo
from fakes.world import World


@fault("job", by="kill")
@dataclass(frozen=True, slots=True)
class Kill:
    """Kill one rank of a job, ``kill`` by its id: ``rank``, or the last one.

    What its launcher and its scheduler do then is theirs. Healing does not bring it back.
    """

    kill: JobId
    rank: int | None = None

    does_not_prove: ClassVar[str] = "that the others would notice, and not wait for it"

    def apply(self, world: World, undo: Undo) -> None:
        """End it wherever it runs."""
        del undo  # what is dead stays dead
        job = self.kill.text
        ranks = {
            process.spec.rank: (node, pid)
            for node in world.nodes.values()
            for pid, process in node.processes.items()
            if process.spec.job == job
        }
        rank = max(ranks, default=0) if self.rank is None else self.rank
        if rank not in ranks:
            raise FaultError(f"job '{job}' has no rank {rank} that runs")
        node, pid = ranks[rank]
        node.end_process(pid, world.now_us)
