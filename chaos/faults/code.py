"""An Xid: what the driver prints when a GPU fails, and what then becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count, Duration
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.xid import raise_xid, write_xid_line
from fakes.hardware.gpu import Gpu
from fakes.hardware.noise import mix, seed_of
from fakes.world import World

_HIGHEST_CODE = 999


@fault("xid", by="code")
@dataclass(frozen=True, slots=True)
class Code:
    """Raise an Xid on a GPU, once or in a burst.

    A burst is ``times`` Xids, one ``every`` so often, each late by up to ``jitter`` (from the run's
    seed). The code has its effect (``fakes/driver/xid_effects.csv``: 79 loses the GPU), or only
    its line in the kernel log if ``log_only``.
    Healing ends a burst, brings the GPU back and takes back what was counted; processes that ended
    stay ended.
    """

    gpu: Gpus
    code: int
    times: Count = Count(1)
    every: Duration = Duration(5_000_000)
    jitter: Duration = Duration(0)
    log_only: bool = False

    does_not_prove: ClassVar[str] = (
        "that a real GPU with this Xid would show the same other symptoms"
    )

    def __post_init__(self) -> None:
        """Refuse what is no Xid."""
        if not 1 <= self.code <= _HIGHEST_CODE:
            raise ValueError(
                f"code: an Xid is a number from 1 to {_HIGHEST_CODE}, not {self.code}."
            )

    def apply(self, world: World, undo: Undo) -> None:
        """Raise the first now (or after its jitter), and schedule the others."""
        for gpu in self.gpu.find(world):
            if not self.log_only:
                keep_memory(gpu, undo)
            actor = f"xid/{gpu.node}/{gpu.index}/{self.code}"
            seed = seed_of(world.seed, actor)
            for number in range(self.times.number):
                late_us = mix(seed, number) % (self.jitter.us + 1)
                at_us = world.now_us + number * self.every.us + late_us
                undo.schedule(world, at_us, actor, partial(self._strike, world, gpu, undo))

    def _strike(self, world: World, gpu: Gpu, undo: Undo) -> None:
        node = world.node_of(gpu)
        if self.log_only:
            write_xid_line(node, gpu, self.code, world.now_us)
            return
        with undo.keeping_attribute(gpu, "lost"), undo.keeping_attribute(gpu, "reset_required"):
            raise_xid(node, gpu, self.code, world.now_us)
