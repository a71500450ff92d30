"""NVML calls that take long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.hang import Scope, keep_disturbed
from chaos.format.values import Duration
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.disturbance import Slowness
from fakes.world import World


@fault("latency")
@dataclass(frozen=True, slots=True)
class Latency:
    """Let each call to a GPU, or (``scope: driver``) to any of its node, take so much longer.

    Six seconds is what a call takes while the GPU's firmware does not answer, 45 with older
    drivers.
    """

    gpu: Gpus
    each: Duration
    scope: Scope = Scope.GPU

    does_not_prove: ClassVar[str] = "how long calls would take that run at the same time"

    def apply(self, world: World, undo: Undo) -> None:
        """Let them be slow from now on."""
        for gpu in self.gpu.find(world):
            slowness = Slowness(self.each.us, gpu.index if self.scope is Scope.GPU else None)
            keep_disturbed(world.node_of(gpu), slowness, undo)
