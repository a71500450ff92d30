"""Lines in logs: what they make the monitor say, and what a job's own dying words do."""

from __future__ import annotations

import pytest

from chaos.fault import ArgumentError, FaultError
from chaos.run import Run

WATCHDOG = (
    "[rank{0}]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, "
    "Timeout(ms)=600000) ran for 600060 milliseconds before timing out."
)


def test_a_line_of_the_kernel_is_heard_within_a_second(watched):
    """As if the driver had printed it; the world is as it was."""
    run = watched().run(5)
    bus_id = run.gpu(3).bus_id
    run.inject("log", node="n0", line=f"NVRM: Xid (PCI:{bus_id}): 13, Graphics Exception")
    opened = run.the("GpuXid")
    assert (opened.incident.gpu, opened.took_s <= 1) == (3, True)
    assert run.gpu(3).lost is None


def test_a_line_of_a_job_is_heard_within_a_second(watched):
    """The rank that prints it is known, and the job it belongs to."""
    run = watched().run(5)
    run.inject(
        "log",
        node="n0",
        source="train",
        rank=2,
        line="RuntimeError: CUDA error: misaligned address",
    )
    opened = run.the("JobFailed")
    assert opened.took_s <= 1
    assert (opened.incident.subject, opened.incident.cause) == ("job:train", "application")


def test_several_lines_are_one_incident(watched):
    """All ranks but one report that they wait: that one is to look at."""
    run = watched(gpus=4).run(5)
    lines = "\n".join(WATCHDOG.format(rank) for rank in (0, 1, 3))
    run.inject("log", node="n0", source="train", lines=lines)
    incident = run.the("NcclTimeout").incident
    assert (incident.cause, incident.count) == ("missing-rank", 3)
    assert "rank 2" in incident.cause_text


def test_a_jobs_words_hang_under_the_gpu_that_fell_off(watched):
    """A GPU is lost, the rank on it fails at its next call: one case, the lost GPU's."""
    run = watched().run(5)
    run.inject("lost", gpu="n0/3")
    run.run(3)
    assert run.kinds() == ["GpuLost"]
    failed = run.the("JobFailed").incident
    assert failed.parent == run.the("GpuLost").incident.id


def test_a_full_gpu_is_told_by_its_job(watched):
    """PyTorch's numbers tell that there is too little, and the process is gone."""
    run = watched(gpus=2).run(5)
    run.inject("memory", gpu="n0/1", grow="4GiB/s")
    run.run(30)
    incident = run.the("GpuOutOfMemory").incident
    assert (incident.subject, incident.cause, incident.gpu) == ("job:train", "shortage", 1)
    assert "JobFailed" not in run.kinds()


def test_a_process_dies_but_once(watched):
    """A burst of Xids makes it say no more than the first did."""
    run = watched().run(5)
    run.inject("xid", gpu="n0/3", code=79, times=5, every="2s")
    run.run(20)
    said = [line for line in run.node.job_log.lines if "CUDA error" in line.text]
    assert [line.process.spec.rank for line in said] == [3]
    assert run.the("JobFailed").incident.count == 1


def test_progress_is_nothing(watched):
    """What a job prints all day opens no incident."""
    run = watched().run(5)
    for step in range(20):
        run.inject("log", node="n0", source="train", line=f"step {step}: loss 2.31, 61.2 GiB")
    run.run(5)
    assert run.opened() == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "either 'line' or 'lines'"),
        ({"line": "a", "lines": "b"}, "either 'line' or 'lines'"),
        ({"line": " "}, "nothing to print"),
        ({"line": "a\nb"}, "call it 'lines'"),
        ({"line": "a", "rank": "1"}, "the kernel has none"),
    ],
)
def test_what_prints_nothing_is_refused(virtual_run, arguments, says):
    """With the argument at whose door it lies."""
    with pytest.raises(ArgumentError, match=says):
        virtual_run().inject("log", node="n0", **arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"source": "trian"}, "no job 'trian' on n0"),
        ({"source": "train", "rank": "9"}, "no rank 9"),
    ],
)
def test_who_is_not_there_prints_nothing(virtual_run, arguments, says):
    """A misspelt job, or a rank beyond the last."""
    run: Run = virtual_run()
    with pytest.raises(FaultError, match=says):
        run.inject("log", node="n0", line="a", **arguments)
