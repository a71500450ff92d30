"""``--query-compute-apps``: a line for each process that computes on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.field import field
from fakes.commands.nvidia_smi.queries.columns import of_its_gpu
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.words import mib
from fakes.nvml.codes import Code


@dataclass(frozen=True, slots=True)
class App:
    """A process on a GPU. ``kind`` is C for computing, G for graphics."""

    gpu: Gpu
    pid: int
    used_bytes: int | None
    kind: str

    @property
    def name(self) -> str:
        """Its program, as NVML knows it."""
        return str(self.gpu.driver.get("nvmlSystemGetProcessName", self.pid))

    @property
    def used_mib(self) -> str:
        """The memory it holds, in MiB."""
        if self.used_bytes is None:
            raise Missing(Code.NOT_SUPPORTED)
        return mib(self.used_bytes)


def computing(gpu: Gpu) -> Iterator[App]:
    """The processes with a compute context. Of a GPU that does not tell, there are none."""
    return _apps(gpu, "nvmlDeviceGetComputeRunningProcesses", "C")


def all_apps(gpu: Gpu) -> list[App]:
    """The processes with any context, by PID."""
    graphics = _apps(gpu, "nvmlDeviceGetGraphicsRunningProcesses", "G")
    return sorted((*computing(gpu), *graphics), key=lambda app: app.pid)


def _apps(gpu: Gpu, function: str, kind: str) -> Iterator[App]:
    try:
        processes = gpu.get(function)
    except Missing:
        return
    for process in processes:
        yield App(gpu, process.pid, process.usedGpuMemory, kind)


QUERY: Query[App] = Query(
    "Processes that compute.",
    (
        *of_its_gpu(App),
        field("pid", read=lambda app: str(app.pid), about="The process."),
        field("process_name", "name", read=lambda app: app.name, about="Its program."),
        field(
            "used_gpu_memory",
            "used_memory",
            read=lambda app: app.used_mib,
            unit="MiB",
            about="The memory it holds on the GPU.",
        ),
    ),
    computing,
)
