"""Faults of use: memory, processes, idle GPUs; each has its incident, in time, and heal ends it."""

import pytest

from gputui.model import Action, Severity


def _is_over(run, opened):
    return all(one.id != opened.incident.id for one in run.incidents)


def test_growing_memory_is_foreseen_minutes_ahead(watched):
    """A leak of 50 MiB a second is told when there are five minutes left, and says so."""
    run = watched()
    run.run(10)
    fault = run.inject("memory", gpu=2, grow="50MiB/s", job="train")
    run.run(120)
    opened = run.the("GpuMemoryPressure")
    assert (opened.incident.gpu, opened.incident.cause) == (2, "leak")
    assert opened.incident.severity is Severity.WARNING
    assert "full in 5 min, growing 50 MiB/s" in opened.incident.cause_text
    # From 60 GiB on, the 79.2 GiB that processes can have are full after 393 s.
    assert 93 <= opened.took_s <= 96
    run.heal(fault.id)
    run.run(120)
    assert _is_over(run, opened)


def test_a_leak_in_little_memory_is_told_as_soon_as_it_is_sure(watched):
    """Faster growth leaves less time: half a minute makes it sure."""
    run = watched()
    run.run(60)
    run.inject("memory", gpu=2, grow="200MiB/s")
    run.run(50)
    assert run.the("GpuMemoryPressure").took_s <= 40


@pytest.mark.parametrize("interval_s", [0.5, 5, 20, 30])
def test_growth_is_seen_at_every_interval(watched, interval_s):
    """From twice a second to twice a minute, as soon as it is sure."""
    run = watched(interval_s=interval_s)
    run.run(60)
    run.inject("memory", gpu=2, grow="50MiB/s")
    run.run(300)
    opened = run.the("GpuMemoryPressure")
    assert opened.incident.cause == "leak"
    assert opened.took_s <= 96 + 3 * interval_s


def test_memory_that_is_full_at_once_is_a_shortage(watched):
    """No trend, no room: three samples tell it."""
    run = watched()
    run.run(10)
    fault = run.inject("memory", gpu=5, to="79GiB")
    run.run(10)
    opened = run.the("GpuMemoryPressure")
    assert (opened.incident.gpu, opened.incident.cause) == (5, "shortage")
    assert opened.took_s <= 3
    run.heal(fault.id)
    run.run(90)
    assert _is_over(run, opened)


@pytest.mark.parametrize(
    ("words", "cause"), [({"leak": "20GiB"}, "leak"), ({"zombie": "20GiB"}, "zombie")]
)
def test_memory_of_nobody_is_told_with_its_cause(watched, words, cause):
    """Ten seconds later: a process that ended may need them."""
    run = watched(idle=True)
    run.run(10)
    fault = run.inject("memory", gpu=3, **words)
    run.run(30)
    opened = run.the("GpuMemoryHeld")
    assert (opened.incident.gpu, opened.incident.cause) == (3, cause)
    assert opened.incident.action is Action.FREE_MEMORY
    assert "20.0 GiB held by" in opened.incident.cause_text
    assert "fuser -v /dev/nvidia3" in opened.incident.action_text
    assert opened.took_s <= 13
    run.heal(fault.id)
    run.run(10)
    assert _is_over(run, opened)


def test_a_leak_beside_a_job_is_told_as_well(watched):
    """What the job holds is not counted."""
    run = watched()
    run.run(10)
    run.inject("memory", gpu=3, leak="10GiB")
    run.run(30)
    assert "10.0 GiB held by nobody" in run.the("GpuMemoryHeld").incident.cause_text


def test_a_process_that_leaves_its_memory_behind_is_a_zombie(watched):
    """Its PID is named; the others of the job go on."""
    run = watched()
    run.run(10)
    run.inject("process", gpu=1, zombie=True)
    run.run(30)
    held = run.the("GpuMemoryHeld").incident
    assert (held.gpu, held.cause) == (1, "zombie")
    assert "pid 4002, which has ended" in held.cause_text


def test_a_gpu_that_rests_for_a_quarter_of_an_hour_is_told(watched):
    """One of a job's GPUs rests: it is that GPU's, and a warning, for nobody else can have it."""
    run = watched()
    run.run(10)
    fault = run.inject("process", gpu=4, idle=True)
    run.run(1000)
    opened = run.the("GpuIdleAllocated")
    assert (opened.incident.gpu, opened.incident.severity) == (4, Severity.WARNING)
    assert 895 <= opened.took_s <= 905
    run.heal(fault.id)
    run.run(10)
    assert _is_over(run, opened)


def test_a_job_that_rests_as_a_whole_is_one_incident(watched):
    """All of its GPUs: the job's, once."""
    run = watched()
    run.run(10)
    run.inject("process", gpu="n0/*", idle=True)
    run.run(1000)
    assert run.the("GpuIdleAllocated").incident.subject == "job:train"


def test_a_pause_for_a_checkpoint_is_nobodys_trouble(watched):
    """Ten minutes without a kernel, then on."""
    run = watched()
    run.run(10)
    run.inject("process", for_s=600, gpu="n0/*", idle=True)
    run.run(2000)
    assert run.opened() == []


def test_jobs_that_come_and_go_are_nobodys_trouble(watched):
    """Starts, ends and restarts, for a day."""
    run = watched()
    for _ in range(6):
        run.run(3600).inject("job", restart="train", pause="90s")
        run.run(3600).inject("job", stop="train")
        run.run(3600).inject("job", start="train", gpus="n0/*", memory="70GiB")
        run.run(3600)
    assert [one for one in run.opened() if one.incident.severity > Severity.INFO] == []


def test_a_stranger_is_nobodys_trouble_unless_users_are_named(watched):
    """Who may use the GPUs is the site's to say."""
    run = watched()
    run.run(10)
    run.inject("process", gpu=1, alien="eve", memory="4GiB")
    run.run(30)
    assert run.kinds() == []


def test_a_job_that_ends_as_its_gpu_is_lost_has_failed_for_it(watched):
    """Its processes are gone a while after the GPU: it hangs under the loss."""
    run = watched()
    run.run(10)
    run.inject("xid", gpu=3, code=79)
    run.run(60)
    run.inject("job", stop="train")
    run.run(5)
    failed = run.the("JobFailed").incident
    assert (failed.subject, failed.cause) == ("job:train", "lost-gpu")
    assert failed.parent == run.the("GpuLost").incident.id
    assert run.kinds() == ["GpuLost"]


def test_a_job_that_merely_ends_is_no_incident(watched):
    """Also when another job's GPU is broken."""
    run = watched(idle=True)
    run.run(10)
    run.inject("job", start="a", gpus="n0/0..3")
    run.inject("job", start="b", gpus="n0/4..7")
    run.run(10)
    run.inject("xid", gpu=7, code=79)
    run.run(60)
    run.inject("job", stop="a")
    run.run(30)
    assert "job:a" not in {one.incident.subject for one in run.opened("JobFailed")}


@pytest.mark.parametrize(
    ("family", "words", "seconds"),
    [
        ("memory", {"gpu": 0, "grow": "100MiB/s"}, 100),
        ("memory", {"gpu": 0, "to": "79GiB"}, 60),
        ("memory", {"gpu": 0, "leak": "8GiB"}, 60),
        ("process", {"gpu": 0, "idle": True}, 950),
        ("process", {"gpu": 0, "zombie": True}, 60),
        ("process", {"gpu": 0, "starved": "40%"}, 300),
        ("process", {"gpu": 0, "listens": 8888}, 20),
    ],
)
def test_looking_at_events_tells_what_looking_every_second_does(watched, family, words, seconds):
    """The same incidents, at the same times to a second."""

    def told(looks):
        run = watched(looks=looks, gpus=1)
        run.run(40)
        run.inject(family, **words)
        run.run(seconds)
        return [(one.incident.kind, one.incident.gpu, one.at_s) for one in run.opened()]

    polled, by_events = told("polling"), told("event-driven")
    assert [one[:2] for one in polled] == [one[:2] for one in by_events] != []
    assert all(abs(one[2] - other[2]) <= 1 for one, other in zip(polled, by_events, strict=True))


def test_a_starved_job_is_told_with_what_it_waits_for(watched):
    """Its GPUs are used little while tasks wait for I/O; once it has its data, that is over."""
    run = watched().run(30)
    fault = run.inject("process", gpu="n0/*", starved="40%")
    run.run(300)
    told = run.the("GpuStarved")
    assert (told.incident.subject, told.incident.cause) == ("job:train", "data-loading")
    assert "wait for I/O" in told.incident.cause_text
    run.heal(fault.id)
    run.run(400)
    assert _is_over(run, told)


@pytest.mark.parametrize(("port", "severity"), [(8888, Severity.WARNING), (9400, Severity.INFO)])
def test_a_port_open_to_everybody_is_told_until_it_is_closed(watched, port, severity):
    """A notebook runs what it is sent; an exporter only tells."""
    run = watched().run(10)
    fault = run.inject("process", gpu=2, listens=port)
    run.run(10)
    told = run.the("ServiceExposed")
    assert (told.incident.gpu, told.incident.severity) == (2, severity)
    run.heal(fault.id)
    run.run(10)
    assert _is_over(run, told)
