"""A job that is started while others run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.fleet import Job, start_job
from chaos.format.values import Percent, Size
from chaos.selection import Gpus, Inventory, JobId
from chaos.undo import Undo
from fakes.world import World


@fault("job", by="start")
@dataclass(frozen=True, slots=True)
class Start:
    """Start a job, ``start`` by its id: one process on each of its GPUs. Healing ends it."""

    start: str
    gpus: Gpus
    load: Percent = Percent(95)
    memory: Size = Size(8 << 30)
    user: str = "alice"
    command: str = "python3 train.py"

    does_not_prove: ClassVar[str] = "that a scheduler would have placed it there"

    def __post_init__(self) -> None:
        """Refuse what is no job's id."""
        JobId.parse(self.start)

    def apply(self, world: World, undo: Undo) -> None:
        """Start it, unless one of its id runs."""
        inventory = Inventory.of(world)
        if self.start in inventory.jobs:
            raise FaultError(f"a job '{self.start}' runs already")
        job = Job(
            self.start,
            self.gpus,
            load=self.load.share,
            memory_bytes=self.memory.bytes,
            user=self.user,
            command=self.command,
        )
        started: list[tuple[str, int]] = []

        def end() -> None:
            for node, pid in started:
                world.nodes[node].end_process(pid, world.now_us)

        undo.push(end)
        started += start_job(job, world, inventory)
