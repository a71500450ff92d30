"""An unmodified runbook, run against a fake node in virtual time."""

from __future__ import annotations

import os
import platform
import re
from itertools import pairwise
from pathlib import Path

import pytest

CAPS = "  - {action: set_power_limit, gpu: n0/3, within: 3m}\n"
COOLS = "  - {state: {gpu: n0/3, throttled: false}, within: 10m, hold: 2m}\n"


def test_a_runbook_acts_and_is_judged_by_what_came_of_it(who, rehearse):
    """A shell script, unchanged, as root and as a plain user."""
    script = 'nvidia-smi -i "$1" -pl 300; sleep 60; nvidia-smi -i "$1" --query-gpu=power.draw'
    done = rehearse(who, f"set -e\n{script} --format=csv,noheader", CAPS + COOLS)
    assert done.status == 0, done.printed
    assert [call.split()[0] for call in done.calls] == ["nvidia-smi", "sleep", "nvidia-smi"]
    ((ended_s, status),) = done.ended
    assert status == 0
    assert ended_s > 64 + 60


def test_a_runbook_that_does_nothing_fails(me, rehearse):
    """The scenario passes by what the runbook does, and not by itself."""
    done = rehearse(me, "true", CAPS + COOLS)
    assert done.status == 1, done.printed
    assert done.printed.count("NOT MET") == 2


def test_hours_of_sleep_take_no_time(me, rehearse):
    """The clock jumps while everybody sleeps; sleeps side by side overlap."""
    done = rehearse(me, "sleep 1h & sleep 30m & wait", "  - {exit: 0, within: 2h}\n")
    assert done.status == 0, done.printed
    ((ended_s, _),) = done.ended
    assert ended_s == pytest.approx(64 + 3600, abs=1)
    assert done.real_s < 60


def test_each_call_takes_its_time(me, rehearse):
    """A loop that polls without a pause comes to its end."""
    script = "for i in $(seq 20); do nvidia-smi -L >/dev/null; done"
    done = rehearse(me, script, "  - {exit: 0, within: 5m}\n")
    assert done.status == 0, done.printed
    times = [record["t"] for record in done.of("call")]
    gaps = {round(later - earlier, 3) for earlier, later in pairwise(times)}
    assert len(times) == 20
    assert gaps == {0.6}


def test_the_same_run_writes_the_same_journal(me, rehearse):
    """Byte for byte, with real processes side by side."""
    script = "nvidia-smi -L & nvidia-smi -q & sleep 5 & wait; nvidia-smi -i 3 -pl 400"
    journals = {rehearse(me, script, CAPS).bytes for _ in range(3)}
    assert len(journals) == 1


def test_a_process_that_is_killed_is_an_action(me, rehearse):
    """By the shell's own kill, which no look-alike sees; its memory is free."""
    script = (
        "pid=$(nvidia-smi -i $1 --query-compute-apps=pid --format=csv,noheader); kill -9 $pid\n"
        "sleep 5; nvidia-smi -i $1 --query-gpu=memory.used --format=csv,noheader"
    )
    kills = "  - {action: kill, gpu: n0/3, job: train, within: 3m}\n"
    done = rehearse(me, script, kills + "  - {state: {gpu: n0/3, processes: '0'}, within: 3m}\n")
    assert done.status == 0, done.printed


def test_a_command_that_is_not_understood_leaves_the_verdict_unknown(me, rehearse):
    """It is named, and its exit status is 125."""
    done = rehearse(me, "sleep --no-such-option; test $? = 125", CAPS)
    assert done.status == 2, done.printed
    assert "sleep --no-such-option" in done.printed


def test_misuse_is_no_lack_of_understanding(me, rehearse):
    """The real ``timeout`` has an exit status of 125 of its own, and so has what it runs."""
    script = (
        "timeout nonsense true; test $? = 125 || exit 7\n"
        "timeout -s NOPE 1 true; test $? = 125 || exit 8\n"
        "timeout 5 bash -c 'exit 125'; test $? = 125 || exit 9"
    )
    done = rehearse(me, script, "  - {exit: 0, within: 3m}\n")
    assert done.status == 0, done.printed


def test_timeout_is_the_runs(me, rehearse):
    """Of a command that hangs with its driver, of one that does not end at once, of a shell's."""
    script = (
        "timeout 30 nvidia-smi; echo $? $SECONDS\n"
        "timeout -k 5s 1m bash -c 'trap : TERM; while :; do sleep 1; done'; echo $? $SECONDS\n"
        "sleep 1e1; echo $SECONDS; sleep 1m 30s; echo $SECONDS; exit 3"
    )
    hangs = "timeline:\n  - {at: 31s, hang: {gpu: n0/3}}\n"
    done = rehearse(me, script, "  - {exit: 0, within: 9m}\n", timeline=hangs, when="GpuHung")
    assert done.status == 1, done.printed
    printed = re.findall(r"^\s+\| (.*)$", done.printed, re.MULTILINE)
    assert printed[-4:] == ["124 30", "137 95", "105", "195"], done.printed


def test_a_wrong_exit_status_is_told(me, rehearse):
    """It fails the run: the scenario says how its runbook ends."""
    done = rehearse(me, "exit 3")
    assert done.status == 1, done.printed
    assert "ended with 3" in done.printed


def test_a_runbook_without_end_is_ended_with_the_run(me, rehearse, wait_until):
    """It is given up when the last deadline has passed, and nothing of it is left."""
    mark = f"gt-endless-{os.getpid()}"
    done = rehearse(me, f"exec -a {mark} bash -c 'while :; do sleep 10; done'", CAPS)
    assert done.status == 1, done.printed
    found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _text(path)]
    assert found == []


def test_a_runbook_that_prints_without_end_does_no_harm(me, rehearse):
    """Its output is read on, and kept as far as anybody would read it."""
    done = rehearse(me, "head -c 30000000 /dev/zero; nvidia-smi -i $1 -pl 300", CAPS)
    assert done.status == 0, done.printed


def test_a_runbook_reads_the_incident_it_is_for(me, rehearse):
    """As JSON in its environment, and in its arguments."""
    script = (
        'test "$1 $2" = "3 n0" || exit 9\n'
        'case "$GPUTUI_INCIDENT" in *\'"kind":"GpuThermalThrottle"\'*) exit 0;; esac; exit 8'
    )
    done = rehearse(me, script, "  - {exit: 0, within: 3m}\n")
    assert done.status == 0, done.printed


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the call's number is another one")
def test_sleeping_by_the_machines_clock_is_told(me, rehearse):
    """A program that only the kernel sees waits in real time: nobody knows the run's."""
    code = "import ctypes; ctypes.CDLL(None).syscall(35, (ctypes.c_long * 2)(1, 0), 0)"
    done = rehearse(me, f"{me.python} -c '{code}'; nvidia-smi -i $1 -pl 300", CAPS)
    assert done.status == 2, done.printed
    assert re.search("waits by this machine's clock", done.printed)


def test_nothing_of_this_machine_is_changed(me, rehearse, folder):
    """What a runbook writes stays on the node."""
    script = "touch /usr/bin/gt-was-here /etc/gt-was-here $HOME/gt-was-here ./gt-was-here; true"
    done = rehearse(me, script, "  - {exit: 0, within: 3m}\n")
    assert done.status == 0, done.printed
    home = Path(me.env.get("HOME", "/root"))
    for place in (Path("/usr/bin"), Path("/etc"), home, folder):
        assert not (place / "gt-was-here").exists()


def test_what_a_runbook_printed_is_shown_when_it_did_not_pass(me, rehearse):
    """Its last lines, as a terminal may show them."""
    done = rehearse(me, "seq 30; printf 'why\\033[31m not\\n'; exit 3")
    assert done.status == 1, done.printed
    assert "the runbook printed, the last 20 of 31 lines:" in done.printed
    assert "| 12\n" in done.printed
    assert "| 11\n" not in done.printed
    assert "| why?[31m not\n" in done.printed


def test_braces_in_arguments_stay_as_they_are(me, rehearse, folder):
    """Only {node} and {gpu} are filled in; another name in braces is a mistake."""
    odd = '["{0}", "{", "{gpu:d}", "{\\"gpu\\": {gpu}}"]'
    done = rehearse(me, 'printf "%s\\n" "$@"; exit 3', runbook=f"exit: 0, args: {odd}")
    assert done.status == 1, done.printed
    for line in ("{0}", "{", "{gpu:d}", '{"gpu": 3}'):
        assert f"| {line}\n" in done.printed
    done = rehearse(me, "true", runbook='args: ["{gpus}"]')
    assert done.status == 254
    assert re.search(r"drill.yaml:\d+:\d+: args: unknown name '\{gpus\}'", done.printed)


def test_a_runbook_beside_the_scenario_needs_no_slash(me, rehearse):
    """It is taken from there before any other."""
    done = rehearse(me, "nvidia-smi -i $1 -pl 300", CAPS, program="runbook")
    assert done.status == 0, done.printed


@pytest.mark.parametrize(
    ("program", "wrong"),
    [
        ("no-such-program", "no program 'no-such-program' on this machine's PATH"),
        ("./scripts", "scripts' is a directory, not a program"),
        ("./plain", "plain' is not executable: chmod +x it"),
    ],
)
def test_a_runbook_that_cannot_be_started_is_a_mistake(me, rehearse, folder, program, wrong):
    """With its place, before anything is run."""
    (folder / "scripts").mkdir()
    (folder / "plain").write_text("true\n", encoding="utf-8")
    done = rehearse(me, "true", program=program)
    assert done.status == 254
    assert wrong in done.printed
    assert re.search(r"drill.yaml:\d+:\d+: run: ", done.printed)


def test_a_runbook_that_was_never_started_fails(me, rehearse):
    """Its incident did not open: nothing was tested."""
    done = rehearse(me, "true", runbook="on: n0", when="GpuLost")
    assert done.status == 1, done.printed
    assert "the runbook was never started" in done.printed


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
