from __future__ import annotations

import pytest

from chaos.fault import ArgumentError, FaultError, check_selections, families, parse_fault
from chaos.selection import Inventory
from fakes.hardware.gpu import Identity, Lookup
from fakes.hardware.recovery import Refusal, reset_gpu
from fakes.hardware.thermal import Limit

GIB = 1 << 30


def test_every_fault_says_what_it_does_not_prove():
    """A fault has a summary, and names its own limits."""
    for kinds in families().values():
        for kind in kinds:
            assert kind.summary.endswith(".")
            assert kind.cls.does_not_prove.startswith(("that ", "whether ", "how "))


class TestAirflow:
    def test_less_air_throttles_when_physics_says_so(self, virtual_run):
        """A blocked airway lets the GPU reach its highest temperature, and then throttles it."""
        run = virtual_run().at(10)
        run.inject("thermal", gpu="n0/1", airflow="20%")

        hot_us = run.gpu(1).regime(run.now_us).crossing_us(87)
        assert run.now_us < hot_us < run.now_us + 120_000_000
        assert run.gpu(1).limit(hot_us - 1000) is Limit.NONE
        assert run.gpu(1).limit(hot_us + 1000) is Limit.HEAT
        assert run.gpu(0).limit(hot_us + 1000) is Limit.NONE

    def test_healing_gives_the_air_back(self, virtual_run):
        """After heal the GPU cools down to where it was."""
        run = virtual_run().at(10)
        before = run.gpu(0).temperature_c(run.now_us)
        fault = run.inject("thermal", gpu="0", airflow="10%")
        run.at(300).run.heal(fault.id)

        run.at(900)
        assert run.gpu(0).conditions.airflow == 1
        assert abs(run.gpu(0).temperature_c(run.now_us) - before) <= 1

    def test_two_blockages_end_only_with_the_last(self, virtual_run):
        """Overlapping faults: the newest in force holds, in whatever order they are healed."""
        run = virtual_run()
        first = run.inject("thermal", gpu="0", airflow="50%")
        second = run.inject("thermal", gpu="0", airflow="20%")
        assert run.gpu(0).conditions.airflow == 0.2

        run.run.heal(first.id)
        assert run.gpu(0).conditions.airflow == 0.2
        run.run.heal(second.id)
        assert run.gpu(0).conditions.airflow == 1


class TestGrow:
    def test_memory_grows_until_the_process_ends(self, virtual_run):
        """A full GPU ends the process that grows, at the moment that the rate gives."""
        run = virtual_run()
        free = run.gpu(0).capacity_bytes - run.gpu(0).memory_used_bytes(0)
        run.inject("memory", gpu="0", grow="1GiB/s")
        full_s = free / GIB

        run.at(full_s - 0.01)
        assert list(run.gpu(0).uses) == [4001]
        run.at(full_s + 0.01)
        assert not run.gpu(0).uses
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0
        assert list(run.node.processes) == [4002]

    def test_healing_gives_back_what_had_grown(self, virtual_run):
        """After heal the process holds what it held before, and grows no more."""
        run = virtual_run().at(5)
        before = run.gpu(0).memory_used_bytes(run.now_us)
        fault = run.inject("memory", gpu="0", grow="512MiB/s")
        run.at(15)
        assert run.gpu(0).memory_used_bytes(run.now_us) == before + 5 * GIB
        run.run.heal(fault.id)

        run.at(60)
        assert run.gpu(0).memory_used_bytes(run.now_us) == before

    def test_two_leaks_add_up_and_come_apart_again(self, virtual_run):
        """Healing one of two leaks leaves the other."""
        run = virtual_run()
        before = run.gpu(0).memory_used_bytes(0)
        first = run.inject("memory", gpu="0", grow="1GiB/s")
        run.at(1)
        run.inject("memory", gpu="0", grow="256MiB/s")
        run.at(5).run.heal(first.id)
        assert run.gpu(0).memory_used_bytes(run.now_us) == before + 1 * GIB
        run.at(9)
        assert run.gpu(0).memory_used_bytes(run.now_us) == before + 2 * GIB

    def test_a_process_is_chosen_by_pid_or_job(self, virtual_run):
        """Nothing that fits is an error, and says what was looked for."""
        run = virtual_run()
        run.inject("memory", gpu="n0/1", grow="1MiB/s", pid=4002, job="train")
        with pytest.raises(FaultError, match="there is no process 4002 on n0/0"):
            run.inject("memory", gpu="n0/0", grow="1MiB/s", pid=4002)
        with pytest.raises(FaultError, match="there is no process on n0/0"):
            virtual_run(idle=True).inject("memory", gpu="0", grow="1MiB/s")

    def test_healing_after_the_process_ended_does_nothing(self, virtual_run):
        """A leak that has already killed its process heals in peace."""
        run = virtual_run()
        fault = run.inject("memory", gpu="0", grow="1GiB/s")
        run.at(60).run.heal(fault.id)
        assert run.run.problems == []


class TestMemoryTo:
    def test_a_process_holds_what_it_is_told_to(self, virtual_run):
        """``to`` is the size from now on; heal gives back the difference."""
        run = virtual_run().at(5)
        fault = run.inject("memory", gpu="0", to="70GiB")
        assert run.gpu(0).memory_used_bytes(run.now_us) == 70 * GIB
        run.at(9).run.heal(fault.id)
        assert run.gpu(0).memory_used_bytes(run.now_us) == 60 * GIB

    def test_an_allocation_that_does_not_fit_ends_the_process(self, virtual_run):
        """The one that asked fails, and not another on the same GPU."""
        run = virtual_run()
        run.inject("process", gpu="0", alien="eve", memory="4GiB")
        run.at(5).inject("memory", gpu="0", to="90GiB", job="train")
        assert [one.spec.user for one in run.node.processes_on(run.gpu(0))] == ["eve"]


class TestMemoryOfNobody:
    @pytest.mark.parametrize("words", [{"leak": "20GiB"}, {"zombie": "20GiB"}])
    def test_it_is_used_on_top_of_what_processes_hold(self, virtual_run, words):
        """Used memory grows, the processes are the same; heal frees it."""
        run = virtual_run(idle=True).at(5)
        fault = run.inject("memory", gpu="0", **words)
        assert run.gpu(0).memory_used_bytes(run.now_us) == 20 * GIB
        assert run.node.processes_on(run.gpu(0)) == ()
        assert run.gpu(0).utilization_percent(run.now_us) == 0
        run.at(9).run.heal(fault.id)
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0

    def test_two_leaks_add_up(self, virtual_run):
        """Healing one leaves the other."""
        run = virtual_run(idle=True)
        first = run.inject("memory", gpu="0", leak="20GiB")
        run.inject("memory", gpu="0", leak="10GiB")
        run.run.heal(first.id)
        assert run.gpu(0).memory_used_bytes(run.now_us) == 10 * GIB

    def test_a_reset_frees_a_leak_and_is_refused_for_a_zombie(self, virtual_run):
        """The driver begins anew; a process that is not quite gone has the GPU open."""
        run = virtual_run(idle=True)
        for name in ("dcgm-exporter", "nvidia-dcgm", "nvidia-persistenced"):
            run.node.services.end(run.node.services.find(name), run.run.world)
        run.inject("memory", gpu="0", leak="20GiB")
        zombie = run.inject("memory", gpu="1", zombie="20GiB")
        assert reset_gpu(run.node, run.gpu(0), run.now_us).refusal is None
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0
        assert reset_gpu(run.node, run.gpu(1), run.now_us).refusal is Refusal.IN_USE
        run.run.heal(zombie.id)
        assert reset_gpu(run.node, run.gpu(1), run.now_us).refusal is None

    def test_what_is_lost_is_missing_to_those_who_grow(self, virtual_run):
        """A GPU with a leak is full earlier, and the process that grows ends."""
        run = virtual_run()
        run.inject("memory", gpu="0", leak="15GiB")
        run.inject("memory", gpu="0", grow="1GiB/s")
        run.at(6)
        assert list(run.node.processes) == [4002]
        assert run.gpu(0).memory_used_bytes(run.now_us) == 15 * GIB


class TestProcess:
    def test_one_that_ends_frees_its_memory(self, virtual_run):
        """The GPU is empty, and heal does not bring it back."""
        run = virtual_run()
        fault = run.inject("process", gpu="0", end="true")
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0
        run.run.heal(fault.id)
        assert list(run.node.processes) == [4002]

    def test_a_zombie_holds_its_memory_until_it_is_healed(self, virtual_run):
        """It does nothing and is no process any more, but its memory is not free."""
        run = virtual_run().at(5)
        fault = run.inject("process", gpu="0", zombie="true")
        assert run.gpu(0).memory_used_bytes(run.now_us) == 60 * GIB
        assert run.gpu(0).is_idle
        assert list(run.node.processes) == [4002]
        run.run.heal(fault.id)
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0

    def test_an_idle_one_keeps_its_memory(self, virtual_run):
        """No kernel runs; after heal it works as before."""
        run = virtual_run().at(5)
        fault = run.inject("process", gpu="0", idle="true", job="train")
        assert run.gpu(0).is_idle
        assert run.gpu(0).memory_used_bytes(run.now_us) == 60 * GIB
        run.run.heal(fault.id)
        assert run.gpu(0).conditions.load == 0.95

    def test_an_alien_has_a_user_a_command_and_no_job(self, virtual_run):
        """It is there beside the job's process until it is healed."""
        run = virtual_run()
        fault = run.inject("process", gpu="1", alien="eve", memory="4GiB", command="./xmr -q")
        alien = run.node.processes[4003]
        assert (alien.spec.user, alien.spec.command, alien.spec.job) == ("eve", ("./xmr", "-q"), "")
        assert run.gpu(1).memory_used_bytes(run.now_us) == 64 * GIB
        run.run.heal(fault.id)
        assert list(run.node.processes) == [4001, 4002]

    @pytest.mark.parametrize("by", ["end", "idle", "zombie"])
    def test_nothing_but_true_makes_sense(self, by):
        """A fault that breaks nothing is a mistake."""
        with pytest.raises(ArgumentError, match=f"{by}: the only value is true"):
            parse_fault("process", {"gpu": "0", by: "false"})


class TestJob:
    def test_a_job_starts_and_ends_with_the_fault(self, virtual_run):
        """One process a GPU, of its user, until healed."""
        run = virtual_run(idle=True).at(3)
        fault = run.inject("job", start="eval", gpus="n0/*", memory="10GiB", user="bob")
        assert [one.spec.job for one in run.node.processes.values()] == ["eval", "eval"]
        assert run.gpu(1).memory_used_bytes(run.now_us) == 10 * GIB
        run.run.heal(fault.id)
        assert run.node.processes == {}

    def test_a_job_that_runs_is_not_started_twice(self, virtual_run):
        """Its id tells one job from another."""
        with pytest.raises(FaultError, match="a job 'train' runs already"):
            virtual_run().inject("job", start="train", gpus="n0/0")

    def test_stopping_a_job_ends_all_its_processes(self, virtual_run):
        """Every GPU of it is free; what belongs to others stays."""
        run = virtual_run()
        run.inject("process", gpu="1", alien="eve")
        run.inject("job", stop="train")
        assert [one.spec.user for one in run.node.processes.values()] == ["eve"]

    def test_a_restart_begins_with_the_memory_of_the_start(self, virtual_run):
        """What leaked is gone with the process, and the ranks are the same."""
        run = virtual_run()
        run.inject("memory", gpu="0", grow="100MiB/s")
        run.at(60).inject("job", restart="train", pause="20s")
        assert run.at(79).node.processes == {}
        run.at(81)
        assert [one.spec.rank for one in run.node.processes.values()] == [0, 1]
        assert run.gpu(0).memory_used_bytes(run.now_us) == 60 * GIB


class TestXid:
    def test_a_burst_writes_as_many_lines_as_it_says(self, virtual_run):
        """``times`` Xids, one every so often."""
        run = virtual_run().at(10)
        run.inject("xid", gpu="1", code=119, times=4, every="5s")

        assert run.at(100).kernel_lines("): 119, ") == [10, 15, 20, 25]
        assert run.gpu(1).reset_required

    def test_jitter_is_the_same_for_the_same_seed(self, virtual_run):
        """Each Xid is late by up to the jitter, by the run's seed and nothing else."""

        def times(seed: int) -> list[float]:
            run = virtual_run(seed=seed)
            run.inject("xid", gpu="1", code=13, times=20, every="5s", jitter="2s", log_only="true")
            return run.at(200).kernel_lines("): 13, ")

        assert times(1) == times(1)
        assert times(1) != times(2)
        assert all(5 * n <= at <= 5 * n + 2 for n, at in enumerate(times(3)))

    def test_79_loses_the_gpu_and_heal_brings_it_back(self, virtual_run):
        """The GPU is lost with the first of a burst; heal ends the burst and the loss."""
        run = virtual_run().at(10)
        fault = run.inject("xid", gpu="1", code=79, times=12, every="5s")
        assert run.gpu(1).lost is not None
        assert run.gpu(0).lost is None

        run.at(21).run.heal(fault.id)
        assert run.gpu(1).lost is None
        assert run.at(200).kernel_lines("): 79, ") == [10, 15, 20]

    def test_log_only_has_no_effect_on_the_gpu(self, virtual_run):
        """A line in the kernel log, and a GPU that works."""
        run = virtual_run()
        run.inject("xid", gpu="0", code=79, log_only="true")
        assert run.kernel_lines("): 79, ") == [0]
        assert run.gpu(0).lost is None

    def test_an_application_error_ends_the_process(self, virtual_run):
        """Xid 31 ends the process on its GPU, and its memory is free."""
        run = virtual_run()
        run.inject("xid", gpu="0", code=31)
        assert list(run.node.processes) == [4002]
        assert run.gpu(0).memory_used_bytes(run.now_us) == 0

    def test_two_losses_end_only_with_the_last(self, virtual_run):
        """Healing one of two faults that lost a GPU does not find it again."""
        run = virtual_run()
        first = run.inject("xid", gpu="0", code=79)
        second = run.inject("lost", gpu="0", silent="true")
        run.run.heal(first.id)
        assert run.gpu(0).lost is not None
        run.run.heal(second.id)
        assert run.gpu(0).lost is None


class TestLost:
    def test_how_it_shows_is_chosen(self, virtual_run):
        """``lookup`` and ``identity`` arrive at the GPU; the kernel log tells of it."""
        run = virtual_run().at(3)
        run.inject("lost", gpu="0", lookup="lost", identity="answers")
        lost = run.gpu(0).lost
        assert (lost.since_us, lost.lookup, lost.identity) == (
            3_000_000,
            Lookup.LOST,
            Identity.ANSWERS,
        )
        assert len(run.kernel_lines("fallen off the bus")) == 2

    def test_it_can_happen_in_silence(self, virtual_run):
        """``silent``: lost, and the kernel log says nothing."""
        run = virtual_run()
        run.inject("lost", gpu="*/*", silent="true")
        assert all(gpu.lost for gpu in run.node.gpus)
        assert run.kernel_lines("") == []


@pytest.mark.parametrize(
    ("family", "words", "problem"),
    [
        ("thermol", {}, "unknown fault 'thermol'. Did you mean 'thermal'? Known faults: "),
        ("thermal", {"gpu": "3"}, "'thermal' needs one of airflow, "),
        ("thermal", {"gpu": "3", "inlet": "45C"}, "'thermal' has no argument 'gpu'."),
        ("thermal", {"gpu": "3", "sensor": "45"}, "sensor: '45' is not a temperature of "),
        ("power", {"gpu": "3", "brake": "false"}, "brake: only 'true' pulls it"),
        ("power", {"node": "n0", "supply": "3"}, "supply: '3' is not power with its unit"),
        ("xid", {"gpu": "3", "cod": "79"}, "'xid' has no argument 'cod'. Did you mean 'code'?"),
        ("xid", {"code": "79"}, "'xid' needs the argument 'gpu'."),
        ("xid", {"gpu": "3", "code": "seven"}, "code: 'seven' is not a whole number"),
        ("xid", {"gpu": "3", "code": "79", "every": "5"}, "every: '5' is not a duration"),
        ("lost", {"gpu": "n0/9"}, "gpu: there is no GPU n0/9; n0 has GPUs 0 to 7."),
        ("memory", {"gpu": "3", "grow": "1B/s", "job": "x"}, "job: there is no job 'x'. Jobs: "),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_one_sentence(family, words, problem):
    """Unknown words get the nearest known one; values what was expected."""
    with pytest.raises(ArgumentError) as caught:
        check_selections(parse_fault(family, words), Inventory(("n0",), 8, ("train",)))
    assert problem in str(caught.value)
