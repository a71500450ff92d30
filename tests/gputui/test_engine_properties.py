"""The engine under whatever comes: properties that hold for every history."""

import dataclasses
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gputui.incidents.engine import Engine
from gputui.incidents.rule import (
    CRITICAL,
    WARNING,
    Cause,
    Finding,
    LookAgain,
    Over,
    Subject,
    after,
    job_rule,
    log_rule,
    rule,
)
from gputui.incidents.rule import samples as in_a_row
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample

GPUS = 3
ALL = tuple(f"gpu:{index}" for index in range(GPUS))


def finding(subject, **given):
    return Finding(subject, "unknown", "why", Action.IGNORE, "do", **given)


@rule(kind="Hot", severity=WARNING, holds=in_a_row(3), clears=after(seconds=20))
def hot(now, past):
    """A GPU above 80 C; all of them are the room."""
    found = [gpu for gpu in now.gpus if (gpu.temperature_c or 0) > 80]
    if len(found) == GPUS:
        yield finding(Subject.of_node(now.host), covers=ALL)
    for gpu in found:
        yield finding(Subject(f"gpu:{gpu.index}", gpu.index))
    yield LookAgain(now.time_s + 30)


@rule(kind="Gone", severity=CRITICAL, holds=in_a_row(1), clears=in_a_row(4))
def gone(now, past):
    """A GPU that does not answer."""
    for gpu in now.gpus:
        if gpu.return_code:
            yield finding(Subject(f"gpu:{gpu.index}", gpu.index))


@log_rule(kind="Xid", severity=WARNING, clears=after(minutes=1))
def xid(event, past):
    """Each code on each GPU; 0 takes everything back, and 45 may be the consequence of 48."""
    subject = Subject(f"gpu:{event.bus_id}", int(event.bus_id))
    if event.code == 0:
        yield Over(subject)
        return
    causes = (Cause("Xid", key="48", within_s=10),) if event.code == 45 else ()
    severity = CRITICAL if event.code == 48 else None
    yield finding(
        subject, key=str(event.code), evidence=(event.text,), severity=severity,
        under=("Gone", *causes),
    )  # fmt: skip


@job_rule(kind="Failed", severity=WARNING, clears=after(minutes=1))
def failed(event, past):
    """A job that fails because of what one of its GPUs says."""
    causes = tuple(Cause("Xid", on=name, within_s=30) for name in ALL)
    yield finding(Subject.of_job(event.job), evidence=(event.text,), under=causes)


RULES = (hot, gone, xid, failed)


@dataclasses.dataclass(frozen=True)
class Look:
    """A sample: which GPUs are hot, and which are gone."""

    time_s: float
    hot: frozenset[int]
    gone: frozenset[int]


indices = st.frozensets(st.integers(0, GPUS - 1))
times = st.integers(0, 200).map(float)
looks = st.builds(Look, times, indices, indices)
kernel = st.builds(
    lambda time_s, gpu, code, pid: KernelEvent(
        "xid", time_s, f"Xid {code} {pid}", bus_id=str(gpu), code=code, pid=pid
    ),
    times, st.integers(0, GPUS - 1), st.sampled_from([0, 31, 45, 48]), st.integers(1, 2),
)  # fmt: skip
jobs = st.builds(
    lambda time_s, job: JobEvent("error", "torch", time_s, "error", job=job),
    times, st.sampled_from(["a", "b"]),
)  # fmt: skip
histories = st.lists(looks | kernel | jobs, max_size=60).map(
    lambda steps: sorted(steps, key=lambda step: step.time_s)
)


def new_engine():
    return Engine(RULES, interval_s=1.0)


def take(engine, step):
    if isinstance(step, Look):
        gpus = tuple(
            GpuSample(
                index,
                return_code=15 if index in step.gone else 0,
                temperature_c=90 if index in step.hot else 50,
            )
            for index in range(GPUS)
        )
        engine.sample(NodeSample("n0", step.time_s, gpus=gpus))
    elif isinstance(step, KernelEvent):
        engine.log(step)
    else:
        engine.job(step)


def what(incidents):
    """Everything about incidents but the order of their evidence."""
    return {
        one.id: dataclasses.replace(one, evidence=tuple(sorted(one.evidence))) for one in incidents
    }


@settings(deadline=None)
@given(histories)
def test_nothing_is_open_twice(steps):
    """At no time are two incidents open for one thing, and no id is ever another thing's."""
    engine = new_engine()
    things = {}
    for step in steps:
        take(engine, step)
        incidents = engine.incidents
        keys = Counter(one.id.rpartition("/")[0] for one in incidents)
        assert all(count == 1 for count in keys.values())
        assert len({one.id for one in incidents}) == len(incidents)
        for one in engine.changes():
            assert things.setdefault(one.id, (one.kind, one.subject)) == (one.kind, one.subject)


@settings(deadline=None)
@given(histories)
def test_children_and_parents_agree_and_are_open(steps):
    """Who is named as a cause is open and names its consequences; nothing explains itself."""
    engine = new_engine()
    for step in steps:
        take(engine, step)
        by_id = {one.id: one for one in engine.incidents}
        for one in by_id.values():
            if one.parent is not None:
                assert one.id in by_id[one.parent].children
            assert all(by_id[child].parent == one.id for child in one.children)
            above, seen = one, {one.id}
            while above.parent is not None:
                above = by_id[above.parent]
                assert above.id not in seen
                seen.add(above.id)


@settings(deadline=None)
@given(histories)
def test_what_healed_clears_and_is_told(steps):
    """A quiet hour later nothing is open, and everything that was told has been told to be over."""
    engine = new_engine()
    told = {}
    for step in [
        *steps,
        *(Look(300.0 + at, frozenset(), frozenset()) for at in range(0, 3600, 60)),
    ]:
        take(engine, step)
        told |= {one.id: one for one in engine.changes()}
    assert engine.incidents == ()
    assert all(one.cleared_s is not None for one in told.values())
    assert all(one.cleared_s >= one.opened_s for one in told.values())


@settings(deadline=None)
@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_what_happens_at_one_time_does_not_matter(steps, chance):
    """Lines with the same stamp, of whichever log, may come in any order."""
    shuffled = []
    for time_s in sorted({step.time_s for step in steps}):
        at_once = [step for step in steps if step.time_s == time_s]
        events = [step for step in at_once if not isinstance(step, Look)]
        chance.shuffle(events)
        shuffled += [*events, *(step for step in at_once if isinstance(step, Look))]
    steps = sorted(steps, key=lambda step: (step.time_s, isinstance(step, Look)))
    first, second = new_engine(), new_engine()
    for step, other in zip(steps, shuffled, strict=True):
        take(first, step)
        take(second, other)
    assert first.incidents == second.incidents
    assert first.cleared == second.cleared


@settings(deadline=None)
@given(histories)
def test_whoever_reads_in_between_changes_nothing(steps):
    """Asking for the incidents, or for when to look next, has no effect on them."""
    first, second = new_engine(), new_engine()
    steps = sorted(steps, key=lambda step: (step.time_s, isinstance(step, Look)))
    seen = {}
    for step, following in zip(steps, [*steps[1:], None], strict=False):
        take(first, step)
        take(second, step)
        if following is None or following.time_s != step.time_s:
            assert second.next_look_s is None or second.next_look_s >= 0
            assert what(second.incidents) == what(second.incidents)
            seen |= {one.id: one for one in second.changes()}
    assert first.incidents == second.incidents
    assert {one.id for one in first.changes()} == seen.keys()


@settings(deadline=None)
@given(histories)
def test_a_moment_to_look_lies_ahead(steps):
    """Who looks when the engine wants to does not look for ever at one moment."""
    engine = new_engine()
    for step in steps:
        take(engine, step)
    now_s = max((step.time_s for step in steps), default=0.0)
    for _ in range(50):
        now_s = max(now_s, engine.next_look_s or now_s) + 1e-6
        take(engine, Look(now_s, frozenset(), frozenset()))
    assert engine.next_look_s is not None
    assert engine.next_look_s > now_s


@settings(max_examples=50, deadline=None)
@given(histories, histories)
def test_what_is_recalled_goes_on(before, later):
    """After a restart nothing is open twice, and what heals clears."""
    engine = new_engine()
    for step in before:
        take(engine, step)
    saved = engine.saved
    again = new_engine()
    again.recall(saved)
    assert {one.id for one in again.incidents} == {one.incident.id for one in saved}
    for step in later:
        take(again, dataclasses.replace(step, time_s=step.time_s + 250))
        keys = Counter(one.id.rpartition("/")[0] for one in again.incidents)
        assert all(count == 1 for count in keys.values())
    for at in range(0, 3600, 60):
        take(again, Look(500.0 + at, frozenset(), frozenset()))
    assert again.incidents == ()
