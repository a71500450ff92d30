"""Xids as NVML reports them: an event set that every GPU is registered with.

Polled between samples: waiting for it would take a thread, and threads of one process share the
driver's locks. Where event sets are not supported, or not for a GPU, there are simply none.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable

from gputui.logs.nvml import NVML, xid_line
from gputui.model import LogLine
from gputui.sources.gpu_reader import GpuReader
from gputui.sources.readings import Handle, Nvml
from gputui.sources.reasons import TIMEOUT

_XID_CRITICAL_ERROR = 0x8
"""nvmlEventTypeXidCriticalError: the event's data are the Xid's code."""

_MOST_AT_ONCE = 64
_AGAIN_AFTER_S = 10.0


class XidEvents:
    """The event set of one NVML session. Errors of NVML's end it; it is then made anew later."""

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml
        self._set: Handle | None = None
        self._bus_ids: dict[int, str] = {}
        self._again_s = 0.0

    def begin(self, gpus: Iterable[GpuReader]) -> None:
        """Make a set, if there is none, and register these GPUs with it. Never raises."""
        try:
            if self._set is None:
                self._set = self._nvml.nvmlEventSetCreate()
        except (self._nvml.NVMLError, AttributeError):
            return
        for gpu in gpus:
            if gpu.handle is None or gpu.bus_id is None:
                continue
            self._bus_ids[_key(gpu.handle)] = gpu.bus_id
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlDeviceRegisterEvents(gpu.handle, _XID_CRITICAL_ERROR, self._set)

    def take(self, gpus: Iterable[GpuReader], time_s: float) -> list[LogLine]:
        """Return the Xids that came since the last call, the oldest first."""
        if self._set is None:
            if time_s >= self._again_s:
                self._again_s = time_s + _AGAIN_AFTER_S
                self.begin(gpus)
            return []
        lines: list[LogLine] = []
        while len(lines) < _MOST_AT_ONCE:
            try:
                event = self._nvml.nvmlEventSetWait(self._set, 0)
            except self._nvml.NVMLError as error:
                if error.value != TIMEOUT:
                    # A GPU that is lost spoils the whole set.
                    self.end()
                    self._again_s = time_s + _AGAIN_AFTER_S
                break
            bus_id = self._bus_ids.get(_key(event.device))
            if event.eventType & _XID_CRITICAL_ERROR and bus_id is not None:
                lines.append(LogLine(time_s, NVML, xid_line(bus_id, int(event.eventData))))
        return lines

    def end(self) -> None:
        """Let go of the set; also because NVML was shut down."""
        self._bus_ids.clear()
        self._again_s = 0.0
        if self._set is not None:
            gone, self._set = self._set, None
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlEventSetFree(gone)


def _key(handle: Handle) -> int:
    """Handles of one GPU are equal as addresses, not as objects of ctypes."""
    try:
        return int(ctypes.cast(handle, ctypes.c_void_p).value or 0)
    except (ctypes.ArgumentError, TypeError):
        return id(handle)
