"""A GPU that fails again and again, and is mended in vain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.age import age
from gputui.clock import clock
from gputui.incidents.advice import ACTION_TEXTS, board
from gputui.incidents.failures import Failure
from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Over, Subject, rule, samples
from gputui.model import Action, GpuSample, Incident, NodeSample

_DAY_S = 86_400.0
_MOST_TOLD = 5


def _after_failure(incident: Incident, time_s: float, past: History) -> Iterator[Finding]:
    """In a log there is nothing but failures to look at: each is the moment to count them."""
    failures = _counted(incident.subject, time_s, past)
    if len(failures) >= past.thresholds.repeats:
        yield _finding(Subject(incident.subject, incident.gpu), None, failures)


@rule(
    kind="LemonGpu",
    severity=WARNING,
    holds=samples(1),
    clears=samples(1),
    on_failed_gpu=_after_failure,
)
def lemon_gpu(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """Three failures of a GPU within 30 days (``repeats``, ``repeats_within``) are no coincidence.

    NVSentinel gives a node up after five repairs in seven days, gpud inspects the hardware when an
    Xid comes back after two reboots, and SuperBench found the time to the next incident of a node
    fall from 719 h after its first to 152 h after its twentieth: whoever fails twice fails again
    soon. What a failure is, :mod:`gputui.incidents.failures` says. They are remembered over
    restarts, and are the board's: one that is put in its place begins anew. While the last failure
    lasts this hangs under it.
    """
    by_name = {Subject.of_gpu(gpu).name: gpu for gpu in now.gpus}
    for name in past.failures.names:
        gpu = by_name.get(name)
        if gpu is None:
            yield Over(Subject(name))
            continue
        failures = _counted(name, now.time_s, past)
        if len(failures) >= past.thresholds.repeats:
            yield _finding(Subject.of_gpu(gpu), gpu, failures)


def _counted(name: str, time_s: float, past: History) -> list[Failure]:
    return past.failures.since(name, time_s - past.thresholds.repeats_within_s)


def _finding(subject: Subject, gpu: GpuSample | None, failures: Sequence[Failure]) -> Finding:
    last, which = failures[-1], board(gpu)
    within = age(max(last.last_s - failures[0].time_s, 1.0))
    return Finding(
        subject,
        cause="repeat-offender",
        cause_text=f"{len(failures)} failures within {within}, the last: {last.text}",
        action=Action.REPLACE_GPU,
        action_text=ACTION_TEXTS[Action.REPLACE_GPU] + (f" ({which})" if which else ""),
        evidence=tuple(
            f"{clock(one.time_s, last.time_s + _DAY_S)} {one.kinds[0]}: {one.text}"
            for one in failures[-_MOST_TOLD:]
        ),
        since_s=last.time_s,
        under=last.kinds,
    )
