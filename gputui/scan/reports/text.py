"""``gputui scan``: a short table for people. Incidents first, then what else was seen."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from gputui.model import Severity
from gputui.scan.judge import Found

_MOST_SHOWN = 40
_CALENDAR_FROM_S = 1e8
"""Before this (1973) a time is no date but seconds since a boot."""


def write(found: Sequence[Found], events: Mapping[str, int], names: Sequence[str]) -> str:
    """The incidents in lines of two, what was counted, and how to see more."""
    lines = [_title(found, events)]
    hosts = {one.incident.host for one in found}
    shown = found[:_MOST_SHOWN]
    for one in shown:
        lines += _incident(one, with_host=len(hosts) > 1)
    if len(found) > len(shown):
        lines.append(f"... and {len(found) - len(shown)} more incidents; --json shows all")
    if events:
        counted = ", ".join(f"{count} {kind}" for kind, count in Counter(events).most_common())
        lines.append(f"events: {counted}")
    example = _example(found)
    if example:
        lines.append(f"more:   gputui explain {example}")
    if events:
        lines.append(f"        gputui scan --json {' '.join(names)}")
    return "\n".join(lines) + "\n"


def _title(found: Sequence[Found], events: Mapping[str, int]) -> str:
    if not found:
        return "no incidents" if events else "nothing about GPUs"
    counts = Counter(one.incident.severity for one in found if one.incident.parent is None)
    graded = [f"{counts[one]} {one.word}" for one in reversed(Severity) if counts[one]]
    return f"INCIDENTS  {', '.join(graded)}"


def _incident(one: Found, *, with_host: bool) -> list[str]:
    incident = one.incident
    indent = "  " if incident.parent else ""
    where = f" on {incident.host}" if with_host else ""
    count = f" x{incident.count}" if incident.count > 1 else ""
    return [
        f"{indent}{incident.severity.word:<8} {incident.kind} {incident.subject}{where}{count}  "
        f"{_span(incident.opened_s, one.last_s)}",
        f"{indent}         {incident.cause}: {incident.cause_text}  > {incident.action_text}",
    ]


def _span(first_s: float, last_s: float) -> str:
    first, last = _moment(first_s), _moment(last_s)
    if first == last:
        return first
    if first[:10] == last[:10] and last_s > _CALENDAR_FROM_S:
        last = last[11:]
    return f"{first} - {last}"


def _moment(time_s: float) -> str:
    if time_s <= 0:
        return "without a time"
    if time_s < _CALENDAR_FROM_S:
        return f"{time_s:.0f} s after boot"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time_s))


def _example(found: Sequence[Found]) -> str:
    """What to ask ``gputui explain`` about the worst."""
    if not found:
        return ""
    worst = found[0].incident
    code = worst.id.rpartition("/")[0].rpartition("-")[2]
    return code if worst.kind == "GpuXid" and code.isdecimal() else worst.kind
