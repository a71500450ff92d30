"""What belongs together hangs together: secondary Xids, one job's Xids, a room, a job's words."""

from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.job_causes import causes_for_job
from gputui.incidents.rule import CRITICAL, WARNING, Cause, Finding, Subject, after, job_rule, rule
from gputui.incidents.rule import samples as in_a_row
from gputui.incidents.rules.gpu_lost import gpu_lost
from gputui.incidents.rules.gpu_xid import gpu_xid
from gputui.logs.job_event import JobEvent
from gputui.model import Action, ProcessSample


@job_rule(kind="JobFailed", severity=CRITICAL, clears=after(minutes=10))
def job_failed(event, past):
    """A job that said anything: a rule for tests."""
    yield Finding(
        Subject.of_job(event.job),
        cause="application",
        cause_text=event.text,
        action=Action.RESTART_APP,
        action_text="restart",
        under=causes_for_job(event.job, past, event_s=event.time_s),
    )


@rule(kind="Brake", severity=WARNING, holds=in_a_row(3), clears=in_a_row(4))
def brake(now, past):
    """One GPU's brake is its cable, all are the rack: a rule for tests."""
    braked = [gpu for gpu in now.gpus if gpu.clock_reasons == 0x80]
    names = tuple(Subject.of_gpu(gpu).name for gpu in braked)
    common = {"cause_text": "why", "action": Action.CHECK_POWER, "action_text": "do"}
    if len(braked) == len(now.gpus):
        yield Finding(Subject.of_node(now.host), cause="rack", covers=names, **common)
    for gpu in braked:
        yield Finding(Subject.of_gpu(gpu), cause="supply", **common)


@pytest.fixture
def engine(make):
    """The rules for Xids and lost GPUs, and those of these tests, on four GPUs."""
    engine = Engine([gpu_lost, gpu_xid, job_failed, brake], interval_s=1.0)
    engine.sample(node(make, 0.0))
    return engine


def node(make, time_s, *changed):
    """Four GPUs, each with a process of the job ``train``."""
    sample = make.node(time_s, *changed, count=4)
    processes = tuple(
        ProcessSample(4001 + gpu, gpu, job="train", job_kind="slurm", command="python3 train.py")
        for gpu in range(4)
    )
    return replace(sample, processes=processes)


def tree(engine):
    """The open incidents, each as ``kind key: subject``, with those under it."""
    incidents = engine.incidents
    names = {
        one.id: f"{one.id.split('/')[2]} {one.subject.partition(':')[0]}{one.gpu or ''}"
        for one in incidents
    }
    roots = [one for one in incidents if one.parent is None]
    return {names[one.id]: sorted(names[child] for child in one.children) for one in roots}


@pytest.mark.parametrize("order", [(48, 45, 13), (13, 45, 48), (45, 48, 13)])
def test_what_an_xid_brings_about_hangs_under_it(engine, make, order):
    """Channels removed after a memory error are part of it, in whichever order they are told."""
    for at, code in enumerate(order):
        engine.log(make.xid(10.0 + at / 2, 1, code))
    roots = [one for one in engine.incidents if one.parent is None]
    assert len(roots) == 1
    assert sum(one.kind == "GpuXid" for one in engine.incidents) == 3


def test_an_xid_on_another_gpu_or_long_before_is_no_consequence(engine, make):
    """An application's own error has nothing to do with what failed elsewhere or later."""
    engine.log(make.xid(10.0, 2, 13))
    engine.log(make.xid(60.0, 1, 31))
    engine.log(make.xid(100.0, 1, 119))
    parents = {one.id.split("/")[2]: one.parent for one in engine.incidents}
    assert parents["GpuXid-13"] is None
    assert parents["GpuXid-31"] is None


def test_a_line_may_name_its_cause_itself(engine, make):
    """Newer drivers say which Xid a channel was removed for; that counts however long ago."""
    engine.log(make.xid(10.0, 1, 109))
    engine.log(replace(make.xid(300.0, 1, 45), caused_by=109))
    assert tree(engine) == {"GpuXid-109 gpu1": ["GpuXid-45 gpu1"]}


def test_one_xid_on_all_gpus_of_a_job_is_the_job(engine, make):
    """An illegal address in a kernel that every rank runs strikes all GPUs of the job at once."""
    for gpu in range(4):
        event = make.xid(10.0 + gpu / 10, gpu, 31)
        engine.log(replace(event, pid=4001 + gpu, process="python3"))
    (root,) = [one for one in engine.incidents if one.parent is None]
    assert (root.subject, root.cause) == ("job:train", "application")
    assert "all 4 GPUs of train" in root.cause_text
    engine.log(replace(make.xid(300.0, 2, 31), pid=4003, process="python3"))
    assert [one.count for one in engine.incidents if one.parent is None] == [5]


@pytest.mark.parametrize("lines", [1, 2])
def test_a_jobs_xid_counts_what_was_told_before_it_was_known_to_be_the_jobs(make, lines):
    """Eight lines are eight, whether or not the first of them stood alone for a moment."""
    engine = Engine([gpu_xid], interval_s=1.0)
    for number in range(8 * lines):
        event = make.xid(10.0 + number / 100, number % 8, 31)
        engine.log(replace(event, process="python3"))
    (root,) = [one for one in engine.incidents if one.parent is None]
    assert (root.subject, root.count) == ("job:python3", 8 * lines)


@pytest.mark.parametrize("pids", [(4002, 4002), (4002, None), (None, 4002)])
@pytest.mark.parametrize("code", [13, 31, 43, 62, 109])
def test_a_removed_channel_hangs_under_the_xid_before_it(engine, make, code, pids):
    """NVIDIA's catalogue says of Xid 45 that the one before it is to be followed."""
    engine.log(replace(make.xid(10.0, 1, code), pid=pids[0]))
    for at in range(3):
        engine.log(replace(make.xid(10.4 + at, 1, 45), pid=pids[1]))
    engine.log(replace(make.xid(60.0, 1, 45), pid=pids[1]))
    assert tree(engine) == {f"GpuXid-{code} gpu1": ["GpuXid-45 gpu1"]}


@pytest.mark.parametrize(("at_s", "pid", "gpu"), [(10.4, 77, 1), (40.0, 4002, 1), (10.4, 4002, 2)])
def test_a_channel_removed_elsewhere_or_later_or_of_another_stands_alone(
    engine, make, at_s, pid, gpu
):
    """One process's fault is no reason to remove another's channel."""
    engine.log(replace(make.xid(10.0, 1, 31), pid=4002))
    engine.log(replace(make.xid(at_s, gpu, 45), pid=pid))
    assert tree(engine) == {"GpuXid-31 gpu1": [], f"GpuXid-45 gpu{gpu}": []}


def test_of_several_xids_the_earliest_grave_one_is_the_cause(engine, make):
    """What the application ran into is no reason where the GPU itself had failed."""
    for at_s, code in ((10.0, 31), (10.2, 109), (10.4, 62), (10.6, 45)):
        engine.log(make.xid(at_s, 1, code))
    assert "GpuXid-45 gpu1" in tree(engine)["GpuXid-109 gpu1"]


def test_a_processor_that_halts_and_what_follows_is_one_incident(engine, make):
    """The driver's time-outs come of what had stopped the GPU before."""
    for at_s, code in ((10.0, 62), (10.5, 45), (11.0, 45), (11.9, 119)):
        engine.log(make.xid(at_s, 1, code))
    assert list(tree(engine)) == ["GpuXid-62 gpu1"]


def test_the_channels_of_a_whole_job_hang_under_its_xid(engine, make):
    """Every rank's fault, and then every rank's channel: the job's own doing, told once."""
    for at_s, code in ((10.0, 31), (10.5, 45)):
        for gpu in range(4):
            event = make.xid(at_s + gpu / 100, gpu, code)
            engine.log(replace(event, pid=4001 + gpu, process="python3"))
    (root,) = [one for one in engine.incidents if one.parent is None]
    assert (root.subject, root.count, "Xid 31" in root.cause_text) == ("job:train", 4, True)


def test_one_xid_on_some_gpus_of_a_job_is_theirs(engine, make):
    """Two of four ranks do not make it the job's."""
    for gpu in range(2):
        engine.log(replace(make.xid(10.0, gpu, 31), pid=4001 + gpu, process="python3"))
    assert {one.subject[:4] for one in engine.incidents} == {"gpu:"}


def test_without_jobs_one_process_name_on_three_gpus_at_once_is_one_job(make):
    """A log alone names processes, not jobs."""
    engine = Engine([gpu_xid], interval_s=1.0)
    for gpu in range(3):
        engine.log(replace(make.xid(10.0, gpu, 31), process="python3"))
    (root,) = engine.incidents
    assert (root.subject, root.count) == ("job:python3", 3)


def test_a_jobs_dying_words_hang_under_what_happened_to_its_gpu(engine, make):
    """The job says that it failed; the GPU that fell off the bus is why, whoever speaks first."""
    engine.job(JobEvent("nccl-error", "nccl", 10.0, "unhandled cuda error", job="train"))
    assert list(tree(engine)) == ["JobFailed job"]
    engine.log(make.xid(10.5, 2, 79))
    engine.sample(node(make, 11.0, make.lost(2)))
    assert tree(engine) == {"GpuLost gpu2": ["GpuXid-79 gpu2", "JobFailed job"]}


def test_a_job_that_fails_elsewhere_or_later_is_an_incident_of_its_own(engine, make):
    """A GPU of another job is not to blame, nor is one that failed long before."""
    engine.log(make.xid(10.0, 2, 79))
    engine.sample(node(make, 11.0, make.lost(2)))
    engine.job(JobEvent("torch-error", "torch", 12.0, "error", job="other"))
    assert "JobFailed job" in tree(engine)


def test_what_covers_others_is_one_incident(engine, make):
    """All brakes at once are the rack; no GPU opens an incident of its own."""
    for second in range(1, 6):
        engine.sample(node(make, second, *(make.gpu(gpu, clock_reasons=0x80) for gpu in range(4))))
    assert tree(engine) == {"Brake node": []}


def test_what_was_open_before_hangs_under_what_covers_it(engine, make):
    """The first GPU looked like a bad cable; then it was the rack. When only one is left, it is
    that one's again.
    """
    one = make.gpu(0, clock_reasons=0x80)
    all_of_them = [make.gpu(gpu, clock_reasons=0x80) for gpu in range(4)]
    for second in range(1, 5):
        engine.sample(node(make, second, one))
    assert tree(engine) == {"Brake gpu": []}
    for second in range(5, 10):
        engine.sample(node(make, second, *all_of_them))
    assert tree(engine) == {"Brake node": ["Brake gpu"]}
    for second in range(10, 20):
        engine.sample(node(make, second, one))
    assert tree(engine) == {"Brake gpu": []}


def test_what_hung_under_what_is_known_after_a_restart(engine, make):
    """Also where the cause was told by its key and its time, which nobody remembers."""
    engine.log(make.xid(10.0, 1, 119))
    engine.log(make.xid(11.0, 1, 45))
    before = tree(engine)
    again = Engine([gpu_lost, gpu_xid], interval_s=1.0)
    again.recall(engine.saved)
    assert tree(again) == before == {"GpuXid-119 gpu1": ["GpuXid-45 gpu1"]}


def test_only_what_stands_alone_calls_somebody(engine, make):
    """A consequence is its cause's matter, information is nobody's, and what was seen is known."""
    engine.log(make.xid(10.0, 1, 79))
    engine.log(make.xid(10.5, 1, 45))
    engine.sample(node(make, 11.0, make.lost(1)))
    pages = [one for one in engine.incidents if one.is_page]
    assert [one.kind for one in pages] == ["GpuLost"]
    engine.acknowledge(pages[0].id)
    assert not any(one.is_page for one in engine.incidents)


def test_nothing_explains_itself(make):
    """Two kinds that name each other as cause make no circle."""

    @rule(kind="A", severity=WARNING, holds=in_a_row(1), clears=in_a_row(1))
    def first(now, past):
        yield Finding(Subject("x"), "c", "t", Action.IGNORE, "do", under=("B",))

    @rule(kind="B", severity=WARNING, holds=in_a_row(1), clears=in_a_row(1))
    def second(now, past):
        yield Finding(Subject("x"), "c", "t", Action.IGNORE, "do", under=(Cause("A"),))

    engine = Engine([first, second], interval_s=1.0)
    engine.sample(make.node(1.0))
    parents = [one.parent for one in engine.incidents]
    assert parents.count(None) == 1
