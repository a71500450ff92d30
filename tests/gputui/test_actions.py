"""Ending a process: only when allowed, only the very one that was shown, and never unwritten."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from gputui import actions
from gputui.actions import NOT_HERE, OFF, Outcome, end_process
from gputui.audit import AuditLog, default_path
from gputui.model import ProcessSample
from gputui.sources.namespace import HOST_PID
from gputui.sources.processes import ProcessTable


@pytest.fixture
def audit(tmp_path):
    return AuditLog(tmp_path / "state" / "actions.jsonl")


@pytest.fixture
def child():
    """A process of our own that waits to be ended."""
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        try:
            yield started
        finally:
            started.kill()


def seen(pid, **changed):
    """The process as the monitor shows it, on GPU 3."""
    return replace(ProcessTable().look([pid])[pid].joined(ProcessSample(pid, 3)), **changed)


def written(audit):
    if not audit.path.exists():
        return []
    return [json.loads(line) for line in audit.path.read_text().splitlines()]


@pytest.fixture
def end(audit):
    def end(process, number=signal.SIGTERM, *, allowed=True, is_here=True):
        return end_process(process, number, allowed=allowed, is_here=is_here, audit=audit)

    return end


@pytest.mark.parametrize("number", actions.SIGNALS)
def test_the_process_that_was_shown_gets_the_signal(child, end, audit, number):
    """It ends by that very signal, and the log says who asked for it."""
    result = end(seen(child.pid), number)
    assert result.outcome is Outcome.SENT
    assert number.name in result.text
    status = child.wait(timeout=30)
    # An interpreter that is interrupted at its first instant ends by itself, with an error.
    assert status in (-number, 1 if number == signal.SIGINT else -number)
    (entry,) = written(audit)
    assert (entry["signal"], entry["pid"], entry["outcome"]) == (number.name, child.pid, "sent")
    assert entry["gpu"] == 3
    assert entry["by"]


def test_nothing_is_sent_unless_it_is_allowed(child, end, audit):
    """Off is off: the process lives, and how to turn it on is said."""
    result = end(seen(child.pid), allowed=False)
    assert result.outcome is Outcome.REFUSED
    assert OFF in result.text
    assert child.poll() is None
    assert written(audit) == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"start_ticks": 1}, "its PID is another's now"),
        ({"start_ticks": None}, "it is not known when the process began"),
        ({"unreachable": HOST_PID}, HOST_PID),
        ({"pid": 1}, "it is the first process"),
        ({"pid": 0}, "it is the first process"),
        ({"pid": -1}, "it is the first process"),
    ],
)
def test_whom_it_might_hit_instead_is_spared(child, end, audit, changed, reason):
    """Another identity, another namespace, the first process: refused, written, nobody hit."""
    result = end(replace(seen(child.pid), **changed), signal.SIGKILL)
    assert result.outcome is Outcome.REFUSED
    assert reason in result.text
    assert child.poll() is None
    assert written(audit)[-1]["outcome"] == "refused"


def test_it_does_not_end_itself(end):
    """There is a key for that."""
    assert "gputui itself" in end(seen(os.getpid()), signal.SIGKILL).text


def test_a_process_of_another_machine_is_never_signalled(child, end):
    """A stream or a recording shows PIDs too."""
    result = end(seen(child.pid), is_here=False)
    assert NOT_HERE in result.text
    assert child.poll() is None


def test_only_signals_that_end_are_sent(child, end):
    """Not one that stops, and not one whose meaning is the program's own."""
    result = end(seen(child.pid), signal.SIGSTOP)
    assert "expected one of SIGINT, SIGTERM, SIGKILL" in result.text
    assert child.poll() is None


def test_a_process_that_has_ended_is_no_error(child, end, audit):
    """Vanished is normal; also as a zombie that its parent has not taken note of."""
    shown = seen(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert end(shown).outcome is Outcome.GONE
    child.wait(timeout=30)
    assert end(shown).outcome is Outcome.GONE
    assert [entry["outcome"] for entry in written(audit)] == ["gone", "gone"]


def test_a_kernel_without_process_descriptors_checks_and_sends(child, end, monkeypatch):
    """Before Linux 5.3, or where a container forbids the call."""
    monkeypatch.setattr(actions, "_HAS_PIDFD", False)
    shown = seen(child.pid)
    assert end(seen(child.pid, start_ticks=1)).outcome is Outcome.REFUSED
    assert child.poll() is None
    assert end(shown).outcome is Outcome.SENT
    assert child.wait(timeout=30) == -signal.SIGTERM


def test_what_cannot_be_written_down_is_not_done(child, tmp_path):
    """A log that cannot be written stops the signal, and says why."""
    (tmp_path / "state").write_text("not a folder")
    audit = AuditLog(tmp_path / "state" / "actions.jsonl")
    shown = seen(child.pid)
    result = end_process(shown, signal.SIGKILL, allowed=True, is_here=True, audit=audit)
    assert result.outcome is Outcome.REFUSED
    assert str(audit.path) in result.text
    assert child.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another user")
def test_another_users_process_is_theirs(child):
    """No permission is told as that, with whose the process is."""
    shown = seen(child.pid)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        audit = AuditLog(Path(folder) / "state" / "actions.jsonl")
        other = os.fork()
        if other == 0:
            try:
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                end_process(shown, signal.SIGKILL, allowed=True, is_here=True, audit=audit)
            finally:
                os._exit(0)
        os.waitpid(other, 0)
        _, last = written(audit)
    assert last["outcome"] == "failed"
    assert f"it is {shown.user}'s" in last["text"]
    assert child.poll() is None


def test_the_log_is_the_users_alone_and_bounded(audit):
    """Mode 600 in a folder of mode 700; a full one is put aside, so that two are the most."""
    audit.write({"text": "x" * (1 << 20)})
    assert audit.path.stat().st_mode & 0o777 == 0o600
    assert audit.path.parent.stat().st_mode & 0o777 == 0o700
    for number in range(3):
        audit.write({"number": number})
    assert [entry["number"] for entry in written(audit)] == [0, 1, 2]
    assert sorted(path.name for path in audit.path.parent.iterdir()) == [
        "actions.jsonl", "actions.jsonl.1",
    ]  # fmt: skip


def test_the_log_lies_in_the_state_folder(monkeypatch, tmp_path):
    """As the XDG base directories have it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "gputui" / "actions.jsonl"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".local/state/gputui/actions.jsonl"


def test_a_log_that_is_a_link_is_not_followed(audit, tmp_path, child):
    """Under sudo, somebody else's link must not lead root's writing elsewhere."""
    audit.path.parent.mkdir(parents=True)
    target = tmp_path / "target"
    audit.path.symlink_to(target)
    shown = seen(child.pid)
    result = end_process(shown, signal.SIGTERM, allowed=True, is_here=True, audit=audit)
    assert result.outcome is Outcome.REFUSED
    assert not target.exists()
