"""What a rule is: readings or log lines in, findings out. One rule a file, in ``rules/``.

::

    @rule(kind="GpuPowerBrake", severity=CRITICAL, holds=samples(3), clears=after(minutes=10))
    def power_brake(now: NodeSample, past: History) -> Iterator[Finding]:
        \"\"\"A GPU's power brake is on. One is its cable; all at once is the rack.\"\"\"
        for gpu in now.gpus:
            if (gpu.clock_reasons or 0) & ClockReasons.HW_POWER_BRAKE_SLOWDOWN:
                yield Finding(Subject.of_gpu(gpu), cause="supply", ...)

A rule of samples yields what is so now, at every sample for as long as it is; the engine opens an
incident when that held long enough, and clears it when it has been over for long enough. A rule of
the kernel log (:func:`log_rule`) or of job logs (:func:`job_rule`) yields once for each event that
means something; each opens at once or counts. Rules are pure: no clock, no input, no memory of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gputui.incidents.history import History
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, Incident, NodeSample, Severity
from gputui.silence import Silence

INFO = Severity.INFO
WARNING = Severity.WARNING
CRITICAL = Severity.CRITICAL


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time: seconds, or so many samples in a row at whatever interval they come."""

    seconds: float = 0.0
    samples: int = 1

    def in_seconds(self, interval_s: float) -> float:
        """The time from the first to the last of it."""
        return self.seconds + (self.samples - 1) * interval_s


def samples(count: int) -> Span:
    """So many samples in a row."""
    return Span(samples=count)


def after(*, seconds: float = 0.0, minutes: float = 0.0, hours: float = 0.0) -> Span:
    """So much time."""
    return Span(seconds=seconds + 60 * minutes + 3600 * hours)


@dataclass(frozen=True, slots=True)
class Subject:
    """With whom something is wrong. ``name`` is ``gpu:UUID``, ``node:NAME`` ...; see the model."""

    name: str
    gpu: int | None = None

    @classmethod
    def of_gpu(cls, gpu: GpuSample) -> Subject:
        """A GPU: by its UUID, or by what else is known of it."""
        return cls(f"gpu:{gpu.uuid or gpu.bus_id or gpu.index}", gpu.index)

    @classmethod
    def of_bus(cls, bus_id: str) -> Subject:
        """A GPU that only the log knows, by its PCI address."""
        return cls(f"gpu:{bus_id}")

    @classmethod
    def of_node(cls, host: str) -> Subject:
        """The whole node: what concerns all its GPUs, or the driver."""
        return cls(f"node:{host}")

    @classmethod
    def of_job(cls, job: str) -> Subject:
        """A job, by its id: what concerns all its ranks."""
        return cls(f"job:{job}")

    @classmethod
    def of_nic(cls, name: str) -> Subject:
        """A network port, by the kernel's name."""
        return cls(f"nic:{name}")


ANYBODY = "*"
"""For the cause of a finding: whomever of the node it concerns."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Which open incident explains a finding.

    One of ``kind``; with ``key`` given, that of this key alone. ``on`` is whom it has to concern,
    the finding's own subject if not given, :data:`ANYBODY` for all of the node. With ``within_s``
    it must have happened so shortly before the finding did; the words of two who fail together may
    also come in the other order; ``anew`` says that of what lasts the beginning counts.
    ``at_least`` is how grave it has to be.
    """

    kind: str
    key: str | None = None
    on: str | None = None
    within_s: float | None = None
    at_least: Severity = INFO
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a rule noticed.

    ``key`` tells several incidents of one kind on one subject apart (the Xid's code). ``under`` are
    its possible causes, the first that is open counts; a kind stands for any of that kind on the
    same subject. ``since_s`` is when it began, where the
    rule knows better than the engine. ``severity``, ``holds``, ``clears`` override the rule's.
    ``others`` are the names of further subjects that it concerns (the other end of a link): what is
    wrong there for this reason finds it there. ``covers`` are the names of subjects whose own
    findings of this kind and key it stands for (all GPUs of a hot room): they open no incidents of
    their own, and those that are open already hang under this one.
    """

    subject: Subject
    cause: str
    cause_text: str
    action: Action
    action_text: str
    evidence: tuple[str, ...] = ()
    key: str = ""
    under: tuple[str | Cause, ...] = ()
    since_s: float | None = None
    severity: Severity | None = None
    holds: Span | None = None
    clears: Span | None = None
    others: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Over:
    """What a rule noticed earlier on a subject is over, whatever its key."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class LookAgain:
    """A rule wants to look at ``at_s`` even if nothing happens until then.

    Who watches by events rather than second by second looks then. A threshold on what only changes
    when something happens needs none; one that a trend will cross by itself does.
    """

    at_s: float


Noticed = Finding | Over | LookAgain

Hears = frozenset[tuple[str, int | None]]
"""Which events of the kernel log a rule looks at: by their kind and code; None for any code."""


def lines(*kinds: str) -> Hears:
    """All events of some kinds. What else there is is named after a bar: ``lines("dpc") | ...``."""
    return frozenset((kind, None) for kind in kinds)


def xids(*codes: int) -> Hears:
    """The Xids of some codes."""
    return frozenset(("xid", code) for code in codes)


SampleLook = Callable[[NodeSample, History], Iterable[Noticed]]
LogLook = Callable[[KernelEvent, History], Iterable[Noticed]]
JobLook = Callable[[JobEvent, History], Iterable[Noticed]]
SilenceLook = Callable[[Silence, NodeSample, History], Iterable[Finding]]
GraveLook = Callable[[Incident, float, History], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, as the decorators make it. One of ``on_sample``, ``on_log`` and ``on_job`` is there.

    A rule of samples may also have something to say while none comes (``on_silence``), of a sample
    in which the driver as a whole failed (``on_failure``), of the kernel log (``on_log``), and of a
    GPU that has failed anew (``on_failed_gpu``). Of the kernel log it sees what it ``hears``, all
    of it if None.
    """

    kind: str
    severity: Severity
    holds: Span
    clears: Span
    on_sample: SampleLook | None = None
    on_log: LogLook | None = None
    on_silence: SilenceLook | None = None
    on_job: JobLook | None = None
    on_failure: SampleLook | None = None
    on_failed_gpu: GraveLook | None = None
    hears: Hears | None = None

    @property
    def is_of_events(self) -> bool:
        """Whether what it notices may happen once, rather than being so for a time."""
        return self.on_log is not None or self.on_job is not None

    def looks_at(self, event: KernelEvent) -> bool:
        """Whether it wants to see an event of the kernel log."""
        if self.on_log is None or self.hears is None:
            return self.on_log is not None
        return (event.kind, None) in self.hears or (event.kind, event.code) in self.hears


def rule(
    *,
    kind: str,
    severity: Severity,
    holds: Span,
    clears: Span,
    on_silence: SilenceLook | None = None,
    on_failure: SampleLook | None = None,
    on_log: LogLook | None = None,
    on_failed_gpu: GraveLook | None = None,
    hears: Hears | None = None,
) -> Callable[[SampleLook], Rule]:
    """Make a function of ``(now, past)`` a rule that looks at every sample.

    ``on_silence`` is a function of ``(silence, last, past)``; ``last`` is the last sample.
    ``on_failure`` gets, as ``now``, a sample without GPUs, whose ``error_code`` says how the driver
    failed. ``on_log`` is a function of ``(event, past)``, for what the kernel says of the same, of
    the events that it ``hears``;
    ``on_failed_gpu`` of ``(incident, time_s, past)``, the grave incident and when it happened.
    """

    def make(look: SampleLook) -> Rule:
        return Rule(
            kind,
            severity,
            holds,
            clears,
            on_sample=look,
            on_log=on_log,
            on_silence=on_silence,
            on_failure=on_failure,
            on_failed_gpu=on_failed_gpu,
            hears=hears,
        )

    return make


def log_rule(
    *, kind: str, severity: Severity, clears: Span, hears: Hears | None = None
) -> Callable[[LogLook], Rule]:
    """Make a function of ``(event, past)`` a rule that looks at events of the kernel log: at those
    that it ``hears``, or at all.
    """

    def make(look: LogLook) -> Rule:
        return Rule(kind, severity, samples(1), clears, on_log=look, hears=hears)

    return make


def job_rule(*, kind: str, severity: Severity, clears: Span) -> Callable[[JobLook], Rule]:
    """Make a function of ``(event, past)`` a rule that looks at every event of job logs."""

    def make(look: JobLook) -> Rule:
        return Rule(kind, severity, samples(1), clears, on_job=look)

    return make
