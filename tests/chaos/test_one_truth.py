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
        for at_s, family, arguments in FAULTS:
            run.run(at_s - run.now_s)
            run.inject(family, **arguments)
        run.run(60)
    return run, path


def told(incidents):
    """Each incident as it was told last, but for its words, which come with each reading."""
    last = {one.id: one for one in incidents}
    return {
        name: (
            one.kind, one.subject, one.severity, one.cause, one.action, one.count, one.opened_s,
            one.cleared_s, one.parent, one.children,
        )
        for name, one in last.items()
    }  # fmt: skip


def test_a_recording_tells_what_was_told_when_it_was_made(recorded):
    """Ids, kinds, causes, counts, times and what hangs under what are the same."""
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
