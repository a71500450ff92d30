"""A node's readings from NVML, through nvidia-ml-py.

This is the only place that asks the driver, and it runs in the sampler, never in the process that
draws. One GPU's trouble stays its own; trouble of the whole driver is told in words, and NVML is
initialised anew at the next reading.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gputui.model import GpuSample, LogLine, NodeSample, PciGpu, ProcessSample
from gputui.silence import DRIVER
from gputui.sources.device_files import device_files
from gputui.sources.driver_trouble import VERSION_MISMATCH, explain, no_gpus
from gputui.sources.files import system_root
from gputui.sources.gpu_processes import GpuProcesses
from gputui.sources.gpu_reader import GpuReader
from gputui.sources.nvml_events import XidEvents
from gputui.sources.pci import gpus_on_bus
from gputui.sources.processes import HostProcess, ProcessTable
from gputui.sources.readings import Nvml
from gputui.sources.reasons import UNKNOWN
from gputui.sources.slots import slot_of
from gputui.sources.slow_readings import SLOW_READINGS
from gputui.sources.turns import HEALTH_S, Turns

_HEALTH = frozenset(
    position for position, reading in enumerate(SLOW_READINGS) if reading.every_s == HEALTH_S
)

_BLIND = frozenset({9, 12, 999})
"""Driver not loaded, library not found, unknown error: it helps to know whether GPUs are there."""

_BUS_EVERY_S = 60.0
_MISMATCHED_S = 10.0
_ANEW_EVERY_S = 10.0
"""Initialising NVML takes up to a second: it is tried no more often where it does not help."""


def _nobody(_: int | None) -> None:
    """Nobody listens."""


class Processes(Protocol):
    """Who knows the processes on the GPUs: :class:`gputui.sources.processes.ProcessTable`, say."""

    def look(self, pids: Iterable[int], /) -> Mapping[int, HostProcess]:
        """What is known of each."""


class NvmlReader:
    """Reads a whole node, again and again.

    ``nvml`` is the module ``pynvml`` or its equal; ``skip`` are indices that are left alone,
    because they are suspected of blocking whoever asks them. ``asking`` hears which GPU is about to
    be asked (``DRIVER`` for calls that concern all), and None when an answer came. ``root`` is
    where ``sys``, ``proc`` and ``dev`` lie, if that is not the system's own place. ``thorough`` is
    for where calls take no time: every reading asks for everything, and nothing is left for between
    two of them but a look at the bus.
    """

    def __init__(
        self,
        nvml: Nvml,
        *,
        host: str | None = None,
        processes: Processes | None = None,
        skip: frozenset[int] = frozenset(),
        asking: Callable[[int | None], None] = _nobody,
        root: Path | None = None,
        thorough: bool = False,
    ) -> None:
        self._nvml = nvml
        self._host = host or os.uname().nodename
        self._table = processes or ProcessTable()
        self._skip = skip
        self._thorough = thorough
        self._ready = False
        self._driver: str | None = None
        self._cuda: str | None = None
        self._gpus: list[GpuReader] = []
        self._listed: list[GpuProcesses] = []
        self._told: dict[int, tuple[GpuSample, list[ProcessSample]]] = {}
        self._turns = Turns([reading.every_s for reading in SLOW_READINGS])
        self._events = XidEvents(nvml)
        self._anew_s = float("-inf")
        self._mismatched_s: float | None = None
        self._root = system_root() if root is None else root
        self._on_bus: tuple[PciGpu, ...] | None = None
        self._looked_s = float("-inf")
        self._time_s = 0.0
        self._asking = asking

    def read(self, time_s: float, still: Collection[int] = ()) -> NodeSample:
        """One reading. Never raises NVML's errors; it may block as long as the driver does.

        Of GPUs that are ``still`` it is known that they are as they were: they are told so again.
        """
        self._time_s = time_s
        self._asking(DRIVER)
        try:
            count = self._count()
            sample = self._sample(count, time_s, still)
            if _is_dead(sample) and time_s >= self._anew_s:
                # The whole driver, not each GPU: a container that lost its devices answers so.
                self._anew_s = time_s + _ANEW_EVERY_S
                self._end()
                sample = self._sample(self._begin(), time_s)
        except self._nvml.NVMLError as error:
            self._end()
            code = int(error.value)
            if code != VERSION_MISMATCH:
                self._mismatched_s = None
            elif self._mismatched_s is None:
                self._mismatched_s = time_s
            return self._silent(time_s, explain(code, library=self._library()), code)
        except Exception as error:
            self._end()
            return self._silent(time_s, f"NVML cannot be used: {type(error).__name__}: {error}")
        self._mismatched_s = None
        if count == 0:
            self._end()
            return self._silent(time_s, no_gpus())
        return sample

    @property
    def is_outdated(self) -> bool:
        """Whether NVML's library has been of another version than the driver for ten seconds.

        It was loaded for the life of this process: only another one can have the new library.
        """
        return self._mismatched_s is not None and self._time_s - self._mismatched_s >= _MISMATCHED_S

    def read_slow(self) -> bool:
        """Ask for one thing that changes seldom, if one is due; whether more are.

        The clock is that of :meth:`read`, so that what is due does not depend on how long it took.
        """
        if self._time_s - self._looked_s >= _BUS_EVERY_S:
            self._look_at_bus()
            return True
        turn = self._turns.take(self._time_s)
        if turn is None:
            return False
        index, reading = turn
        gpu = self._gpus[index]
        if gpu.handle is not None:
            self._asking(index)
            gpu.read_slow(SLOW_READINGS[reading])
            self._asking(None)
        return self._turns.is_due(self._time_s)

    def read_events(self, time_s: float) -> list[LogLine]:
        """Return the Xids that NVML told of since the last call."""
        if not self._ready:
            return []
        self._asking(DRIVER)
        lines = self._events.take(self._gpus, time_s)
        self._asking(None)
        return lines

    def hasten(self) -> None:
        """Something happened: have the readings of health due at once."""
        self._turns.hasten(_HEALTH)
        self._looked_s = float("-inf")

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
        count = int(nvml.nvmlDeviceGetCount())
        if count != len(self._gpus):
            self._turns.dismiss()
            self._told.clear()
            self._events.end()
            self._looked_s = float("-inf")
            slot = partial(slot_of, self._root)
            self._gpus = [
                GpuReader(nvml, index, thorough=self._thorough, slot_of=slot)
                for index in range(count)
            ]
            self._listed = [GpuProcesses(nvml, index) for index in range(count)]
        return count

    def _sample(self, count: int, time_s: float, still: Collection[int] = ()) -> NodeSample:
        gpus = []
        processes: list[ProcessSample] = []
        for gpu, listed in zip(self._gpus, self._listed, strict=True):
            if gpu.index in self._skip:
                continue
            if gpu.index not in still or gpu.index not in self._told:
                self._told[gpu.index] = self._ask_gpu(gpu, listed, time_s)
            one, running = self._told[gpu.index]
            gpus.append(one)
            processes += running
        self._asking(None)
        known = self._table.look(process.pid for process in processes)
        above = {one.pid: one for process in known.values() for one in process.ancestors}
        return NodeSample(
            host=self._host,
            time_s=time_s,
            driver=self._driver,
            cuda=self._cuda,
            gpu_count=count,
            gpus=tuple(gpus),
            processes=tuple(known[process.pid].joined(process) for process in processes),
            on_bus=self._on_bus,
            ancestors=tuple(one for pid, one in above.items() if pid not in known),
        )

    def _ask_gpu(
        self, gpu: GpuReader, listed: GpuProcesses, time_s: float
    ) -> tuple[GpuSample, list[ProcessSample]]:
        """One GPU, and what runs on it."""
        self._asking(gpu.index)
        sample = gpu.read()
        if gpu.is_new:
            gpu.is_new = False
            if not self._thorough:
                self._turns.welcome(gpu.index)
            self._events.begin([gpu])
        return sample, [] if gpu.handle is None else listed.read(gpu.handle, time_s)

    def _look_at_bus(self) -> None:
        """Which GPUs the PCI bus shows; how many NVML counts may have changed as well."""
        self._looked_s = self._time_s
        counted = frozenset(gpu.bus_id for gpu in self._gpus if gpu.handle and gpu.bus_id)
        self._on_bus = gpus_on_bus(self._root, counted)

    def _end(self) -> None:
        """Let go of NVML, so that the next reading starts afresh."""
        self._asking(None)
        self._told.clear()
        for gpu in self._gpus:
            gpu.handle = None
        if self._ready:
            self._ready = False
            self._events.end()
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()

    def _silent(self, time_s: float, error: str, code: int | None = None) -> NodeSample:
        if time_s - self._looked_s >= _BUS_EVERY_S:
            self._look_at_bus()
        if self._on_bus and (code is None or code in _BLIND):
            many = "GPU is" if len(self._on_bus) == 1 else "GPUs are"
            error += f" {len(self._on_bus)} NVIDIA {many} on the PCI bus."
        return NodeSample(
            host=self._host,
            time_s=time_s,
            driver=self._driver,
            error=error,
            error_code=code,
            on_bus=self._on_bus,
            device_files=device_files(self._root),
        )

    def _library(self) -> str | None:
        """The library's own version; it tells that also where it cannot talk to the driver."""
        with contextlib.suppress(AttributeError):
            return self._text(self._nvml.nvmlSystemGetNVMLVersion)
        return None

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


def _is_dead(sample: NodeSample) -> bool:
    return bool(sample.gpus) and all(gpu.return_code == UNKNOWN for gpu in sample.gpus)
