"""What the kernel says of memory and of files that end or hold up jobs on GPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.logs.job_reader import Origin, read_job_log
from gputui.logs.kernel import KernelParser
from gputui.model import ProcessSample, Severity
from gputui.scan.judge import Judge
from gputui.scan.reader import events

NOW_S = 1_700_000_000.0

OOM = (
    "Out of memory: Killed process {pid} ({name}) total-vm:108204412kB, anon-rss:65432108kB, "
    "file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:140000kB oom_score_adj:0"
)
HUNG = "INFO: task {name}:{pid} blocked for more than 120 seconds."
SILENT = "nfs: server {server} not responding, still trying"
OK = "nfs: server {server} OK"
EVICTED = (
    "LustreError: 167-0: scratch-OST0003-osc-ffff9c0a1b2c3000: This client was evicted by "
    "scratch-OST0003; in progress operations using this service will fail."
)
LOST = (
    "Lustre: scratch-MDT0000-mdc-ffff9c0a1b2c3000: Connection to scratch-MDT0000 (at "
    "10.1.0.3@o2ib) was lost; in progress operations using this service will wait for recovery "
    "to complete"
)
RESTORED = (
    "Lustre: scratch-{target}-ffff9c0a1b2c3000: Connection restored to 10.1.0.3@o2ib (at "
    "10.1.0.3@o2ib)"
)


class Node:
    """An engine on a healthy node whose GPU 3 is used by process 4711 of the job train."""

    def __init__(self, make) -> None:
        self.engine = Engine(all_rules(), interval_s=1.0)
        self._parser = KernelParser()
        process = ProcessSample(4711, 3, job="train", command="python3 train.py")
        self.engine.sample(replace(make.node(NOW_S), processes=(process,)))

    def hears(self, *lines: str, after_s: float = 1.0):
        for line in lines:
            event = self._parser.parse(line, NOW_S + after_s)
            assert event is not None, line
            self.engine.log(event)
        return self.engine.incidents


@pytest.fixture
def node(make):
    return Node(make)


def scanned(*lines: str):
    """The incidents of a log of these lines, a minute apart."""
    text = "".join(f"[{60.0 * number:12.6f}] {line}\n" for number, line in enumerate(lines, 1))
    judge = Judge()
    for one in events("x", iter([text.encode()]), NOW_S):
        judge.hear(one.event, one.host)
    return [one.incident for one in judge.incidents()]


@pytest.mark.parametrize(
    "line",
    [
        OOM,
        OOM.replace("Out of memory", "Memory cgroup out of memory"),
        "Out of memory: Kill process {pid} ({name}) score 950 or sacrifice child",
    ],
)
def test_a_process_killed_for_want_of_memory_is_its_jobs_failure(node, line):
    """By its PID it is known whose it was; the kernel's forms of the line are alike."""
    (found,) = node.hears(line.format(pid=4711, name="pt_main_thread"))
    assert (found.kind, found.subject, found.gpu) == ("JobFailed", "job:train", 3)
    assert found.severity is Severity.WARNING
    assert "memory" in found.cause_text
    assert "4711" in found.cause_text


def test_what_the_job_says_of_that_end_hangs_under_it(node):
    """The launcher knows only that a rank was killed."""
    node.hears(OOM.format(pid=4711, name="python3"))
    words = (
        "E0321 02:07:09.620000 2606 site-packages/torch/distributed/elastic/multiprocessing/"
        "api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 4711) of binary: /usr/bin/python\n"
    )
    for heard in read_job_log([words.encode()], Origin(job="train"), now_s=NOW_S + 3):
        node.engine.job(replace(heard.event, time_s=NOW_S + 3))
    first, second = node.engine.incidents
    assert (first.kind, second.kind, second.parent) == ("JobFailed", "JobFailed", first.id)
    assert "the kernel killed" in first.cause_text


def test_a_strangers_end_calls_nobody(node):
    """What is no job's is information."""
    (found,) = node.hears(OOM.format(pid=99, name="chrome"))
    assert (found.subject, found.severity) == ("node:n0", Severity.INFO)


def test_a_silent_file_server_is_a_stall_until_it_answers(node):
    """Whoever waits for its files hangs under it; the kernel's OK ends both."""
    node.hears(SILENT.format(server="nas1"))
    stall, hung = node.hears(HUNG.format(pid=4711, name="python3"), after_s=130.0)
    assert (stall.kind, stall.cause, "nas1" in stall.cause_text) == (
        "StorageStall",
        "storage",
        True,
    )
    assert hung.parent == stall.id
    assert node.hears(OK.format(server="nas1"), after_s=140.0) == ()


def test_one_server_that_is_back_does_not_end_the_others_silence(node):
    """Of two servers one answers again."""
    node.hears(SILENT.format(server="nas1"), SILENT.format(server="nas2"))
    node.hears(OK.format(server="nas1"), after_s=5.0)
    assert "nas2" in " ".join(one.cause_text for one in node.engine.incidents)
    assert node.hears(OK.format(server="nas2"), after_s=9.0) == ()


@pytest.mark.parametrize(("line", "target"), [(EVICTED, "OST0003-osc"), (LOST, "MDT0000-mdc")])
def test_lustre_tells_the_same(node, line, target):
    """Evicted, or without connection; restored ends it."""
    (found,) = node.hears(line)
    assert (found.kind, "scratch-" in found.cause_text) == ("StorageStall", True)
    assert node.hears(RESTORED.format(target=target), after_s=9.0) == ()


def test_a_process_that_waits_for_a_lost_gpu_hangs_under_the_loss(node, make):
    """The kernel notices minutes later that it cannot be interrupted."""
    node.engine.log(make.xid(NOW_S + 1, 3, 79, "GPU has fallen off the bus."))
    node.engine.sample(make.node(NOW_S + 2, make.lost(3)))
    incidents = node.hears(HUNG.format(pid=4711, name="python3"), after_s=130.0)
    assert [one.kind for one in incidents if one.parent is None] == ["GpuLost"]
    assert "StorageStall" in [one.kind for one in incidents]


def test_a_log_alone_tells_them_too():
    """What was over keeps its place; a job's process is known by how it is called."""
    found = scanned(
        SILENT.format(server="nas1"),
        HUNG.format(pid=4711, name="python3"),
        OK.format(server="nas1"),
        OOM.format(pid=4711, name="python3"),
        OOM.format(pid=12, name="chrome"),
    )
    roots = [(one.kind, one.severity) for one in found if one.parent is None]
    assert sorted(roots) == [
        ("JobFailed", Severity.INFO),
        ("JobFailed", Severity.WARNING),
        ("StorageStall", Severity.WARNING),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0",
        "app: log says: Out of memory: Killed process 1 (python3) total-vm:1kB",
        "my server nas1 not responding, still trying",
        "INFO: task is blocked for more than a day",
        "LustreError: 11-0: scratch-OST0003-osc-ffff: operation ost_connect failed with -16.",
    ],
)
def test_what_is_like_them_is_nothing(line):
    """Other lines of the same subsystems, and quotations."""
    assert KernelParser().parse(line, NOW_S) is None
