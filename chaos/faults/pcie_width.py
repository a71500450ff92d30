"""A PCIe link that has come up, or fallen back, to fewer lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World

_WIDTHS = (1, 2, 4, 8, 16)


@fault("pcie", by="width")
@dataclass(frozen=True, slots=True)
class Width:
    """Leave a GPU's PCIe link so many lanes: 1, 2, 4, 8 or 16."""

    gpu: Gpus
    width: int

    does_not_prove: ClassVar[str] = "that a job would slow down as much as its traffic does here"

    def __post_init__(self) -> None:
        """Refuse what is no width of a link."""
        if self.width not in _WIDTHS:
            raise ValueError(f"width: a link has 1, 2, 4, 8 or 16 lanes, not {self.width}.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let the other lanes be gone from now on."""
        for gpu in self.gpu.find(world):
            if self.width >= gpu.profile.pcie.width:
                raise FaultError(f"{gpu.node}/{gpu.index} has {gpu.profile.pcie.width} lanes")
            narrow(gpu, world, undo, width=self.width)


def narrow(
    gpu: Gpu, world: World, undo: Undo, *, width: int | None = None, generation: int | None = None
) -> None:
    """Let a link have fewer lanes, or a lower generation, until the fault is healed."""
    what = "width" if width is not None else "generation"

    def put(value: int | None) -> None:
        setattr(gpu.pcie, what, value)
        gpu.set_pcie(gpu.pcie.width, gpu.pcie.generation, world.now_us)

    with undo.keeping((gpu.pcie, what), lambda: getattr(gpu.pcie, what), put):
        put(width if width is not None else generation)
