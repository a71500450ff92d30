"""Rules of use: memory without an owner, idle and starved GPUs, strangers; and what is none."""

from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.incidents.thresholds import Thresholds
from gputui.model import HostSample, ProcessSample, Severity
from gputui.sources.namespace import HOST_PID
from gputui.sources.processes import HAS_ENDED

GIB = 1 << 30


def process(gpu, gib=60.0, **changed):
    """A job's process on a GPU."""
    usual = {"user": "alice", "command": "python3 train.py", "job": "17", "job_kind": "slurm"}
    return ProcessSample(4001 + gpu, gpu, memory_bytes=int(gib * GIB), **{**usual, **changed})


class Used:
    """An engine that sees a node with processes, second by second."""

    def __init__(self, make, **limits) -> None:
        self.make = make
        self.engine = Engine(all_rules(), interval_s=1.0, thresholds=Thresholds(**limits))
        self.time_s = 0.0

    def sees(self, processes, *changed, seconds=1, count=4, host=None):
        for _ in range(seconds):
            gpus = [gpu(self.time_s) if callable(gpu) else gpu for gpu in changed]
            sample = self.make.node(self.time_s, *gpus, count=count)
            self.engine.sample(replace(sample, processes=tuple(processes), host_readings=host))
            self.time_s += 1
        return self

    @property
    def incidents(self):
        return [(one.kind, one.subject, one.severity) for one in self.engine.incidents]

    @property
    def one(self):
        (only,) = self.engine.incidents
        return only


@pytest.fixture
def used(make):
    return Used(make)


def everybody(**changed):
    return [process(gpu, **changed) for gpu in range(4)]


# --- GpuMemoryHeld --------------------------------------------------------------------------------


def test_memory_beyond_what_processes_hold_is_somebodys(used, make):
    """Three quarters of a GiB is a context, or rounding; ten GiB are not."""
    used.sees(everybody(gib=59.25), seconds=60)
    assert used.incidents == []
    used.sees([*everybody()[1:], process(0, 50)], seconds=12)
    assert (used.one.kind, used.one.gpu, used.one.cause) == ("GpuMemoryHeld", 0, "leak")


def test_a_process_that_ended_and_is_listed_is_a_zombie(used, make):
    """Its memory counts as nobody's."""
    used.sees(everybody(), seconds=5)
    dead = process(2, unreachable=HAS_ENDED)
    used.sees([*everybody()[:2], dead, process(3)], make.gpu(2, utilization_percent=0), seconds=12)
    assert (used.one.gpu, used.one.cause) == (2, "zombie")
    assert "pid 4003" in used.one.cause_text


def test_a_process_of_another_namespace_is_an_owner(used):
    """A host's PID seen from a container: somebody holds it, whoever that is."""
    others = everybody(unreachable=HOST_PID, user=None, command=f"[{HOST_PID}]", job=None)
    assert used.sees(others, seconds=60).incidents == []


@pytest.mark.parametrize("unknown", [{"memory": None}, {"command": "nvidia-cuda-mps-server"}])
def test_where_the_driver_does_not_tell_who_holds_what_nothing_is_said(used, unknown):
    """Without per-process memory, or with clients that are not listed."""
    some = everybody(gib=1)
    if "memory" in unknown:
        some = [replace(one, memory_bytes=None) for one in some]
    else:
        some = [replace(one, **unknown) for one in some]
    assert used.sees(some, seconds=60).incidents == []


def test_a_neighbour_that_works_unseen_may_rest(used, make):
    """It is not listed, and its memory is not lost, also while it writes a checkpoint."""
    used.sees([], seconds=30)
    resting = [make.gpu(index, utilization_percent=0) for index in range(4)]
    assert used.sees([], *resting, seconds=300).incidents == []


def test_a_process_that_ends_may_take_a_few_seconds(used, make):
    """Eighty GiB are not freed at once."""
    used.sees(everybody(), seconds=5)
    resting = [make.gpu(index, utilization_percent=0) for index in range(4)]
    used.sees([], *resting, seconds=6)
    empty = [make.gpu(index, utilization_percent=0, memory_used_bytes=0) for index in range(4)]
    assert used.sees([], *empty, seconds=60).incidents == []


# --- GpuIdleAllocated -----------------------------------------------------------------------------


def test_a_notebook_may_rest_and_is_told_all_the_same(used, make):
    """Nobody's job: information."""
    notebook = process(1, job=None, job_kind=None, command="python3 -m ipykernel")
    others = [process(index) for index in (0, 2, 3)]
    used.sees([notebook, *others], make.gpu(1, utilization_percent=0), seconds=890)
    assert used.incidents == []
    used.sees([notebook, *others], make.gpu(1, utilization_percent=0), seconds=20)
    assert (used.one.kind, used.one.gpu, used.one.severity) == (
        "GpuIdleAllocated", 1, Severity.INFO,
    )  # fmt: skip


def test_a_kernel_now_and_then_is_use(used, make):
    """Once in ten minutes is enough."""

    def at(time_s):
        return make.gpu(1, utilization_percent=40 if time_s % 600 == 0 else 0)

    assert used.sees(everybody(), at, seconds=2000).incidents == []


def test_how_long_is_the_sites_to_say(make):
    """The config's ``thresholds.idle``."""
    used = Used(make, idle_s=60.0)
    used.sees(everybody(), make.gpu(1, utilization_percent=0), seconds=65)
    assert used.one.cause_text == "held, but unused for 1m or longer"


def test_a_gpu_that_nobody_holds_is_merely_free(used, make):
    """No process, no memory."""
    free = [make.gpu(i, utilization_percent=0, memory_used_bytes=0) for i in range(4)]
    assert used.sees([], *free, seconds=1000).incidents == []


# --- GpuStarved -----------------------------------------------------------------------------------


def swinging(make, *indices):
    """GPUs that work for two seconds of ten."""

    def of(index):
        def at(time_s):
            return make.gpu(index, utilization_percent=97 if time_s % 10 < 2 else 4)

        return at

    return [of(index) for index in indices]


def test_a_gpu_that_waits_while_the_host_waits_is_starved(used, make):
    """Tasks that wait for I/O explain it: storage; the other GPUs are busy."""
    host = HostSample(io_pressure_percent=45.0, cpu_pressure_percent=3.0)
    used.sees(everybody(), *swinging(make, 2), seconds=200, host=host)
    assert (used.one.kind, used.one.gpu, used.one.cause) == ("GpuStarved", 2, "data-loading")
    assert "swinging between 4 and 97 %" in used.one.cause_text
    assert used.one.action.value == "check_storage"


def test_a_job_that_waits_as_a_whole_is_one_incident(used, make):
    """Too few CPUs starve all of its GPUs."""
    host = HostSample(io_pressure_percent=1.0, cpu_pressure_percent=60.0)
    used.sees(everybody(), *swinging(make, 0, 1, 2, 3), seconds=200, host=host)
    assert used.incidents == [("GpuStarved", "job:17", Severity.WARNING)]
    assert used.one.action.value == "check_config"


@pytest.mark.parametrize("host", [None, HostSample(io_pressure_percent=2.0), HostSample()])
def test_low_use_without_evidence_is_nobodys_trouble(used, make, host):
    """A server of models waits for requests; without pressure nothing is said."""
    used.sees(everybody(), *swinging(make, 0, 1, 2, 3), seconds=300, host=host)
    assert used.incidents == []


def test_a_busy_host_under_busy_gpus_is_nobodys_trouble(used):
    """Pressure alone starves nobody."""
    host = HostSample(io_pressure_percent=80.0, cpu_pressure_percent=80.0)
    assert used.sees(everybody(), seconds=300, host=host).incidents == []


# --- UnexpectedProcess ----------------------------------------------------------------------------


def test_a_user_that_is_not_allowed_is_told(make):
    """By name, with the process and how to end it; the allowed ones are not."""
    used = Used(make, allowed_users=("alice", "svc-*"))
    eve = process(2, 4, user="eve", command="./miner", job=None, job_kind=None)
    svc = process(3, 4, user="svc-monitor")
    used.sees([process(0), process(1), replace(eve, pid=66), process(2, 56), svc, process(3, 56)],
              seconds=5)  # fmt: skip
    stranger = used.one
    assert (stranger.kind, stranger.gpu, stranger.cause) == ("UnexpectedProcess", 2, "not-allowed")
    assert stranger.cause_text == "eve runs ./miner (pid 66)"
    assert "kill 66" in stranger.action_text
    assert used.sees(everybody(), seconds=5).incidents == []


def test_a_command_that_is_not_allowed_is_told_once_for_all_its_gpus(make):
    """One process on three GPUs is one incident."""
    used = Used(make, allowed_commands=("*train.py*",))
    miner = [replace(process(gpu, 10, command="./miner"), pid=9) for gpu in (1, 2, 3)]
    used.sees([*everybody(gib=50), *miner], seconds=5)
    assert [kind for kind, *_ in used.incidents].count("UnexpectedProcess") == 1


def test_without_a_list_everybody_may(used):
    """Nothing is assumed of who should be there."""
    assert used.sees(everybody(user="eve", command="./miner"), seconds=60).incidents == []


def test_one_whose_user_cannot_be_seen_is_not_accused(make):
    """A process of another namespace has no name here."""
    used = Used(make, allowed_users=("alice",))
    hidden = everybody(user=None, command=f"[{HOST_PID}]", unreachable=HOST_PID)
    assert used.sees(hidden, seconds=60).incidents == []
