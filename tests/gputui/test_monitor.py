"""The monitor: what it tells when readings come, when the log speaks, and when nothing does."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import gputui
from gputui.monitor import Monitor, MonitorOptions, SourceError
from gputui.recording import CaptureReader, CaptureWriter, IncidentRecord, SampleRecord

ROOT = Path(gputui.__file__).parents[1]
XID_79 = "[ 100.0] NVRM: Xid (PCI:0000:11:00): 79, pid=1, name=x, GPU has fallen off the bus.\n"


class Heard:
    """Snapshots as they arrive."""

    def __init__(self) -> None:
        self.snapshots = []
        self._more = threading.Condition()

    def __call__(self, snapshot) -> None:
        with self._more:
            self.snapshots.append(snapshot)
            self._more.notify_all()

    def wait_for(self, true, timeout_s=15.0):
        """The first snapshot of which ``true`` holds."""
        deadline = time.monotonic() + timeout_s
        seen = 0
        with self._more:
            while True:
                for snapshot in self.snapshots[seen:]:
                    if true(snapshot):
                        return snapshot
                seen = len(self.snapshots)
                left = deadline - time.monotonic()
                assert left > 0, self.snapshots[-1:]
                self._more.wait(left)

    def wait_for_states(self, *states):
        return self.wait_for(
            lambda snapshot: [one.state.value for one in snapshot.statuses] == list(states)
        )


@pytest.fixture
def told(tmp_path, monkeypatch, fake_nvml_path):
    """Tells the NVML that a sampler will import what to answer."""
    path = tmp_path / "told.json"

    def tell(**what):
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(what))
        fresh.replace(path)

    tell(gpus=2)
    monkeypatch.setenv("FAKE_NVML", str(path))
    monkeypatch.setattr(sys, "path", [str(fake_nvml_path), *sys.path])
    return tell


@pytest.fixture
def monitor():
    """Makes monitors that are stopped at the end."""
    made = []

    def make(captures=(), **options):
        given = {"interval_s": 0.1, "kernel_log": "none", **options}
        made.append(Monitor(MonitorOptions(**given), captures))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def started(monitor):
    heard = Heard()
    monitor.start(heard)
    return heard


# --- the local sampler ----------------------------------------------------------------------------


def test_readings_arrive_from_a_process_of_their_own(told, monitor):
    """The monitor's process never maps the driver's library, nor imports the binding."""

    def loaded():
        maps = Path("/proc/self/maps").read_text().splitlines()
        return "pynvml" in sys.modules, [line for line in maps if "libnvidia-ml" in line]

    before = loaded()  # other tests of this process may have loaded either
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    assert loaded() == before


def test_a_gpu_is_lost_and_found(told, monitor):
    """The row says LOST while it is, with an incident, and the other GPU goes on."""
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    told(gpus=2, lost=[1])
    heard.wait_for_states("ok", "lost")
    snapshot = heard.wait_for(lambda snapshot: snapshot.incidents)
    assert (snapshot.incidents[0].kind, snapshot.incidents[0].gpu) == ("GpuLost", 1)
    assert snapshot.sample.gpus[1].power_mw == 641_000
    told(gpus=2)
    heard.wait_for(lambda snapshot: snapshot.incidents and snapshot.statuses[1].age_s == 0)
    heard.wait_for_states("ok", "ok")


def children():
    """The processes that this one has started and that still run."""
    listed = (path.read_text().split() for path in Path("/proc/self/task").glob("*/children"))
    return {int(pid) for pids in listed for pid in pids}


def test_one_gpus_hanging_call_does_not_stop_the_others(told, monitor):
    """The suspect is HUNG, with its last readings' age; another sampler reads the other one."""
    watched = monitor()
    heard = started(watched)
    heard.wait_for_states("ok", "ok")
    told(gpus=2, hang=[1])
    snapshot = heard.wait_for_states("ok", "hung")
    assert snapshot.statuses[1].age_s >= 3
    assert snapshot.sample.gpus[1].power_mw == 641_000
    assert snapshot.sample.gpus[1].uuid == "GPU-00000001"
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.gpu, incident.cause) == ("GpuHung", 1, "driver")
    assert snapshot.sample.time_s - incident.opened_s >= 3
    before = time.monotonic()
    watched.stop()
    assert time.monotonic() - before < 0.5


def test_a_call_that_returns_ends_the_hang_and_leaves_one_sampler(told, monitor):
    """The first sampler takes its place again, and the second one is ended."""
    before = children()
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    told(gpus=2, hang=[0])
    heard.wait_for_states("hung", "ok")
    assert len(children() - before) == 2
    told(gpus=2)
    heard.wait_for_states("ok", "ok")
    deadline = time.monotonic() + 10
    while len(children() - before) != 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    heard.wait_for(lambda snapshot: not snapshot.incidents)


def test_a_whole_driver_that_hangs_is_told_with_the_suspect(told, monitor):
    """Nobody answers: the GPU that was asked is HUNG, all others STALE, and quitting is quick."""
    told(gpus=5)
    watched = monitor()
    heard = started(watched)
    heard.wait_for_states(*["ok"] * 5)
    told(gpus=5, hang=[0, 1, 2, 3, 4])
    snapshot = heard.wait_for(
        lambda snapshot: "driver hangs since a call to GPU 0" in str(snapshot.statuses), 40
    )
    assert [one.state.value for one in snapshot.statuses] == ["hung"] + ["stale"] * 4
    assert [(one.kind, one.gpu) for one in snapshot.incidents] == [("GpuHung", 0)]
    before = time.monotonic()
    watched.stop()
    assert time.monotonic() - before < 0.5


def test_a_driver_that_hangs_for_everybody_at_once_is_no_gpus_fault(told, monitor):
    """A call that concerns all names nobody; when it returns, all is well again."""
    before = children()
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    told(gpus=2, hang_driver=True)
    snapshot = heard.wait_for(lambda snapshot: snapshot.incidents)
    assert (snapshot.incidents[0].kind, snapshot.incidents[0].gpu) == ("GpuHung", None)
    assert [one.state.value for one in snapshot.statuses] == ["stale", "stale"]
    heard.wait_for(lambda snapshot: snapshot.silent_s > 8)
    assert len(children() - before) <= 4
    told(gpus=2)
    heard.wait_for_states("ok", "ok")


def test_a_sampler_that_is_stopped_is_replaced(told, monitor):
    """Stopped between two calls it hangs nowhere: no GPU is blamed."""
    before = children()
    watched = monitor()
    heard = started(watched)
    heard.wait_for_states("ok", "ok")
    sampler = watched._source._voice
    deadline = time.monotonic() + 10
    while True:
        # Caught in a call it would look as if the driver hung: let it go on and try again.
        os.kill(sampler.pid, signal.SIGSTOP)
        if sampler.asking is None:
            break
        os.kill(sampler.pid, signal.SIGCONT)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    stopped_s = time.time()
    snapshot = heard.wait_for(
        lambda snapshot: snapshot.sample.time_s > stopped_s + 1 and not snapshot.silent_s
    )
    assert not snapshot.incidents
    assert sampler.pid not in children()
    assert len(children() - before) == 1


def test_a_sampler_that_dies_is_started_again(told, monitor):
    """A crash in the driver's library costs a second, not the monitor."""
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    told(gpus=2, crash=1)
    heard.wait_for(lambda snapshot: snapshot.sample.error, timeout_s=30)
    assert "SIGABRT" in heard.snapshots[-1].sample.error
    told(gpus=2)
    heard.wait_for_states("ok", "ok")


def test_a_driver_that_unloads_and_returns(told, monitor):
    """While it is gone the GPUs are stale and the reason is told; then all is well again."""
    heard = started(monitor())
    heard.wait_for_states("ok", "ok")
    told(gpus=2, init=9)
    snapshot = heard.wait_for_states("stale", "stale")
    assert "driver is not loaded" in snapshot.sample.error
    told(gpus=2)
    heard.wait_for_states("ok", "ok")


def test_the_first_sample_can_be_had_before_the_start(told, monitor):
    """Whoever asks for it does not take it away from those who listen later."""
    watched = monitor(interval_s=60.0)
    first = watched.wait_for_first(15)
    assert first is not None
    assert first.gpu_count == 2
    started(watched).wait_for_states("ok", "ok")


# --- the kernel log -------------------------------------------------------------------------------


def test_the_log_speaks_at_once_and_hurries_the_sampler(told, monitor, tmp_path):
    """Between two readings a minute apart, an Xid and the loss it announces are seen at once."""
    log = tmp_path / "kern.log"
    log.write_text("")
    heard = started(monitor(interval_s=60.0, kernel_log=str(log)))
    heard.wait_for_states("ok", "ok")
    told(gpus=2, lost=[1])
    with log.open("a") as file:
        file.write(XID_79)
    snapshot = heard.wait_for(lambda snapshot: len(snapshot.incidents) == 2, timeout_s=5)
    assert [one.kind for one in snapshot.incidents] == ["GpuLost", "GpuXid"]
    assert snapshot.statuses[1].state.value == "lost"


def test_what_the_log_said_before_the_start_is_known(told, monitor, tmp_path):
    """An incident from before is there with the first snapshot; one of another boot is not."""
    log = tmp_path / "kern.log"
    log.write_text(XID_79.replace(": 79", ": 48") + "[ 0.0] Linux version 6.8.0\n" + XID_79)
    heard = started(monitor(kernel_log=str(log)))
    snapshot = heard.wait_for(lambda snapshot: snapshot.statuses)
    assert [incident.cause_text[:6] for incident in snapshot.incidents] == ["Xid 79"]


def test_a_log_that_cannot_be_read_is_said_and_nothing_else_changes(told, monitor, tmp_path):
    """The monitor goes on, with a notice."""
    heard = started(monitor(kernel_log=str(tmp_path / "none.log")))
    snapshot = heard.wait_for_states("ok", "ok")
    assert "No kernel log can be read" in snapshot.notices[0]


# --- streams, recordings --------------------------------------------------------------------------


def test_a_stream_brings_samples_and_log_lines(monitor, make, tmp_path):
    """What somebody else samples is watched all the same, until they end."""
    fifo = tmp_path / "stream"
    os.mkfifo(fifo)
    watched = monitor(source=f"stream={fifo}", interval_s=1.0)
    heard = started(watched)
    with fifo.open("w") as out:
        capture = CaptureWriter(out)
        capture.sample(make.node(1000.0))
        heard.wait_for_states(*["ok"] * 8)
        out.write('{"t":0.5,"event":"log","source":"kernel","text":')
        out.write(json.dumps(XID_79.strip()) + "}\nrubbish\n")
        out.flush()
        heard.wait_for(lambda snapshot: snapshot.incidents)
        capture.sample(make.node(1001.0, make.lost(1)))
        snapshot = heard.wait_for(lambda snapshot: len(snapshot.incidents) == 2)
        assert any("not JSON" in notice for notice in snapshot.notices)
    assert watched.ended.wait(10)


def test_a_recording_gives_back_the_incidents_it_was_made_of(told, monitor, make, tmp_path):
    """What was recorded can be replayed: the same incidents, computed anew."""
    record = tmp_path / "run.jsonl"
    log = tmp_path / "kern.log"
    log.write_text("")
    watched = monitor(record=record, kernel_log=str(log))
    heard = started(watched)
    heard.wait_for_states("ok", "ok")
    told(gpus=2, lost=[1])
    with log.open("a") as file:
        file.write(XID_79)
    heard.wait_for(lambda snapshot: len(snapshot.incidents) == 2)
    watched.stop()
    recorded = list(CaptureReader().read_all(record.read_text().splitlines()))
    kinds = [one.incident.kind for one in recorded if isinstance(one, IncidentRecord)]
    assert set(kinds) == {"GpuLost", "GpuXid"}
    lost = [one for one in recorded if isinstance(one, SampleRecord)][-1].sample.gpus[1]
    assert (lost.return_code, lost.power_mw) == (15, None)

    replayed = started(monitor(source=f"replay={record}"))
    snapshot = replayed.wait_for(lambda snapshot: len(snapshot.incidents) == 2)
    assert [one.kind for one in snapshot.incidents] == ["GpuLost", "GpuXid"]


def test_a_disk_that_is_full_ends_the_recording_not_the_monitor(told, monitor):
    """What cannot be recorded any more is said, once."""

    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def flush(self):
            pass

    heard = started(monitor([CaptureWriter(Full())]))
    snapshot = heard.wait_for_states("ok", "ok")
    assert "Recording stopped: No space left on device." in snapshot.notices


def test_a_reader_that_goes_ends_the_stream(told, monitor):
    """A broken pipe is an ordinary end."""
    read, write = os.pipe()
    out = os.fdopen(write, "w")
    watched = monitor([CaptureWriter(out)])
    started(watched).wait_for_states("ok", "ok")
    os.close(read)
    assert watched.ended.wait(10)
    with contextlib.suppress(BrokenPipeError):
        out.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "elsewhere"}, 'no source "elsewhere"; expected local, ssh:HOST, stream=PATH'),
        ({"source": "stream=/does/not/exist"}, "cannot read /does/not/exist: No such file"),
        ({"source": "stream=/"}, "/ is a directory"),
        ({"source": "replay=/dev/null"}, "/dev/null is no file; expected a recording"),
        ({"source": "replay=/dev/zero"}, "/dev/zero is no file; expected a recording"),
        ({"source": "stream=/dev/zero"}, "/dev/zero is a device; expected a FIFO or a file"),
        ({"source": "replay="}, "names no file"),
    ],
)
def test_a_source_that_cannot_be_had_is_an_error_in_words(monitor, options, words):
    """What was asked for, and what was expected or why not."""
    with pytest.raises(SourceError, match=words.replace("(", r"\(")):
        monitor(**options).launch()


@pytest.mark.parametrize("kind", ["replay", "stream"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no recording: it is empty"),
        (b"\n# Notes\n", "is no recording: line 2: not JSON"),
        (b"\x7fELF\x00\xff" * 1000, "is no recording: line 1: not JSON"),
        (b'{"t": 1}\n', "is no recording: line 1: event: found nothing"),
        (b'23.4,"event":"start"}\n', "is no recording: line 1: not JSON"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(monitor, tmp_path, kind, content, words):
    """The first line tells, at once and not after having passed over all of it."""
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(SourceError, match=f"{file} {words}"):
        monitor(source=f"{kind}={file}").launch()


def test_a_recording_is_not_written_over(monitor, tmp_path):
    """What is there already is kept; an empty file, a FIFO and a device can be recorded into."""
    record = tmp_path / "run.jsonl"
    record.write_text("precious")
    with pytest.raises(SourceError, match="there already and not empty"):
        monitor(record=record).launch()
    assert record.read_text() == "precious"
    record.write_text("")
    monitor(record=record).launch()
    assert record.read_text().startswith('{"t":0,"event":"start"')
    monitor(record=Path("/dev/null")).launch()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    monitor(record=fifo).launch()
    assert os.read(reader, 100).startswith(b'{"t":0,"event":"start"')
    os.close(reader)


def test_a_fault_of_our_own_is_told_and_does_not_freeze_the_screen(told, monitor, monkeypatch):
    """A bug in judging a sample becomes a notice; the next snapshots still come."""
    watched = monitor()
    real = watched._assessor.sample
    failing = [True]

    def sample(node):
        if failing:
            failing.pop()
            raise ZeroDivisionError("a bug")
        return real(node)

    monkeypatch.setattr(watched._assessor, "sample", sample)
    snapshot = started(watched).wait_for_states("ok", "ok")
    assert "The monitor failed: ZeroDivisionError: a bug." in snapshot.notices


def test_nobody_is_left_behind_when_the_monitor_is_killed(told):
    """The sampler goes with its parent, however that ends."""
    program = textwrap.dedent("""
        import sys, time
        from gputui.monitor import Monitor, MonitorOptions
        monitor = Monitor(MonitorOptions(kernel_log="none"))
        monitor.launch()
        print(monitor._source._voice.pid, flush=True)
        time.sleep(60)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        sampler = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{sampler}").exists():
        if "Z" in Path(f"/proc/{sampler}/stat").read_text().split(")")[1]:
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_driver_that_hangs_from_the_start_is_an_incident(told, monitor):
    """Nothing was ever read: the call that does not return is told, with an incident, and ends."""
    told(gpus=2, hang_driver=True)
    heard = started(monitor())
    snapshot = heard.wait_for(lambda snapshot: snapshot.incidents, 40)
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.cause, incident.gpu) == ("GpuHung", "driver", None)
    assert incident.subject.startswith("node:")
    assert "does not return" in snapshot.sample.error
    told(gpus=2)
    heard.wait_for_states("ok", "ok")


def test_a_sampler_that_is_stopped_from_the_start_is_replaced(told, monitor):
    """It never said a word, and asks nobody: another one takes its place."""
    watched = monitor()
    watched.launch()
    children = Path("/proc/thread-self/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGSTOP)
    heard = started(watched)
    heard.wait_for(lambda snapshot: len(snapshot.statuses) == 2, 40)
