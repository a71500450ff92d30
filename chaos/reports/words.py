"""Lines of a journal, in words: what happened, on one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chaos.journal import Record
from fakes.clock import SECOND_US


def said(record: Record) -> str:
    """What a line tells.

    >>> said(Record(7, 5_000_000, "heal", {"id": "airway"}))
    'healed airway'
    """
    words = _WORDS.get(record.event)
    return words(record.facts) if words else record.event


def at(us: int) -> str:
    """A moment of the run: ``8.5 s``, ``4:05``, ``1:00:00``.

    >>> at(245_000_000)
    '4:05'
    """
    seconds = us / SECOND_US
    if seconds < 60:
        return f"{seconds:.4g} s"
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def deciding(records: Sequence[Record], numbers: Sequence[int]) -> list[Record]:
    """The lines of a journal that decided something; those that it has."""
    return [records[number - 1] for number in numbers if 0 < number <= len(records)]


def whom(facts: Mapping[str, Any]) -> str:
    """The node, GPU and job that an action or a reading concerns: ``n0/3``, ``job train``."""
    parts = [str(facts[name]) for name in ("node", "gpu") if facts.get(name) is not None]
    place = "/".join(parts)
    job = facts.get("job")
    return " ".join(one for one in (place, f"job {job}" if job is not None else "") if one)


def incident_of(facts: Mapping[str, Any]) -> str:
    """Which incident: its kind, and on whom."""
    one = facts["incident"]
    subject = str(one["subject"])
    place = str(one["host"]) if one["gpu"] is None else f"{one['host']}/{one['gpu']}"
    job = f", {subject.replace(':', ' ', 1)}" if subject.startswith(("job:", "nic:")) else ""
    return f"{one['kind']} on {place}{job}"


def _fault(facts: Mapping[str, Any]) -> str:
    arguments = " ".join(f"{name}={value}" for name, value in facts["arguments"].items())
    return f"fault {facts['id']}: {facts['fault']} {arguments}"


def _incident(facts: Mapping[str, Any]) -> str:
    one = facts["incident"]
    what = "cleared" if one["cleared_s"] is not None else f"{one['severity']}, {one['cause_text']}"
    return f"{incident_of(facts)}: {what}"


def _action(facts: Mapping[str, Any]) -> str:
    refused = "" if facts.get("ok", True) else ", refused"
    detail = f" ({facts['detail']})" if facts.get("detail") else ""
    return f"{facts['action']} on {whom(facts)}{refused}{detail}"


def _call(facts: Mapping[str, Any]) -> str:
    name, *arguments = (str(word) for word in facts["argv"])
    text = " ".join([name.rpartition("/")[2], *arguments])
    ended = f" ended with {facts['exit']}" if "exit" in facts else ""
    return f"{facts['node']}$ {text}{ended}"


def _state(facts: Mapping[str, Any]) -> str:
    return f"{facts['state']} " + ("holds" if facts["holds"] else f"does not hold: {facts['why']}")


def _runbook(facts: Mapping[str, Any]) -> str:
    if "exit" not in facts:
        return f"the runbook starts on {facts['node']}: {' '.join(map(str, facts['argv']))}"
    status = facts["exit"]
    return "the runbook was ended" if status is None else f"the runbook ends with {status}"


def _reading(facts: Mapping[str, Any]) -> str:
    if "temperature_c" not in facts:
        return f"{whom(facts)} cannot be read"
    return f"{whom(facts)}: {facts['temperature_c']:g} C, {facts['sm_clock_mhz']} MHz"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "fault": _fault,
    "heal": lambda facts: f"healed {facts['id']}",
    "incident": _incident,
    "action": _action,
    "call": _call,
    "return": _call,
    "log": lambda facts: f"{facts['node']} {facts['source']}: {facts['text']}",
    "state": _state,
    "runbook": _runbook,
    "reading": _reading,
    "hint": lambda facts: f"hint: {facts['text']}",
    "unknown": lambda facts: str(facts["why"]),
}
