"""A card whose own fan turns too slowly, or stands still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.format.values import Percent
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World

_WITHOUT_FAN = 0.1
"""What still rises over a heat sink by itself."""


@fault("thermal", by="fan")
@dataclass(frozen=True, slots=True)
class Fan:
    """Let the fan of a card turn at so much of the speed asked for; 0% is a fan that stands still.

    The air over its heat sink goes with it. A card without a fan of its own is refused.
    """

    gpu: Gpus
    fan: Percent

    does_not_prove: ClassVar[str] = "that the case's fans would not carry part of the heat off"

    def apply(self, world: World, undo: Undo) -> None:
        """Slow the fan of each card."""
        for gpu in self.gpu.find(world):
            if not gpu.profile.has_fan:
                raise FaultError(
                    f"{gpu.node}/{gpu.index} ({gpu.profile.model}) has no fan of its own: "
                    "the server's air passes over it (airflow)"
                )
            _slow(gpu, self.fan.share, world, undo)


def _slow(gpu: Gpu, share: float, world: World, undo: Undo) -> None:
    with undo.keeping_attribute(gpu, "fan_share"):
        gpu.fan_share = share
    with undo.keeping(
        (gpu, "airflow"),
        lambda: gpu.conditions.airflow,
        lambda airflow: gpu.set_airflow(airflow, world.now_us),
    ):
        gpu.set_airflow(max(_WITHOUT_FAN, share), world.now_us)
