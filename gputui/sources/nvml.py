"""A node's readings from NVML, through nvidia-ml-py.

This is the only place that asks the driver, and it runs in the sampler, never in the process that
draws. One GPU's trouble stays its own; trouble of the whole driver is told in words, and NVML is
initialised anew at the next reading.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from gputui.model import NodeSample, ProcessSample
from gputui.sources.driver_trouble import explain, no_gpus
from gputui.sources.gpu_processes import GpuProcesses
from gputui.sources.gpu_reader import GpuReader
from gputui.sources.processes import HostProcess, ProcessTable
from gputui.sources.progress import DRIVER
from gputui.sources.readings import Nvml
from gputui.sources.reasons import UNKNOWN


def _nobody(_: int | None) -> None:
    """Nobody listens."""


class NvmlReader:
    """Reads a whole node, again and again.

    ``nvml`` is the module ``pynvml`` or its equal; ``skip`` are indices that are left alone,
    because they are suspected of blocking whoever asks them. ``asking`` hears which GPU is about to
    be asked (``DRIVER`` for calls that concern all), and None when an answer came.
    """

    def __init__(
        self,
        nvml: Nvml,
        *,
        host: str | None = None,
        processes: ProcessTable | None = None,
        skip: frozenset[int] = frozenset(),
        asking: Callable[[int | None], None] = _nobody,
    ) -> None:
        self._nvml = nvml
        self._host = host or os.uname().nodename
        self._table = processes or ProcessTable()
        self._skip = skip
        self._ready = False
        self._driver: str | None = None
        self._cuda: str | None = None
        self._gpus: list[GpuReader] = []
        self._listed: list[GpuProcesses] = []
        self._pcie_turn = 0
        self._asking = asking

    def read(self, time_s: float) -> NodeSample:
        """One reading. Never raises NVML's errors; it may block as long as the driver does."""
        self._asking(DRIVER)
        try:
            count = self._count()
        except self._nvml.NVMLError as error:
            self._end()
            return self._silent(time_s, explain(int(error.value)))
        except Exception as error:
            self._end()
            return self._silent(time_s, f"NVML cannot be used: {type(error).__name__}: {error}")
        if count == 0:
            self._end()
            return self._silent(time_s, no_gpus())
        gpus = []
        processes = []
        for gpu, listed in zip(self._gpus, self._listed, strict=True):
            if gpu.index in self._skip:
                continue
            self._asking(gpu.index)
            gpus.append(gpu.read())
            if gpu.handle is not None:
                processes += listed.read(gpu.handle, time_s)
        self._asking(None)
        if gpus and all(gpu.return_code == UNKNOWN for gpu in gpus):
            # The whole driver, not each GPU: often a container that lost its devices.
            self._end()
        return NodeSample(
            host=self._host,
            time_s=time_s,
            driver=self._driver,
            cuda=self._cuda,
            gpu_count=count,
            gpus=tuple(gpus),
            processes=self._named(processes),
        )

    def read_slow(self) -> bool:
        """Measure what is too slow for every reading, for one GPU; False when all have had it.

        In the first round everybody has a turn; after that, one GPU each time it is called.
        """
        if not self._gpus:
            return False
        gpu = self._gpus[self._pcie_turn % len(self._gpus)]
        self._pcie_turn += 1
        if gpu.index not in self._skip:
            self._asking(gpu.index)
            gpu.read_pcie()
            self._asking(None)
        return self._pcie_turn < len(self._gpus)

    def _count(self) -> int:
        """How many GPUs there are. NVML that stopped working is initialised anew, once."""
        was_ready = self._ready
        try:
            return self._begin()
        except self._nvml.NVMLError:
            if not was_ready:
                raise
        self._end()
        return self._begin()

    def _begin(self) -> int:
        nvml = self._nvml
        if not self._ready:
            nvml.nvmlInit()
            self._ready = True
            self._driver = self._text(nvml.nvmlSystemGetDriverVersion)
            self._cuda = self._cuda_version()
            self._pcie_turn = 0
        count = int(nvml.nvmlDeviceGetCount())
        if count != len(self._gpus):
            self._gpus = [GpuReader(nvml, index) for index in range(count)]
            self._listed = [GpuProcesses(nvml, index) for index in range(count)]
        return count

    def _end(self) -> None:
        """Let go of NVML, so that the next reading starts afresh."""
        self._asking(None)
        for gpu in self._gpus:
            gpu.handle = None
        if self._ready:
            self._ready = False
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()

    def _silent(self, time_s: float, error: str) -> NodeSample:
        return NodeSample(host=self._host, time_s=time_s, driver=self._driver, error=error)

    def _text(self, ask: Any) -> str | None:
        try:
            return str(ask())
        except (self._nvml.NVMLError, UnicodeDecodeError):
            return None

    def _cuda_version(self) -> str | None:
        """NVML tells 1000 * major + 10 * minor."""
        try:
            version = int(self._nvml.nvmlSystemGetCudaDriverVersion())
        except self._nvml.NVMLError:
            return None
        return f"{version // 1000}.{version % 1000 // 10}"

    def _named(self, processes: list[ProcessSample]) -> tuple[ProcessSample, ...]:
        known = self._table.look(process.pid for process in processes)
        return tuple(_join(process, known[process.pid]) for process in processes)


def _join(process: ProcessSample, host: HostProcess) -> ProcessSample:
    return ProcessSample(
        pid=process.pid,
        gpu=process.gpu,
        kind=process.kind,
        memory_bytes=process.memory_bytes,
        sm_percent=process.sm_percent,
        user=host.user,
        command=host.command,
        job=host.job,
        running_s=host.running_s,
        host_memory_bytes=host.host_memory_bytes,
        cpu_percent=host.cpu_percent,
    )
