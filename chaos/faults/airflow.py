"""Blocked airway: the same heat, less air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Percent
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("thermal", by="airflow")
@dataclass(frozen=True, slots=True)
class Airflow:
    """Let only so much of the designed airflow pass over a GPU's heat sink.

    Its thermal resistance rises as 1/airflow (``fakes/hardware/thermal.py``): hotter, and not
    sooner.
    """

    gpu: Gpus
    airflow: Percent

    does_not_prove: ClassVar[str] = "that the fans of the server or the rack would not compensate"

    def apply(self, world: World, undo: Undo) -> None:
        """Block the airway of each GPU."""
        for gpu in self.gpu.find(world):
            block(gpu, self.airflow.share, world, undo)


def block(gpu: Gpu, share: float, world: World, undo: Undo) -> None:
    """Let only a share of the designed air, or coolant, reach a GPU."""
    with undo.keeping(
        (gpu, "airflow"),
        lambda: gpu.conditions.airflow,
        lambda airflow: gpu.set_airflow(airflow, world.now_us),
    ):
        gpu.set_airflow(share, world.now_us)
