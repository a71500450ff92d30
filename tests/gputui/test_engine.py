"""The engine: one cause is one incident, from its opening to its end, whatever comes."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.incidents import casebook
from gputui.incidents.engine import Engine
from gputui.incidents.evidence import bounded
from gputui.incidents.maintenance import Window
from gputui.incidents.rule import (
    CRITICAL,
    INFO,
    WARNING,
    Finding,
    Over,
    Subject,
    after,
    job_rule,
    log_rule,
    rule,
)
from gputui.incidents.rule import samples as in_a_row
from gputui.logs.job_event import JobEvent
from gputui.model import Action, NodeSample

GPU = Subject("gpu:GPU-1", 1)


def finding(**given):
    return Finding(
        **{
            "subject": GPU, "cause": "unknown", "cause_text": "why", "action": Action.IGNORE,
            "action_text": "do", **given,
        }
    )  # fmt: skip


@rule(kind="Hot", severity=CRITICAL, holds=in_a_row(3), clears=in_a_row(3))
def hot(now, past):
    """The node is hot when its driver says so: a rule for tests."""
    if now.driver == "hot":
        yield finding(evidence=(f"at {now.time_s:g}",))
    elif now.driver == "steady":
        yield finding(evidence=("steady",))


@log_rule(kind="Said", severity=INFO, clears=after(minutes=1))
def said(event, past):
    """Whatever the log says, by its code: a rule for tests."""
    if event.code == 0:
        yield Over(GPU)
    else:
        yield finding(key=str(event.code), evidence=(event.text,), under=("Hot",))


@pytest.fixture
def engine():
    return Engine([hot, said], interval_s=1.0)


def run(engine, pattern, start_s=0.0, step_s=1.0):
    """Give the engine one sample for each character: ``x`` hot, ``.`` not; the open kinds after."""
    opened = []
    for position, mark in enumerate(pattern):
        time_s = start_s + position * step_s
        engine.sample(NodeSample("n0", time_s, driver="hot" if mark == "x" else None))
        opened.append(bool(engine.incidents))
    return "".join("o" if is_open else "-" for is_open in opened)


@pytest.mark.parametrize(
    ("pattern", "opened"),
    [
        ("..xx..xx.", "---------"),
        ("..xxx....", "----ooo--"),
        ("xxxx.x.x.x", "--oooooooo"),
        ("xxx...xxx", "--ooo---o"),
    ],
)
def test_an_incident_opens_when_it_held_and_clears_when_it_is_over_for_long(
    engine, pattern, opened
):
    """Flicker neither opens nor clears; both take the time that the rule asks for."""
    assert run(engine, pattern) == opened


def test_samples_need_not_come_to_the_millisecond(engine):
    """Three samples in a row are three also when they come a little early."""
    assert run(engine, "xxx", step_s=0.97) == "--o"


def test_what_comes_back_soon_is_the_same_incident_reopened(engine):
    """A relapse is not news; the count says how often."""
    run(engine, "xxx...")
    (before,) = engine.changes()
    run(engine, "xxx", start_s=60)
    (again,) = engine.incidents
    assert (again.id, again.count, again.cleared_s) == (before.id, 2, None)
    assert before.cleared_s is not None


def test_what_comes_back_late_is_a_new_incident(engine):
    """After a quiet time it is another incident, with its own beginning."""
    run(engine, "xxx...")
    (before,) = engine.changes()
    run(engine, "xxx", start_s=3600)
    (new,) = engine.incidents
    assert new.id != before.id
    assert (new.count, new.opened_s) == (1, 3600)


def test_a_burst_of_lines_is_one_incident_with_a_count(engine, make):
    """Each code is one incident, however often it comes; two codes are two."""
    for second in range(12):
        engine.log(make.xid(second, 1, 79))
    engine.log(make.xid(12, 1, 45))
    counts = {incident.evidence[0].split(": ")[2]: incident.count for incident in engine.incidents}
    assert counts == {"79, ": 12, "45, ": 1}


def test_what_an_incident_explains_hangs_under_it(engine, make):
    """The cause is listed with its consequences behind it, whichever came first."""
    engine.log(make.xid(0, 1, 79))
    assert run(engine, "xxx") == "ooo"
    engine.log(make.xid(3, 1, 45))
    root, *children = engine.incidents
    assert (root.kind, root.parent) == ("Hot", None)
    assert {child.parent for child in children} == {root.id}
    assert root.children == tuple(sorted(child.id for child in children))
    run(engine, "...", start_s=4)
    assert engine.incidents == ()


@job_rule(kind="Died", severity=CRITICAL, clears=after(minutes=1))
def died(event, past):
    """A job that said two things: a rule for tests."""
    if len(past.job_events(event.job)) > 1:
        yield finding(subject=Subject.of_job(event.job), cause=event.field("why"))


def test_what_a_job_says_is_heard_and_remembered():
    """A rule of job logs sees what the same job said before, and nobody else's words."""
    engine = Engine([died], interval_s=1.0)
    for time_s, job in ((1.0, "a"), (2.0, "b"), (3.0, "a")):
        engine.job(JobEvent("torch-oom", "oom", time_s, "text", job, fields=(("why", "shortage"),)))
    (incident,) = engine.incidents
    assert (incident.subject, incident.cause, incident.opened_s) == ("job:a", "shortage", 3.0)
    engine.pass_time(64.0)
    assert engine.incidents == ()


def test_a_rule_may_say_that_it_is_over(engine, make):
    """A line that takes back what lines said before clears it at once."""
    engine.log(make.xid(0, 1, 31))
    engine.log(make.xid(1, 1, 0))
    assert engine.incidents == ()


def test_lines_clear_after_a_quiet_time(engine, make):
    """An event is over when it has not happened for as long as the rule says."""
    engine.log(make.xid(0, 1, 31))
    engine.log(make.xid(30, 1, 31))
    engine.pass_time(80)
    assert engine.incidents
    engine.pass_time(91)
    assert not engine.incidents


def test_only_real_changes_are_told(engine):
    """New words come every second; opening, counting and clearing are news."""
    run(engine, "xxxxxxxx")
    assert len(engine.changes()) == 1
    run(engine, "xxx", start_s=8)
    assert engine.changes() == []


def test_an_acknowledged_incident_stays_open(engine):
    """Somebody has seen it; that does not end it."""
    run(engine, "xxx")
    (incident,) = engine.incidents
    assert engine.acknowledge(incident.id)
    assert engine.incidents[0].acknowledged
    assert not engine.acknowledge("nobody")


def test_the_worst_comes_first_then_the_newest(engine, make):
    """Who looks at the list from the top sees first what matters most."""
    engine.log(make.xid(0, 1, 31))
    engine.log(make.xid(5, 1, 32))
    run(engine, "xxx", start_s=10)
    engine.acknowledge("x")
    kinds = [(incident.kind, incident.opened_s) for incident in engine.incidents]
    assert kinds == [("Hot", 10), ("Said", 5), ("Said", 0)]


def test_evidence_is_the_first_and_the_last_pieces():
    """However much comes, the beginning and the latest are kept, with the count between them."""
    evidence = ()
    for number in range(100):
        evidence = bounded(evidence, (f"line {number}",))
    assert evidence[:2] == ("line 0", "line 1")
    assert evidence[4] == "... 84 more ..."
    assert (evidence[5], evidence[-1]) == ("line 88", "line 99")
    assert len(evidence) == 17


def test_every_piece_of_evidence_has_its_time(engine, make):
    """Of lines each one, of readings what is new; what is a day old has its date."""
    now_s = 1_764_500_000.0
    engine.sample(NodeSample("n0", now_s))
    for time_s in (now_s - 90_000, now_s - 30, now_s - 30):
        engine.log(make.xid(time_s, 1, 31, "same"))
    run(engine, "xxxx", start_s=now_s)
    pieces = {incident.kind: incident.evidence for incident in engine.incidents}
    day, hour = (time.strftime(form, time.localtime(now_s - 90_000)) for form in ("%F", "%T"))
    minute = time.strftime("%T", time.localtime(now_s - 30))
    line = "NVRM: Xid (PCI:0000:11:00): 31, same"
    assert pieces["Said"] == (f"{day} {hour} {line}", f"{minute} {line}", f"{minute} {line}")
    assert pieces["Hot"][0].startswith(time.strftime("%T at ", time.localtime(now_s + 2)))


def test_readings_that_stay_are_told_once(engine, make):
    """The time in front of a reading is when it was first so."""
    for second in range(30):
        engine.sample(NodeSample("n0", float(second), driver="steady"))
    (incident,) = engine.incidents
    assert [piece[9:] for piece in incident.evidence] == ["steady"]


def test_memory_is_bounded_and_the_grave_outlives_the_mild(engine, make, monkeypatch):
    """A flood of different things costs the least of them, not the memory."""
    monkeypatch.setattr(casebook, "MOST_CASES", 10)
    run(engine, "xxx")
    for code in range(1, 100):
        engine.log(make.xid(3 + code, 1, code))
    kinds = Counter(incident.kind for incident in engine.incidents)
    assert kinds == {"Hot": 1, "Said": 9}


events = st.lists(
    st.tuples(st.integers(0, 50), st.sampled_from([0, 31, 45, 79]) | st.booleans()), max_size=40
)


def played(steps, make):
    """Everything that was told, and what is open at the end."""
    engine = Engine([hot, said], interval_s=1.0)
    told = []
    for time_s, what in steps:
        if isinstance(what, bool):
            engine.sample(NodeSample("n0", float(time_s), driver="hot" if what else None))
        else:
            engine.log(make.xid(float(time_s), 1, what))
        told.append(engine.changes())
    return told, engine.incidents


@given(events)
def test_nothing_is_open_twice_and_the_same_history_gives_the_same_incidents(make, steps):
    """At no time are two incidents open for one thing; ids depend on nothing but what came."""
    steps = sorted(steps, key=lambda step: step[0])
    told, opened = played(steps, make)
    assert (told, opened) == played(steps, make)
    seen = Counter((incident.kind, incident.subject, incident.id) for incident in opened)
    assert all(count == 1 for count in seen.values())
    for incident in opened:
        assert incident.cleared_s is None
        assert incident.count >= 1
        assert incident.opened_s <= 50


@given(events)
def test_what_healed_clears(make, steps):
    """After a long time without any finding nothing is open."""
    engine = Engine([hot, said], interval_s=1.0)
    for time_s, what in sorted(steps, key=lambda step: step[0]):
        if isinstance(what, bool):
            engine.sample(NodeSample("n0", float(time_s), driver="hot" if what else None))
        else:
            engine.log(make.xid(float(time_s), 1, what))
    for second in range(100, 110):
        engine.sample(NodeSample("n0", float(second * 20)))
    assert engine.incidents == ()


@given(st.permutations([31, 45, 79, 79]))
def test_the_order_of_events_at_one_time_does_not_matter(make, codes):
    """Lines of one moment may come in any order."""
    engine = Engine([said], interval_s=1.0)
    engine.meet(make.node(4.0))
    for code in codes:
        engine.log(make.xid(5.0, 1, code))
    found = {(incident.id, incident.count) for incident in engine.incidents}
    assert found == {
        ("n0/gpu1/Said-31/5", 1), ("n0/gpu1/Said-45/5", 1), ("n0/gpu1/Said-79/5", 2),
    }  # fmt: skip


@log_rule(kind="Hot", severity=CRITICAL, clears=after(minutes=1))
def told_to_be_hot(event, past):
    """What readings show may be told by the log as well: a rule for tests."""
    if event.code == 99:
        yield finding(evidence=(event.text,))


def test_what_is_told_and_shown_is_one_incident_and_who_saw_it_last_says_when_it_is_over(make):
    """A line opens it at once; readings that show the same take it over, and clear it."""
    engine = Engine([hot, told_to_be_hot], interval_s=1.0)
    engine.log(make.xid(0.0, 1, 99))
    assert [one.kind for one in engine.incidents] == ["Hot"]
    assert run(engine, "xxx...", start_s=1.0) == "ooooo-"
    engine.log(make.xid(100.0, 1, 99))
    run(engine, "....", start_s=101.0)
    assert [one.count for one in engine.incidents] == [2]
    engine.pass_time(161.0)
    assert engine.incidents == ()


def test_an_incident_may_be_put_off_until_a_time(engine):
    """Nobody is called meanwhile; it stays on the list, and comes back at that time."""
    run(engine, "xxx")
    (incident,) = engine.incidents
    assert incident.is_page
    assert engine.snooze(incident.id, 60.0)
    assert not engine.snooze("nobody", 60.0)
    assert run(engine, "x" * 50, start_s=3.0).endswith("o")
    assert not engine.incidents[0].is_page
    run(engine, "x" * 10, start_s=55.0)
    assert engine.incidents[0].is_page


def test_nothing_is_put_off_for_more_than_a_week(engine):
    """Whoever puts something off for ever has forgotten it."""
    run(engine, "xxx")
    engine.snooze(engine.incidents[0].id, 1e12)
    assert engine.incidents[0].snoozed_until_s == 2.0 + 7 * 86_400


@log_rule(kind="Worse", severity=WARNING, clears=after(minutes=1))
def worse(event, past):
    """Grave from code 50 on: a rule for tests."""
    yield finding(severity=CRITICAL if event.code >= 50 else None)


def test_what_becomes_graver_is_no_longer_put_off_or_seen(make):
    """Somebody has seen a warning; that is not to have seen what it became."""
    engine = Engine([worse], interval_s=1.0)
    engine.log(make.xid(0.0, 1, 1))
    (incident,) = engine.incidents
    engine.snooze(incident.id, 600.0)
    engine.acknowledge(incident.id)
    engine.log(make.xid(1.0, 1, 2))
    assert not engine.incidents[0].is_page
    engine.log(make.xid(2.0, 1, 50))
    (graver,) = engine.incidents
    assert (graver.id, graver.is_page, graver.snoozed_until_s) == (incident.id, True, None)


def test_what_happens_in_maintenance_is_told_and_marked(make):
    """The window has a name, which the incident bears for as long as the window is open."""
    windows = (
        Window("new cables", subjects=("gpu1",), kinds=frozenset({"Hot"}), start_s=2.0, end_s=30.0),
    )
    engine = Engine([hot, said], interval_s=1.0, maintenance=windows)
    run(engine, "xxxx")
    engine.log(make.xid(3.0, 1, 31))
    marks = {one.kind: (one.maintenance, one.is_page) for one in engine.incidents}
    assert marks == {"Hot": ("new cables", False), "Said": (None, False)}
    assert engine.next_look_s == 30.0
    run(engine, "x" * 28, start_s=4.0)
    assert {one.kind: one.is_page for one in engine.incidents}["Hot"]


def test_nobody_has_to_look_while_nothing_is_open(engine, make):
    """The engine says when a sample may change something; for a quiet node that is never."""
    run(engine, "...")
    assert engine.next_look_s is None
    run(engine, "x", start_s=3.0)
    assert engine.next_look_s == pytest.approx(4.9)
    run(engine, "xx", start_s=4.0)
    assert engine.next_look_s is None
    run(engine, ".", start_s=6.0)
    assert engine.next_look_s == pytest.approx(7.9)
    run(engine, "...", start_s=7.0)
    engine.log(make.xid(10.0, 1, 31))
    assert engine.next_look_s == pytest.approx(69.9)


@log_rule(kind="Named", severity=INFO, clears=after(minutes=1))
def named(event, past):
    """A GPU that is known by another name each time: a rule for tests."""
    yield finding(subject=Subject(f"gpu:{event.code}", 1))


def test_two_things_never_have_one_id(make):
    """A GPU may be known by its address first, and by its UUID a moment later."""
    engine = Engine([named], interval_s=1.0)
    for code in (7, 8):
        engine.log(make.xid(5.0, 1, code))
    ids = [one.id for one in engine.incidents]
    assert len(set(ids)) == 2
