"""What a job's words come to: which of them decides, and the finding that it makes.

When a job fails, every rank has something to say: the one with the cause, those that waited for it,
the launcher, the scheduler. The word that explains most decides, and is one incident; what follows
from it adds none, and what came before it hangs under it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gputui.incidents.history import History
from gputui.incidents.job_causes import causes_for_job
from gputui.incidents.job_tries import has_only_tried, is_only_trying
from gputui.incidents.rule import CRITICAL, INFO, WARNING, Finding, Subject, after
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role, TextFact, text_fact
from gputui.model import Action, Severity

QUIET = after(hours=1)
"""A job that has failed stays so; after an hour it is no news."""

_SAME_RUN_S = 3600.0
"""A rank may wait as long for one that has failed; what is older was another run."""

_MOST_LINES = 3
"""Of the same text from many ranks, so many lines are evidence."""

_STRONGEST_FIRST = (
    "GpuLost", "GpuMissing", "GpuResetRequired", "EccUncorrectable", "NvlinkErrors",
    "FabricNotReady", "NodeDown",
    "DriverMismatch", "DriverNotLoaded", "ContainerLostGpu", "CudaVersionMismatch", "StorageStall",
    "GpuOutOfMemory", "IbLinkDegraded", "NcclInitFailed", "JobFailed", "NcclTimeout",
    "SlowCollective",
)  # fmt: skip
"""What is wrong with what a job runs on explains its own failure, and that what its peers say."""

_GRAVE = frozenset(
    {
        Action.RESET_GPU,
        Action.RELOAD_DRIVER,
        Action.REBOOT_NODE,
        Action.POWER_CYCLE,
        Action.DRAIN_AND_RESET,
        Action.REPLACE_GPU,
    }
)

_PLACE = re.compile(r"\{(\w+)\}")

_USUAL: Mapping[str, str] = {"interface": "eth0"}
"""What stands for a part that the text does not name, where there is a usual one."""


def told(event: JobEvent, kind: str) -> TextFact | None:
    """What is known of an event's text, if it makes an incident of this kind."""
    fact = text_fact(event.pattern)
    if fact is None or fact.kind != kind or fact.role is Role.CONTEXT:
        return None
    return fact


def decides(event: JobEvent, fact: TextFact, past: History) -> bool:
    """Whether nothing that the same job said explains more than this text does.

    A rank that only tried to reach a peer explains nothing.
    """
    own = _weakness(fact)
    return not any(
        abs(last_s - event.time_s) <= _SAME_RUN_S
        and (known := text_fact(pattern)) is not None
        and known.role in (Role.CAUSE, Role.SYMPTOM)
        and _weakness(known) < own
        and not is_only_trying(past.job_said(event.job, pattern)[-1], past)
        for pattern, last_s in past.job_patterns(event.job).items()
    )


def is_outdone(
    event: JobEvent, fact: TextFact, past: History, is_mild: Callable[[JobEvent], bool]
) -> bool:
    """Whether an event is a mild one, and the same job said of the same kind that it did fail.

    What was said at one moment has no order, and what is mild may come once more after a failure.
    """
    if not is_mild(event):
        return False
    return any(
        abs(last_s - event.time_s) <= _SAME_RUN_S
        and (known := text_fact(pattern)) is not None
        and (known.kind, known.role) == (fact.kind, Role.CAUSE)
        and not all(map(is_mild, past.job_said(event.job, pattern)))
        for pattern, last_s in past.job_patterns(event.job).items()
    )


def job_finding(
    event: JobEvent,
    fact: TextFact,
    past: History,
    *,
    cause: str | None = None,
    cause_text: str | None = None,
    action: Action | None = None,
    action_text: str | None = None,
    severity: Severity | None = None,
    gpu: int | None = None,
) -> Finding:
    """The finding of a text, as the facts have it unless the rule knows better."""
    job = event.job or "?"
    deed = action or fact.action
    if severity is None:
        severity = CRITICAL if deed in _GRAVE else WARNING
        if fact.role is Role.HINT:
            severity = INFO
    stronger = _STRONGEST_FIRST[: _STRONGEST_FIRST.index(fact.kind)]
    if fact.kind == "JobFailed" and fact.role is Role.SYMPTOM:
        stronger = (*stronger, "NcclTimeout")
    if has_only_tried(event.job, past):
        stronger = tuple(kind for kind in stronger if kind != "NcclInitFailed")
    around = [cause for cause in causes_for_job(job, past, event_s=event.time_s) if cause.on]
    return Finding(
        Subject(Subject.of_job(job).name, gpu),
        cause=cause or fact.cause,
        cause_text=cause_text or meaning_of(fact, event),
        action=deed,
        action_text=action_text or advice_of(fact, event),
        evidence=(event.text,) if _is_news(event, past) else (),
        under=(*around, *stronger),
        severity=severity,
    )


def meaning_of(fact: TextFact, event: JobEvent) -> str:
    """What a text means, with its parts in their places; what it does not name leaves no trace."""
    text = _filled(fact.meaning, dict(event.fields), lambda name: "")
    return re.sub(r"\s*\([\s,]*\)|[\s:,]+$|\s+(?=[.,:;)])", "", re.sub(r" {2,}", " ", text))


def advice_of(fact: TextFact, event: JobEvent, **known: str) -> str:
    """What to do, with what is known in its place; what is not is for the reader to put in."""
    return _filled(fact.advice, {**_USUAL, **dict(event.fields), **known}, str.upper)


def _filled(words: str, parts: Mapping[str, str], missing: Callable[[str], str]) -> str:
    return _PLACE.sub(lambda found: parts.get(found[1]) or missing(found[1]), words)


def _is_news(event: JobEvent, past: History) -> bool:
    """Whether it is among the first lines that say the same: those are kept as evidence."""
    return event in past.job_said(event.job, event.pattern)[:_MOST_LINES]


def _weakness(fact: TextFact) -> int:
    """The less, the more a text explains. A symptom explains little, that a job ended least."""
    kinds = len(_STRONGEST_FIRST)
    if fact.kind not in _STRONGEST_FIRST or fact.role in (Role.CONTEXT, Role.HINT):
        return 3 * kinds
    if fact.role is Role.SYMPTOM:
        return 2 * kinds if fact.kind == "JobFailed" else kinds + _STRONGEST_FIRST.index(fact.kind)
    return _STRONGEST_FIRST.index(fact.kind)
