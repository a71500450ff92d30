"""Job logs are found, followed through whatever happens to files, and read within bounds."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gputui.logs import jobs as jobs_module
from gputui.logs.job_reader import JobReader, Origin, read_job_log
from gputui.logs.job_tail import MOST_BEHIND_BYTES, READ_BACK_BYTES, JobTail
from gputui.logs.jobs import JobLogs, job_word
from gputui.logs.sieve import Sieve
from gputui.model import LogLine, NodeSample, ProcessSample
from gputui.monitor import Monitor, MonitorOptions
from gputui.recording import CaptureWriter

ERROR = b"RuntimeError: CUDA error: unspecified launch failure\n"
PROGRESS = b"step 100: loss 2.31\n"


def ids(words):
    """What was heard, by the ids of the texts."""
    return [word.event.pattern for word in words]


class Machine:
    """A small /proc whose processes write to files, and the logs that are found there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs = JobLogs(proc=str(root / "proc"))
        self.processes: dict[int, ProcessSample] = {}
        self.now_s = 1000.0

    def start(self, pid, gpu, log=None, *, error_log=None, job=None, rank=None, unreachable=None):
        folder = self.root / "proc" / str(pid) / "fd"
        folder.mkdir(parents=True)
        for number, path in ((1, log), (2, error_log or log)):
            if path is not None:
                (folder / str(number)).symlink_to(path)
        if rank is not None:
            (folder.parent / "environ").write_bytes(b"HOME=/\0RANK=%d\0" % rank)
        self.processes[pid] = ProcessSample(pid, gpu, job=job, unreachable=unreachable)

    def look(self, after_s=1.0):
        """Look once, a while later; what was heard."""
        self.now_s += after_s
        self.logs._processes = tuple(self.processes.values())
        self.logs.look(self.now_s, time.time())
        return self.logs.take()


@pytest.fixture
def machine(tmp_path):
    """A machine without processes."""
    return Machine(tmp_path)


@pytest.fixture
def log(tmp_path):
    """An empty log of a job."""
    path = tmp_path / "slurm-4711.out"
    path.write_bytes(b"")
    return path


def write(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_a_log_is_found_where_output_goes_to_a_file(machine, log):
    """Standard output or error, whatever the file is called: new words are heard, with whose."""
    machine.start(4711, 3, log, job="4711", rank=11)
    assert machine.look() == []
    write(log, PROGRESS + ERROR)
    (word,) = machine.look()
    event = word.event
    assert (event.pattern, event.job, event.pid, event.rank, event.gpu) == (
        "cuda_launch_fail", "4711", 4711, 11, 3,
    )  # fmt: skip
    assert word.live
    assert machine.look() == []


def test_ranks_that_write_into_one_file_share_a_log(machine, log):
    """It is read once, and a rank that a line names leads to its GPU."""
    for rank in range(4):
        machine.start(5000 + rank, rank, log, job="train", rank=rank)
    machine.look()
    write(log, b"[rank2]: " + ERROR + ERROR)
    named, unnamed = machine.look()
    assert (named.event.rank, named.event.gpu, named.event.pid) == (2, 2, None)
    assert (unnamed.event.rank, unnamed.event.gpu, unnamed.event.pid) == (None, None, None)


def test_a_job_without_a_scheduler_is_called_by_its_log(machine, tmp_path):
    """The name of the file, without its ending."""
    path = tmp_path / "train-7b.log"
    path.write_bytes(ERROR)
    machine.start(1, 0, path)
    assert machine.look()[0].event.job == "train-7b"


def test_what_is_no_regular_file_is_left_alone(machine, tmp_path):
    """A terminal, a pipe: nobody else's output is taken away from them."""
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    machine.start(1, 0, "/dev/null", error_log=fifo)
    assert machine.look() == []
    assert machine.logs.notice == ""


def test_processes_of_another_namespace_are_left_alone(machine, log):
    """Their number is somebody else's here."""
    write(log, ERROR)
    machine.start(1, 0, log, unreachable="the host's PID")
    assert machine.look() == []


def test_what_was_there_already_is_read_back_a_little(machine, log):
    """The last words are heard, but not as news; what is further up is not looked at."""
    write(log, ERROR + PROGRESS * (READ_BACK_BYTES // len(PROGRESS)) + ERROR)
    machine.start(1, 0, log)
    (word,) = machine.look()
    assert not word.live


def test_words_of_long_ago_are_no_news(machine, log):
    """An hour after the file was written last, a failure in it is history."""
    write(log, ERROR)
    os.utime(log, (time.time() - 7200, time.time() - 7200))
    machine.start(1, 0, log)
    assert machine.look() == []


def test_a_gigabyte_is_read_from_its_end(machine, log):
    """A look costs what is new, not what is there."""
    with log.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + ERROR)
    machine.start(1, 0, log)
    began_s = time.monotonic()
    assert ids(machine.look()) == ["cuda_launch_fail"]
    assert time.monotonic() - began_s < 5


def test_what_is_written_too_fast_is_passed_over(log):
    """The newest is read; nobody falls behind for ever."""
    tail = JobTail(str(log))
    assert tail.read(1 << 20) == []
    with log.open("ab") as file:
        file.truncate(MOST_BEHIND_BYTES * 3)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    data = b"".join(piece.data for piece in tail.read(1 << 20))
    assert data.endswith(b"the end\n")
    assert len(data) <= 1 << 20
    assert tail.passed_over > MOST_BEHIND_BYTES
    tail.close()


def test_a_truncated_log_is_read_from_its_beginning(machine, log):
    """What follows begins anew: half a line of the old one is not joined to it."""
    write(log, b"x" * 500)
    machine.start(1, 0, log)
    machine.look()
    log.write_bytes(ERROR)
    assert ids(machine.look()) == ["cuda_launch_fail"]


def test_a_log_that_is_renamed_is_followed(machine, log):
    """Its writer writes on into the same file."""
    machine.start(1, 0, log)
    machine.look()
    moved = log.rename(log.with_suffix(".1"))
    write(moved, ERROR)
    assert ids(machine.look()) == ["cuda_launch_fail"]


def test_a_given_log_is_followed_by_its_name(tmp_path):
    """Rotated away, the new file of the name is read, after the old one to its end."""
    path = tmp_path / "job-1.log"
    path.write_bytes(b"")
    logs = JobLogs(str(tmp_path / "job-*.log"))
    logs.look(0.0, time.time())
    write(path, PROGRESS)
    path.rename(tmp_path / "old")
    write(tmp_path / "old", ERROR)
    path.write_bytes(b"RuntimeError: CUDA error: misaligned address\n")
    heard = []
    for second in range(1, 4):
        logs.look(float(second), time.time())
        heard += ids(logs.take())
    assert heard == ["cuda_launch_fail", "cuda_misaligned"]


def test_new_files_of_a_pattern_are_found(tmp_path):
    """A job that starts later."""
    logs = JobLogs(str(tmp_path / "**" / "*.log"))
    logs.look(0.0, time.time())
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "a.log", ERROR)
    logs.look(60.0, time.time())
    assert [word.event.job for word in logs.take()] == ["a"]


def test_dying_words_are_heard_after_the_end(machine, log):
    """The launcher reports when the process is gone; after a while nobody listens any more."""
    machine.start(1, 0, log)
    machine.look()
    machine.processes.clear()
    machine.look()
    write(log, ERROR)
    assert ids(machine.look()) == ["cuda_launch_fail"]
    machine.look(after_s=1000.0)
    write(log, ERROR)
    assert machine.look() == []


def test_a_denied_log_is_told_once(machine, log, unprivileged):
    """In one line, with what to do; however many there are."""
    write(log, ERROR)
    log.chmod(0)
    for pid in range(1, 6):
        machine.start(pid, 0, log)
    with unprivileged():
        assert machine.look() == []
        assert machine.look() == []
    assert machine.logs.notice.count("Permission denied") == 1
    assert "and 4 more" in machine.logs.notice
    assert "root" in machine.logs.notice


def test_very_many_logs_are_bounded(machine, tmp_path):
    """So many files stay open, and no more."""
    for pid in range(1, jobs_module.MOST_LOGS + 20):
        path = tmp_path / f"{pid}.log"
        path.write_bytes(ERROR)
        machine.start(pid, 0, path)
    assert len(machine.look()) == jobs_module.MOST_LOGS


def test_none_reads_nothing(log):
    """No thread, no file."""
    logs = JobLogs("none")
    logs.meet(NodeSample("n0", 0.0, processes=(ProcessSample(1, 0),)))
    assert logs.take() == []
    logs.close()


def test_the_thread_reads_by_itself(machine, log):
    """Met with a sample, words arrive and somebody is woken for them."""
    woken = []
    logs = JobLogs(proc=str(machine.root / "proc"), on_words=lambda: woken.append(True))
    machine.start(1, 0, log)
    logs.meet(NodeSample("n0", 0.0, processes=tuple(machine.processes.values())))
    write(log, ERROR)
    until_s = time.monotonic() + 20
    heard = []
    while not heard and time.monotonic() < until_s:
        heard = logs.take()
        time.sleep(0.02)
    logs.close()
    assert ids(heard) == ["cuda_launch_fail"]
    assert woken


# --- the reader ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 64, 4096])
def test_pieces_of_any_size_give_the_same_events(size):
    """Half lines wait for their end."""
    data = PROGRESS * 3 + ERROR + PROGRESS + b"[rank1]: " + ERROR
    reader = JobReader(Origin(job="a"))
    heard = []
    for begin in range(0, len(data), size):
        heard += reader.feed(data[begin : begin + size], 1.0)
    assert [(one.line, one.event.rank) for one in heard] == [(4, None), (6, 1)]


def test_progress_bars_and_carriage_returns_are_lines():
    """A bar is drawn over and over in one line; what is printed after it counts."""
    bars = b"".join(b"\rEpoch 0:  %d%%|##   | %d/100 [00:01<00:02]" % (n, n) for n in range(100))
    (heard,) = read_job_log([bars + b"\r[rank3]: " + ERROR.replace(b"\n", b"\r\n")])
    assert (heard.event.rank, heard.line) == (3, 1)


def test_rubbish_does_no_harm():
    """Bytes of any kind, lines without an end, holes of zeros: what is readable is read."""
    rubbish = bytes(range(256)) * 50 + b"\xff\xfe" * 300 + b"\0" * 5000
    heard = list(read_job_log([rubbish + b"\n" + ERROR + rubbish, b"y" * (3 << 20), b"\n" + ERROR]))
    assert [one.event.pattern for one in heard] == ["cuda_launch_fail"] * 2


def test_a_time_in_the_line_is_when_it_happened():
    """Read offline; a line without one happened when the line before did, or the first after it."""
    log = (
        b"[rank1]: " + ERROR + b"2024-05-01 10:00:00,250 - t - ERROR - CUDA error: out of memory\n"
    )
    first, second, third = read_job_log([log + ERROR], now_s=5.0)
    assert first.event.time_s == third.event.time_s
    assert (
        first.event.time_s
        == second.event.time_s
        == pytest.approx(time.mktime((2024, 5, 1, 10, 0, 0, 0, 0, -1)) + 0.25)
    )


def test_a_line_of_a_recording_is_read_again():
    """With the job that the recording names."""
    event = job_word("RuntimeError: CUDA error: out of memory", 7.0, "train", "n0")
    assert (event.pattern, event.job, event.time_s, event.host) == ("cuda_oom", "train", 7.0, "n0")
    assert job_word("step 1", 7.0, "train") is None


def test_lines_that_differ_in_numbers_are_looked_at_once():
    """So a gigabyte of progress costs little: nothing in it is looked at twice."""
    sieve = Sieve()
    block = b"".join(b"iteration %d loss %d.%d\n" % (n, n % 7, n) for n in range(1000))
    assert list(sieve.pick(block)) == []
    assert len(sieve._nothing) < 5


def test_a_recorded_word_is_the_incident_it_was(make, tmp_path):
    """A recording holds the line with its job's id; played again, it comes to the same."""
    path = tmp_path / "capture.jsonl"
    with path.open("w", encoding="utf-8") as file:
        capture = CaptureWriter(file)
        capture.start("n0", 1000.0)
        capture.sample(make.node(1001.0))
        capture.log(LogLine(1001.5, "4711", "RuntimeError: CUDA error: misaligned address"), "n0")
        capture.sample(make.node(1002.0))
    monitor = Monitor(MonitorOptions(source=f"stream={path}"))
    snapshots = []
    monitor.start(snapshots.append)
    assert monitor.ended.wait(30)
    monitor.stop()
    (incident,) = snapshots[-1].incidents
    assert (incident.kind, incident.subject) == ("JobFailed", "job:4711")
