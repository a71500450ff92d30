"""An uncorrectable error of a GPU's memory, with all that the driver makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Count, Duration
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.hardware.memory_faults import Uncorrectable, strike
from fakes.world import World


@fault("ecc", by="uncorrectable")
@dataclass(frozen=True, slots=True)
class UncorrectableError:
    """Let memory of a GPU fail so that ECC cannot correct it, once or several times.

    It is counted, told (Xid 48 in ``dram`` or ``sram``, 94 ``contained``, 95 ``uncontained``), and
    a bad row is marked (Xid 63). A contained one ends a process; the others require a reset.
    Healing is the reset and a good row: the counts go back, processes that ended stay ended.
    """

    gpu: Gpus
    uncorrectable: Uncorrectable
    times: Count = Count(1)
    every: Duration = Duration(60_000_000)

    does_not_prove: ClassVar[str] = (
        "that a real GPU would contain the same error, or that its spare row would be good"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Let the first happen now, and schedule the others."""
        for gpu in self.gpu.find(world):
            keep_memory(gpu, undo)
            actor = f"ecc/{gpu.node}/{gpu.index}"
            for number in range(self.times.number):
                at_us = world.now_us + number * self.every.us
                undo.schedule(world, at_us, actor, partial(self._strike, world, gpu, undo))

    def _strike(self, world: World, gpu: Gpu, undo: Undo) -> None:
        with (
            undo.keeping_attribute(gpu, "reset_required"),
            undo.keeping_attribute(gpu, "recovery_action"),
        ):
            strike(world.node_of(gpu), gpu, self.uncorrectable, world.now_us)


def keep_memory(gpu: Gpu, undo: Undo) -> None:
    """Let a GPU's memory be as it was when the fault is taken back: counters, rows and pages."""
    for name in ("memory_errors", "remapped_rows", "retired_pages"):
        with undo.keeping_attribute(gpu, name):
            setattr(gpu, name, replace(getattr(gpu, name)))
