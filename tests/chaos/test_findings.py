"""Findings about a script, from journals written by hand."""

from __future__ import annotations

import pytest

from chaos.finding import finders, findings
from chaos.journal import Record
from chaos.judging.script import unwrapped

SECOND_US = 1_000_000


class Script:
    """A journal of one run of a runbook, step by step. A call takes a second unless it is told."""

    def __init__(self, *, scheduler: str | None = "slurm") -> None:
        self.records: list[Record] = []
        self._us = 0
        self.note("start", scenario="drill", scheduler=scheduler)
        self.note("runbook", node="n0", argv=["./fix.sh"], incident="i1")

    def note(self, event: str, **facts: object) -> Record:
        record = Record(len(self.records) + 1, self._us, event, facts)
        self.records.append(record)
        return record

    def call(self, text: str, *deeds: str, status: int = 0, took_s: float = 1) -> int:
        """A call, and what it did; the number of its line."""
        argv = text.split()
        line = self.note("call", node="n0", argv=argv).number
        for deed in deeds:
            self.note("action", action=deed, node="n0", ok=True, detail="")
        self._us += round(took_s * SECOND_US)
        self.note("return", node="n0", argv=argv, exit=status)
        return line

    def found(self, status: int = 0) -> list[tuple[str, int]]:
        """The findings, now that it ends: each by its sort and its line."""
        self.note("runbook", node="n0", argv=["./fix.sh"], incident="i1", exit=status)
        return [(one.slug, one.line) for one in findings(self.records)]


@pytest.fixture
def script() -> Script:
    return Script()


def _careful(script: Script) -> None:
    script.call("scontrol update nodename=n0 state=drain reason=x", "drain")
    script.call("dmesg -T")
    script.call("nvidia-smi -q -i 3")


def test_a_careful_script_has_none(script):
    """Drained, evidence kept, looked after each wait: nothing is to be said."""
    _careful(script)
    script.call("sleep 30", took_s=30)
    script.call("sinfo -h -n n0 -o %t")
    script.call("nvidia-smi -i 3 -r", "reset_gpu")
    script.call("scontrol update nodename=n0 state=resume", "resume")
    assert script.found() == []


def test_a_query_that_failed_and_was_not_taken_up(script):
    """The script ended with 0 though it never learned what it had asked."""
    line = script.call("timeout 30 nvidia-smi -L", status=124, took_s=30)
    assert script.found() == [("failed-open", line)]


@pytest.mark.parametrize("status", [1, None])
def test_a_script_that_says_that_it_failed_has_not_failed_open(script, status):
    """Its own exit status tells."""
    script.call("nvidia-smi -L", status=15)
    assert script.found(status) == []


def test_a_query_that_succeeded_at_last_is_no_failure(script):
    """It was asked again until it was answered."""
    script.call("nvidia-smi -L", status=15)
    script.call("nvidia-smi -L")
    assert script.found() == []


def test_a_failure_that_was_acted_upon_is_none(script):
    """A node is drained because nothing was answered."""
    script.call("nvidia-smi -L", status=15)
    script.call("scontrol update nodename=n0 state=drain reason=x", "drain")
    assert script.found() == []


def test_an_exit_status_that_is_an_answer_is_no_failure(script):
    """There is no such process; a service is not active."""
    script.call("pgrep nv-hostengine", status=1)
    script.call("systemctl is-active nvidia-persistenced", status=3)
    assert script.found() == []


def test_a_program_called_by_its_path_is_told_once(script):
    """Also behind what only starts it."""
    first = script.call("/usr/bin/nvidia-smi -L")
    script.call("/usr/bin/nvidia-smi -q")
    other = script.call("sudo -n timeout 5 /usr/sbin/dmidecode -s system-serial-number")
    assert script.found() == [("absolute-path", first), ("absolute-path", other)]


def test_a_reset_before_the_drain(script):
    """At the action's own line."""
    script.call("dmesg")
    script.call("nvidia-smi -q")
    line = script.call("nvidia-smi -i 3 -r", "reset_gpu") + 1
    script.call("scontrol update nodename=n0 state=drain reason=x", "drain")
    assert script.found() == [("acted-before-drain", line)]


def test_a_drained_node_that_is_given_back_is_not_drained(script):
    """Whoever resumes it has to drain it again."""
    _careful(script)
    script.call("scontrol update nodename=n0 state=resume", "resume")
    line = script.call("reboot", "reboot") + 1
    assert script.found() == [("acted-before-drain", line)]


def test_without_a_scheduler_there_is_nothing_to_drain():
    """No work is placed by anybody."""
    script = Script(scheduler=None)
    script.call("dmesg")
    script.call("nvidia-smi --query-gpu=ecc.mode.current --format=csv")
    script.call("nvidia-smi -i 3 -r", "reset_gpu")
    assert script.found() == []


def test_evidence_that_was_not_kept(script):
    """What is missing is named."""
    script.call("scontrol update nodename=n0 state=drain reason=x", "drain")
    script.call("nvidia-smi -q")
    line = script.call("reboot", "reboot") + 1
    script.found()
    (one,) = findings(script.records)
    assert (one.slug, one.line) == ("evidence-lost", line)
    assert "the kernel's log (dmesg, journalctl)" in one.text
    assert "nvidia-smi -q" not in one.text


def test_a_bug_report_is_all_the_evidence(script):
    """It holds the kernel's log and the GPUs' state."""
    script.call("scontrol update nodename=n0 state=drain reason=x", "drain")
    script.call("nvidia-bug-report.sh")
    script.call("reboot", "reboot")
    assert script.found() == []


@pytest.mark.parametrize("then", ["act", "end"])
def test_a_wait_without_a_look_afterwards(script, then):
    """What comes after a long sleep is a deed, or the end."""
    _careful(script)
    line = script.call("sleep 300", took_s=300)
    if then == "act":
        script.call("nvidia-smi -i 3 -r", "reset_gpu")
    assert script.found() == [("slept-blindly", line)]


def test_a_short_breath_is_no_wait(script):
    """A second between two steps."""
    _careful(script)
    script.call("sleep 1")
    script.call("nvidia-smi -i 3 -r", "reset_gpu")
    assert script.found() == []


def test_a_deed_that_was_refused_is_none(script):
    """A reset of a GPU in use changes nothing."""
    script.call("nvidia-smi -i 3 -r", status=1)
    script.note("action", action="reset_gpu", node="n0", ok=False, detail="in use")
    assert ("acted-before-drain", 5) not in script.found()


def test_a_run_without_a_runbook_has_none():
    """Nobody acted, nothing is to be said."""
    assert findings([Record(1, 0, "start", {"scenario": "drill"})]) == ()
    assert findings([]) == ()


def test_all_sorts_are_found_by_being_there():
    """A file each."""
    assert set(finders()) == {
        "absolute-path",
        "acted-before-drain",
        "evidence-lost",
        "failed-open",
        "slept-blindly",
    }


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("sudo nvidia-smi -L", "nvidia-smi -L"),
        ("sudo -n -u root nvidia-smi", "nvidia-smi"),
        ("timeout -k 5 30s nvidia-smi -q", "nvidia-smi -q"),
        ("env A=1 B=2 dmesg", "dmesg"),
        ("chroot /host nvidia-smi", "nvidia-smi"),
        ("sudo", "sudo"),
        ("sleep 5", "sleep 5"),
    ],
)
def test_what_only_starts_another_is_passed_over(words, command):
    """The command is what is started."""
    assert " ".join(unwrapped(tuple(words.split()))) == command
