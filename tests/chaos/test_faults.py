from __future__ import annotations

import pytest

from chaos.fault import ArgumentError, FaultError, check_selections, families, parse_fault
from chaos.selection import Inventory
from fakes.gpu import Identity, Lookup
from fakes.thermal import Limit

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
        ("thermal", {"gpu": "3"}, "'thermal' needs the argument 'airflow'."),
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
