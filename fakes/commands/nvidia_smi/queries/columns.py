"""Columns that several queries share: when, and which GPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.reading import Gpu

_NAMES = ("timestamp", "gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid")


class OnGpu(Protocol):
    """Something that belongs to a GPU."""

    @property
    def gpu(self) -> Gpu:
        """The GPU."""
        ...


Thing = TypeVar("Thing", bound=OnGpu)

OF_GPU: tuple[Field[Gpu], ...] = tuple(replace(BY_NAME[name], names=(name,)) for name in _NAMES)
"""The columns, where a line is about a GPU. Headings are the names as they are asked for here."""


def of_its_gpu(kind: type[Thing]) -> tuple[Field[Thing], ...]:
    """The same columns, where a line is about something on a GPU."""

    def lifted(known: Field[Gpu]) -> Field[Thing]:
        return field(*known.names, read=lambda thing: known.read(thing.gpu), about=known.about)

    del kind
    return tuple(lifted(known) for known in OF_GPU)
