"""A power limit that somebody set too low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.format.values import Watts
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("power", by="cap")
@dataclass(frozen=True, slots=True)
class Cap:
    """Set a GPU's power limit, as ``nvidia-smi -pl`` does."""

    gpu: Gpus
    cap: Watts

    does_not_prove: ClassVar[str] = "that a real GPU would reach the same clock at this power"

    def apply(self, world: World, undo: Undo) -> None:
        """Set it now. A limit that the model does not take is refused."""
        for gpu in self.gpu.find(world):
            power = gpu.profile.power
            if not power.limit_min_mw <= self.cap.milliwatts <= power.limit_max_mw:
                raise FaultError(
                    f"the power limit of {gpu.node}/{gpu.index} can be {Watts(power.limit_min_mw)} "
                    f"to {Watts(power.limit_max_mw)}, not {self.cap}"
                )
            _set(gpu, self.cap.milliwatts, world, undo)


def _set(gpu: Gpu, limit_mw: int, world: World, undo: Undo) -> None:
    with undo.keeping(
        (gpu, "power limit"),
        lambda: gpu.power_limit_mw,
        lambda before_mw: gpu.set_power_limit(before_mw, world.now_us),
    ):
        gpu.set_power_limit(limit_mw, world.now_us)
