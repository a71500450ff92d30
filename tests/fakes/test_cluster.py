"""Jobs over several nodes, and the scheduler that places them."""

import pytest

from fakes.actions import Effect
from fakes.driver.xid import raise_xid
from fakes.hardware.recovery import REBOOT_US, reboot
from fakes.jobs.cluster import Phase, UnknownError
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US


@pytest.fixture
def build():
    """A world of so many nodes of two GPUs, with a job on the first ones."""

    def make(nodes=4, on=2, *, schedules=True):
        profile = load_profile("l4")
        world = World([Node(f"n{i}", profile, 2) for i in range(nodes)], schedules=schedules)
        specs = {f"n{i}": JobSpec("train", (0, 1), memory_bytes=1 << 30) for i in range(on)}
        for name, spec in specs.items():
            world.nodes[name].start_job(spec, 0)
        return world, world.cluster.add("train", specs)

    return make


def test_a_drained_node_keeps_its_job_and_takes_no_other(build):
    """It is draining while the job runs, and drained when nothing does."""
    world, job = build()
    cluster = world.cluster
    cluster.drain("n0", "xid 119", "root")
    assert job.phase is Phase.RUNNING
    assert not cluster.is_drained("n0")
    cluster.cancel("train")
    assert cluster.is_drained("n0")
    assert job.phase is Phase.CANCELLED


def test_a_requeued_job_is_placed_where_it_may_run(build):
    """The nodes that it had come first; a drained one is passed over."""
    world, job = build()
    world.cluster.drain("n0", "bad", "root")
    world.cluster.requeue("train")
    assert job.phase is Phase.PENDING
    assert not world.nodes["n1"].processes
    world.advance(MINUTE_US)
    assert job.phase is Phase.RUNNING
    assert job.nodes == ("n1", "n2")
    assert job.requeues == 1
    assert len(world.nodes["n2"].processes) == 2


def test_a_job_waits_until_there_is_room(build):
    """Without enough nodes it stays pending, with Slurm's reason."""
    world, job = build(nodes=2)
    world.cluster.drain("n0", "bad", "root")
    world.cluster.requeue("train")
    world.advance(5 * MINUTE_US)
    assert (job.phase, job.reason) == (Phase.PENDING, "Resources")
    world.cluster.resume("n0")
    world.advance(6 * MINUTE_US)
    assert job.phase is Phase.RUNNING


def test_a_job_whose_process_ends_fails_with_all_of_it(build):
    """The others are ended soon after."""
    world, job = build()
    pid = min(world.nodes["n0"].processes)
    world.nodes["n0"].end_process(pid, 0)
    assert job.phase is Phase.RUNNING
    world.advance(10 * SECOND_US)
    assert job.phase is Phase.FAILED
    assert not world.nodes["n1"].processes


def test_without_a_scheduler_a_job_fails_with_its_last_process(build):
    """Nobody ends the others."""
    world, job = build(schedules=False)
    pids = [(node, pid) for node in ("n0", "n1") for pid in sorted(world.nodes[node].processes)]
    for node, pid in pids:
        assert job.phase is Phase.RUNNING
        world.nodes[node].end_process(pid, 0)
    assert job.phase is Phase.FAILED


def test_a_node_that_goes_down_takes_its_job_to_others(build):
    """One that nobody had drained stays out when it is back, until somebody resumes it."""
    world, job = build()
    reboot(world, world.nodes["n0"])
    world.advance(REBOOT_US + MINUTE_US)
    assert job.phase is Phase.RUNNING
    assert job.nodes == ("n1", "n2")
    down = world.cluster.nodes["n0"].down
    assert down is not None
    assert down.reason == "Node unexpectedly rebooted"
    world.cluster.resume("n0")
    assert world.cluster.nodes["n0"].takes_jobs


def test_a_node_with_a_lost_gpu_has_no_room(build):
    """The scheduler counts GPUs before it places a job."""
    world, job = build(nodes=3)
    raise_xid(world.nodes["n1"], world.nodes["n1"].gpus[0], 79, 0)
    world.cluster.requeue("train")
    world.advance(MINUTE_US)
    assert job.nodes == ("n0", "n2")


def test_a_held_job_waits(build):
    """Until it is released."""
    world, job = build()
    world.cluster.hold("train", held=True)
    world.cluster.requeue("train")
    world.advance(5 * MINUTE_US)
    assert job.phase is Phase.PENDING
    world.cluster.hold("train", held=False)
    world.advance(6 * MINUTE_US)
    assert job.phase is Phase.RUNNING


def test_what_is_done_is_noted_and_what_happens_is_not(build):
    """A drain is somebody's; that a job fails is nobody's."""
    world, _ = build()
    found = []
    world.cluster.actions.listen(found.append)
    world.cluster.drain("n0", "bad", "root")
    world.nodes["n1"].end_process(min(world.nodes["n1"].processes), 0)
    world.advance(10 * SECOND_US)
    assert [(action.effect, action.node) for action in found] == [(Effect.DRAIN, "n0")]


@pytest.mark.parametrize("ask", ["job", "node"])
def test_what_is_not_there_is_said(build, ask):
    """By its name."""
    world, _ = build()
    with pytest.raises(UnknownError, match="nobody"):
        getattr(world.cluster, ask)("nobody")


def test_a_job_is_found_by_its_number_and_by_its_name(build):
    """As commands name it."""
    world, job = build()
    assert world.cluster.job("1001") is job is world.cluster.job("train")
