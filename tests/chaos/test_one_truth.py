"""The same readings and lines give the same incidents: in virtual time, and from a recording."""

import io

import pytest

from gputui.logs.kernel import KERNEL
from gputui.model import LogLine
from gputui.monitor import Monitor, MonitorOptions
from gputui.recording import CaptureReader, CaptureWriter, IncidentRecord

FAULTS = [
    (10.3, "lost", {"gpu": 3}),
    (12.3, "xid", {"gpu": 2, "code": 48}),
    (12.4, "xid", {"gpu": 2, "code": 45, "log_only": True}),
    (20.3, "thermal", {"gpu": 1, "airflow": "20%"}),
    (30.3, "xid", {"gpu": 0, "code": 31, "times": 3, "every": "2s"}),
]


@pytest.fixture
def recorded(watched, tmp_path):
    """A run that was looked at second by second, and the recording that a monitor makes of it."""
    run = watched(gpus=4, looks="polling")
    path = tmp_path / "run.jsonl"
    with path.open("w", encoding="utf-8") as out:
        capture = CaptureWriter(out)
        capture.start("n0", 0.0)
        node = run.watching.nodes["n0"]
        assess = node._assessor.sample

        def sample(one):
            capture.sample(one)
            return assess(one)

        node._assessor.sample = sample
        run.node.kernel_log.listen(
            lambda line: capture.log(LogLine(line.at_us / 1e6, KERNEL, line.text))
        )
        run.node.job_log.listen(
            lambda line: capture.log(LogLine(line.at_us / 1e6, line.job, line.text))
        )
        for at_s, family, arguments in FAULTS:
            run.run(at_s - run.now_s)
            run.inject(family, **arguments)
        run.run(60)
    return run, path


def told(incidents):
    """Each incident as it was told last, but for its words, which come with each reading.

    A recording names the job that said something and not the rank, so that the index of its GPU,
    which is in an id, is not known: kind, subject and time tell incidents apart.
    """
    last = {one.id: one for one in incidents}
    names = {one.id: (one.kind, one.subject, one.opened_s) for one in last.values()}
    return {
        names[one.id]: (
            one.severity, one.cause, one.action, one.count, one.cleared_s,
            names.get(one.parent), sorted(names[child] for child in one.children),
        )
        for one in last.values()
    }  # fmt: skip


def test_a_recording_tells_what_was_told_when_it_was_made(recorded):
    """Kinds, subjects, causes, counts, times and what hangs under what are the same."""
    run, path = recorded
    out = io.StringIO()
    options = MonitorOptions(source=f"stream={path}", kernel_log="none")
    monitor = Monitor(options, [CaptureWriter(out)])
    monitor.start(lambda snapshot: None)
    assert monitor.ended.wait(60)
    monitor.stop()
    records = CaptureReader().read_all(out.getvalue().splitlines())
    again = told(one.incident for one in records if isinstance(one, IncidentRecord))
    assert again == told(one.incident for one in run.told)
    assert len(again) >= 5
