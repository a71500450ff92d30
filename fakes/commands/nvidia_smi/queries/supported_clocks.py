"""``--query-supported-clocks``: a line for each pair of clocks that can be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.field import field
from fakes.commands.nvidia_smi.queries.columns import of_its_gpu
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.nvml.codes import Code


@dataclass(frozen=True, slots=True)
class Pair:
    """A memory clock and a graphics clock that go together; None where the GPU does not tell."""

    gpu: Gpu
    memory_mhz: int | None = None
    graphics_mhz: int | None = None


def pairs(gpu: Gpu) -> Iterator[Pair]:
    """The pairs, from the highest down."""
    try:
        for memory_mhz in gpu.get("nvmlDeviceGetSupportedMemoryClocks"):
            for graphics_mhz in gpu.get("nvmlDeviceGetSupportedGraphicsClocks", memory_mhz):
                yield Pair(gpu, memory_mhz, graphics_mhz)
    except Missing:
        yield Pair(gpu)


def _mhz(clock_mhz: int | None) -> str:
    if clock_mhz is None:
        raise Missing(Code.NOT_SUPPORTED)
    return str(clock_mhz)


QUERY: Query[Pair] = Query(
    "Clocks that can be asked for.",
    (
        *of_its_gpu(Pair),
        field(
            "memory",
            "mem",
            read=lambda pair: _mhz(pair.memory_mhz),
            unit="MHz",
            about="A memory clock.",
        ),
        field(
            "graphics",
            "gr",
            read=lambda pair: _mhz(pair.graphics_mhz),
            unit="MHz",
            about="A graphics clock that goes with it.",
        ),
    ),
    pairs,
)
