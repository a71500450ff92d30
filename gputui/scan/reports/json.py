"""``gputui scan --json``: a line an event as it is found, then a line an incident."""

from __future__ import annotations

import json
from collections.abc import Iterable

from gputui.logs.job_event import JobEvent
from gputui.recording import incident_object
from gputui.scan.judge import Found
from gputui.scan.reader import Located, kind_of

_SELDOM = ("gpu_instance", "compute_instance", "caused_by")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def event_line(one: Located) -> str:
    """One event. What its line does not have is null; ``time_s`` is, where there is no date."""
    event = one.event
    shown: dict[str, object] = {
        "event": kind_of(event),
        "file": one.file,
        "line": one.line,
        "bus_id": None,
        "code": None,
        "pid": event.pid,
        "process": None,
        "text": event.text,
        "host": event.host or one.host,
        "time_s": event.time_s if one.is_dated else None,
    }
    if isinstance(event, JobEvent):
        shown |= {"pattern": event.pattern, "family": event.family, "job": event.job}
        shown |= {"rank": event.rank, "gpu": event.gpu}
    else:
        shown |= {"bus_id": event.bus_id, "code": event.code, "process": event.process}
        for name in _SELDOM:
            value = getattr(event, name)
            if value is not None:
                shown[name] = value
        if event.times > 1:
            shown["times"] = event.times
    return _encode(shown) + "\n"


def incident_lines(found: Iterable[Found]) -> Iterable[str]:
    """The incidents, each with the time when it was last told."""
    for one in found:
        shown = {**incident_object(one.incident), "last_s": one.last_s}
        yield _encode({"event": "incident", "incident": shown}) + "\n"
