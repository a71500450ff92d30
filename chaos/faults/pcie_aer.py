"""An error that a GPU, or its link, reports to its root port (Advanced Error Reporting)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Count, Duration
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Gpu
from fakes.hardware.pcie import AerError, aer_lines, dpc_lines
from fakes.world import World

_OFF_THE_BUS = 79


@fault("pcie", by="aer")
@dataclass(frozen=True, slots=True)
class Aer:
    """Let a GPU report a PCIe error, once or in a burst: the kernel prints it, and counts it.

    A ``fatal`` one makes the port cut off what is below it (DPC): the GPU is lost. Healing ends a
    burst and brings the GPU back.
    """

    gpu: Gpus
    aer: AerError
    times: Count = Count(1)
    every: Duration = Duration(1_000_000)

    does_not_prove: ClassVar[str] = (
        "that the firmware leaves such errors to the kernel, or that the kernel recovers the link"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Report the first now, and schedule the others."""
        for gpu in self.gpu.find(world):
            actor = f"aer/{gpu.node}/{gpu.index}"
            for number in range(self.times.number):
                at_us = world.now_us + number * self.every.us
                undo.schedule(world, at_us, actor, partial(self._report, world, gpu, undo))

    def _report(self, world: World, gpu: Gpu, undo: Undo) -> None:
        log = world.node_of(gpu).kernel_log
        gpu.pcie.errors[self.aer] += 1
        for line in aer_lines(gpu.port_bus_id, gpu.bus_id, gpu.profile.pci_device_id, self.aer):
            log.write(world.now_us, line)
        if self.aer is AerError.FATAL:
            for line in dpc_lines(gpu.port_bus_id):
                log.write(world.now_us, line)
            with undo.keeping_attribute(gpu, "lost"):
                raise_xid(world.node_of(gpu), gpu, _OFF_THE_BUS, world.now_us)
