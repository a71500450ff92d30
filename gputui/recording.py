"""The one capture format: samples, log lines and incidents as JSON lines.

The sampler's pipe, ``--stream``, ``--record`` and every journal are this::

    {"t": 0, "event": "start", "epoch_s": 1764505800.0, "host": "node-a"}
    {"t": 0.1, "event": "sample", "host": "node-a", "time_s": 1764505800.1, "gpus": [...], ...}
    {"t": 7.2, "event": "log", "source": "kernel", "text": "NVRM: Xid (PCI:0000:3b:00): 79, ..."}
    {"t": 7.9, "event": "incident", "incident": {...}}

``t`` is seconds since the start. The names and units inside are those of :mod:`gputui.model`, so a
new reading is added there alone. A reading that is missing is ``null``, and ``missing`` beside it
says why. Readers pass over names and events that they do not know, and refuse values of the wrong
type, saying where. A capture may come from anywhere: no text in it keeps a control character.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from operator import attrgetter
from typing import Any, NoReturn, Protocol

from gputui import decoding
from gputui.decoding import WrongError
from gputui.model import (
    Ancestor,
    GpuSample,
    GpuStatus,
    HostSample,
    Incident,
    LinkSample,
    ListenerSample,
    LogLine,
    MigInstance,
    NodeSample,
    PciGpu,
    ProcessSample,
    TcpSample,
)
from gputui.shapes import decode
from gputui.text import harmless

__all__ = [
    "CaptureReader",
    "CaptureWriter",
    "ForeignRecord",
    "IncidentRecord",
    "LogRecord",
    "Record",
    "RecordingError",
    "SampleRecord",
    "StartRecord",
    "decode",
    "incident_object",
    "node_object",
    "state_s",
]


class RecordingError(ValueError):
    """A line that is not in the capture format: where, what was found, what was expected."""


@dataclass(frozen=True, slots=True)
class StartRecord:
    """The first line: when ``t`` began (Unix seconds; 0 in a run on scenario time), and where."""

    epoch_s: float
    host: str
    t: float = 0.0


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """One reading of the node."""

    t: float
    sample: NodeSample


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One line of a log."""

    t: float
    line: LogLine


@dataclass(frozen=True, slots=True)
class IncidentRecord:
    """An incident that opened, changed or cleared."""

    t: float
    incident: Incident


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """An event that others add to a journal and the monitor passes over."""

    t: float
    event: str


Record = StartRecord | SampleRecord | LogRecord | IncidentRecord | ForeignRecord


# ---------------------------------------------------------------------------- out


_IDENTITY = frozenset({"index", "uuid", "bus_id", "name", "slot", "return_code", "missing"})
_READINGS = tuple(f.name for f in fields(GpuSample) if f.name not in _IDENTITY)
_GPU_NAMES = tuple(f.name for f in fields(GpuSample))
_gpu_values = attrgetter(*_GPU_NAMES)
_PROCESS_NAMES = tuple(f.name for f in fields(ProcessSample))
_ANCESTOR_NAMES = tuple(f.name for f in fields(Ancestor))
_HOST_NAMES = tuple(f.name for f in fields(HostSample))
_PCI_NAMES = tuple(f.name for f in fields(PciGpu))
_LINK_NAMES = tuple(f.name for f in fields(LinkSample))
_TCP_NAMES = tuple(f.name for f in fields(TcpSample))
_MIG_NAMES = tuple(f.name for f in fields(MigInstance))
_LISTENER_NAMES = tuple(f.name for f in fields(ListenerSample))
_INCIDENT_NAMES = tuple(f.name for f in fields(Incident))


def _gpu_object(gpu: GpuSample, status: GpuStatus | None, time_s: float) -> dict[str, Any]:
    """One GPU. Readings kept from before it fell silent are left out: they are not of now."""
    shown: dict[str, Any] = dict(zip(_GPU_NAMES, _gpu_values(gpu), strict=True))
    shown["missing"] = dict(gpu.missing)
    if gpu.mig_instances is not None:
        shown["mig_instances"] = [_plain(one, _MIG_NAMES) for one in gpu.mig_instances]
    if status is None:
        return shown
    if status.age_s > 0:
        why = status.reason or "no answer"
        shown.update(dict.fromkeys(_READINGS))
        shown["missing"] = dict.fromkeys(_READINGS, why)
    shown["state"] = status.state.value
    shown["state_s"] = round(state_s(status, time_s), 3)
    shown["age_s"] = round(status.age_s, 3)
    shown["state_reason"] = status.reason
    shown["state_since_start"] = status.since_start
    return shown


def state_s(status: GpuStatus, time_s: float) -> float:
    """How long a GPU has been in its state, at the time of a reading.

    One that began with that very reading has lasted for as long as the reading is old.
    """
    return max(time_s - status.since_s, 0.0) or status.age_s


def node_object(sample: NodeSample, statuses: tuple[GpuStatus, ...] = ()) -> dict[str, Any]:
    """A reading of a node as JSON writes it; with ``statuses``, each GPU's state beside it."""
    by_position = statuses or (None,) * len(sample.gpus)
    return {
        "host": sample.host,
        "time_s": sample.time_s,
        "driver": sample.driver,
        "cuda": sample.cuda,
        "gpu_count": sample.gpu_count,
        "gpus": [
            _gpu_object(gpu, status, sample.time_s)
            for gpu, status in zip(sample.gpus, by_position, strict=True)
        ],
        "processes": [_plain(process, _PROCESS_NAMES) for process in sample.processes],
        "error": sample.error,
        "error_code": sample.error_code,
        "on_bus": None
        if sample.on_bus is None
        else [_plain(gpu, _PCI_NAMES) for gpu in sample.on_bus],
        "device_files": sample.device_files,
        "host_readings": _plain(sample.host_readings, _HOST_NAMES),
        "links": [_plain(link, _LINK_NAMES) for link in sample.links],
        "tcp": _plain(sample.tcp, _TCP_NAMES),
        "listeners": [_plain(one, _LISTENER_NAMES) for one in sample.listeners],
        "ancestors": [_plain(one, _ANCESTOR_NAMES) for one in sample.ancestors],
    }


def _plain(one: object, names: tuple[str, ...]) -> dict[str, Any] | None:
    """A model type whose fields are as JSON wants them."""
    return None if one is None else {name: getattr(one, name) for name in names}


def incident_object(incident: Incident) -> dict[str, Any]:
    """An incident as JSON writes it: words for its enumerations."""
    shown: dict[str, Any] = {name: getattr(incident, name) for name in _INCIDENT_NAMES}
    shown["severity"] = incident.severity.word
    shown["action"] = incident.action.value
    return shown


class TextOut(Protocol):
    """What a capture is written to."""

    def write(self, text: str, /) -> object:
        """Write some text."""

    def flush(self) -> object:
        """Send it off."""


class CaptureWriter:
    """Writes a capture, one flushed line a record. The start line goes out with the first one."""

    def __init__(self, out: TextOut) -> None:
        self._out = out
        self._epoch_s: float | None = None

    def start(self, host: str, epoch_s: float) -> None:
        """Write the first line."""
        self._epoch_s = epoch_s
        self._write({"t": 0, "event": "start", "epoch_s": epoch_s, "host": host})

    def sample(self, sample: NodeSample, statuses: tuple[GpuStatus, ...] = ()) -> None:
        """Write one reading."""
        t = self._t(sample.time_s, sample.host)
        self._write({"t": t, "event": "sample", **node_object(sample, statuses)})

    def log(self, line: LogLine, host: str = "") -> None:
        """Write one line of a log."""
        t = self._t(line.time_s, host)
        self._write({"t": t, "event": "log", "source": line.source, "text": line.text})

    def incident(self, incident: Incident, time_s: float) -> None:
        """Write an incident that changed at ``time_s``."""
        t = self._t(time_s, incident.host)
        self._write({"t": t, "event": "incident", "incident": incident_object(incident)})

    def _t(self, time_s: float, host: str) -> float:
        if self._epoch_s is None:
            self.start(host, time_s)
            return 0
        return round(time_s - self._epoch_s, 6)

    def _write(self, record: Mapping[str, Any]) -> None:
        text = json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        self._out.write(text + "\n")
        self._out.flush()


# ---------------------------------------------------------------------------- in


def _may_do_harm(line: str | bytes) -> bool:
    """Whether there may be a character that is not printable in a line of JSON.

    In ASCII it can only be written with a backslash, but for DEL (RFC 8259, section 7).
    """
    if isinstance(line, bytes):
        return b"\\" in line or b"\x7f" in line or not line.isascii()
    return "\\" in line or "\x7f" in line or not line.isascii()


def _harmless(value: Any) -> Any:
    """What was read from JSON, with nothing in its texts that a terminal might obey."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    if isinstance(value, dict):
        return {harmless(name): _harmless(one) for name, one in value.items()}
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number in JSON")


class CaptureReader:
    """Reads a capture line by line; remembers the start, and counts lines for its errors."""

    def __init__(self, name: str = "capture") -> None:
        self.host = ""
        self.epoch_s = 0.0
        self._name = name
        self._line = 0

    def read(self, text: str | bytes) -> Record | None:
        """Return the record on one line; None when the line is blank.

        Raises :class:`RecordingError` with the line's number when it is not in the format.
        """
        self._line += 1
        if not text.strip():
            return None
        try:
            raw = json.loads(text, parse_constant=_no_constant)
            if _may_do_harm(text):
                raw = _harmless(raw)
        except (ValueError, RecursionError) as error:
            raise self._error(f"not JSON ({error})") from None
        try:
            return self._record(decoding.members(raw, "the line"))
        except WrongError as wrong:
            found = "nothing" if wrong.found is MISSING else _shorten(wrong.found)
            raise self._error(f"{wrong.where}: found {found}, expected {wrong.expected}") from None

    def read_all(self, lines: Iterable[str | bytes]) -> Iterable[Record]:
        """Return the records of many lines."""
        return (record for line in lines if (record := self.read(line)) is not None)

    def _record(self, raw: dict[str, object]) -> Record:
        t = decoding.number(raw.get("t", MISSING), "t")
        event = decoding.text(raw.get("event", MISSING), "event")
        if event == "sample":
            return SampleRecord(t, decode(NodeSample, raw, ""))
        if event == "log":
            source = decoding.text(raw.get("source", MISSING), "source")
            text = decoding.text(raw.get("text", MISSING), "text")
            return LogRecord(t, LogLine(self.epoch_s + t, source, text))
        if event == "incident":
            return IncidentRecord(t, decode(Incident, raw.get("incident", MISSING), "incident"))
        if event == "start":
            self.epoch_s = decoding.number(raw.get("epoch_s", MISSING), "epoch_s")
            self.host = decoding.text(raw.get("host", MISSING), "host")
            return StartRecord(self.epoch_s, self.host, t)
        return ForeignRecord(t, event)

    def _error(self, problem: str) -> RecordingError:
        return RecordingError(f"{self._name}, line {self._line}: {problem}")


def _shorten(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
