"""``--query-accounted-apps``: a line for each process of which a GPU keeps statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.field import field
from fakes.commands.nvidia_smi.queries.columns import of_its_gpu
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.words import mib
from fakes.nvml.codes import Code


@dataclass(frozen=True, slots=True)
class Accounted:
    """A process, living or ended, and where its statistics are."""

    gpu: Gpu
    pid: int

    def figure(self, member: str) -> int:
        """One of its statistics."""
        stats: Any = self.gpu.get("nvmlDeviceGetAccountingStats", self.pid)
        value = getattr(stats, member)
        if value is None:
            raise Missing(Code.NOT_SUPPORTED)
        return int(value)


def _rows(gpu: Gpu) -> Iterator[Accounted]:
    try:
        pids = gpu.get("nvmlDeviceGetAccountingPids")
    except Missing:
        return
    yield from (Accounted(gpu, pid) for pid in pids)


def _no_vgpu(row: Accounted) -> str:
    raise Missing(Code.NOT_SUPPORTED)


QUERY: Query[Accounted] = Query(
    "Processes of which statistics are kept.",
    (
        *of_its_gpu(Accounted),
        field("vgpu_instance", read=_no_vgpu, about="The vGPU."),
        field("pid", read=lambda row: str(row.pid), about="The process."),
        field(
            "gpu_utilization",
            "gpu_util",
            read=lambda row: str(row.figure("gpuUtilization")),
            unit="%",
            about="Share of its life in which a kernel ran.",
        ),
        field(
            "mem_utilization",
            "mem_util",
            read=lambda row: str(row.figure("memoryUtilization")),
            unit="%",
            about="Share of its life in which memory was accessed.",
        ),
        field(
            "max_memory_usage",
            read=lambda row: mib(row.figure("maxMemoryUsage")),
            unit="MiB",
            about="The most memory it held.",
        ),
        field(
            "time", read=lambda row: str(row.figure("time")), unit="ms", about="How long it ran."
        ),
    ),
    _rows,
)
