"""The processes on one GPU, as NVML lists them, with their share of its SMs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from gputui.model import ProcessSample
from gputui.sources.readings import Handle, Nvml
from gputui.sources.reasons import FUNCTION_NOT_FOUND

_PID_MAX = 1 << 22
"""PID_MAX_LIMIT of a 64-bit Linux kernel: a larger one is garbage."""

_NO_U64 = 0xFFFF_FFFF_FFFF_FFFF
_KEPT_S = 5.0
_AHEAD_S = 10.0
_US = 1_000_000


@dataclass(frozen=True, slots=True)
class _Share:
    """The newest utilization sample of a process, and when it was seen (Unix time)."""

    sm_percent: int
    seen_s: float


class GpuProcesses:
    """Lists the processes of one GPU.

    The driver samples a process's utilization a few times a second and gives out what is newer than
    a stamp (microseconds of Unix time). When nothing new came, the last sample stands for five
    seconds, and none older than that is taken.
    """

    def __init__(self, nvml: Nvml, index: int) -> None:
        self._nvml = nvml
        self._index = index
        self._shares: dict[int, _Share] = {}
        self._newest_us = 0

    def read(self, handle: Handle, time_s: float) -> list[ProcessSample]:
        """Return what runs on the GPU; nothing where NVML does not tell."""
        found: dict[int, ProcessSample] = {}
        for kind in ("graphics", "compute"):
            for pid, memory_bytes in self._list(kind, handle):
                found[pid] = ProcessSample(pid, self._index, kind, memory_bytes=memory_bytes)
        if not found:
            self._shares.clear()
            return []
        self._sample(handle, time_s)
        return [self._with_share(found[pid]) for pid in sorted(found)]

    def _list(self, kind: str, handle: Handle) -> Iterator[tuple[int, int | None]]:
        for process in self._ask(f"nvmlDeviceGet{kind.title()}RunningProcesses", handle):
            if 0 < process.pid <= _PID_MAX:
                memory_bytes = process.usedGpuMemory
                yield process.pid, None if memory_bytes in (None, _NO_U64) else int(memory_bytes)

    def _ask(self, name: str, handle: Handle) -> list[Any]:
        for version in ("_v3", "_v2"):
            try:
                return list(getattr(self._nvml, name + version)(handle))
            except self._nvml.NVMLError as error:
                if error.value != FUNCTION_NOT_FOUND:
                    return []
            except (AttributeError, ValueError):
                return []
        return []

    def _sample(self, handle: Handle, time_s: float) -> None:
        since_us = max(self._newest_us, int((time_s - _KEPT_S) * _US), 0)
        latest_us = int((time_s + _AHEAD_S) * _US)
        try:
            samples = self._nvml.nvmlDeviceGetProcessUtilization(handle, since_us)
        except self._nvml.NVMLError:
            samples = []  # nothing newer, or not supported (in MIG mode, say)
        newest: dict[int, int] = {}
        for sample in _plausible(samples, latest_us):
            stamp_us = int(sample.timeStamp)
            if stamp_us > newest.get(sample.pid, since_us):
                newest[sample.pid] = stamp_us
                self._shares[sample.pid] = _Share(int(sample.smUtil), time_s)
        if newest:
            self._newest_us = min(max(newest.values()), latest_us)
        self._shares = {
            pid: share for pid, share in self._shares.items() if time_s - share.seen_s <= _KEPT_S
        }

    def _with_share(self, process: ProcessSample) -> ProcessSample:
        share = self._shares.get(process.pid)
        if share is None:
            return process
        return replace(process, sm_percent=share.sm_percent)


def _plausible(samples: list[Any], latest_us: int) -> list[Any]:
    """Without the records of zeros, and of garbage, that drivers leave at the end of the buffer.

    A stamp that lies ahead is garbage too, unless all do: then the driver's clock is another.
    """
    possible = [sample for sample in samples if sample.smUtil <= 100]
    return [sample for sample in possible if sample.timeStamp <= latest_us] or possible
