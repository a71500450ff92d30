"""Programs of a rehearsed runbook that wait, or read a clock, without calling a command."""

from __future__ import annotations

import re
import shutil

import pytest

EXITS = "  - {exit: 0, within: 2h}\n"

TIMED = """
import os, select, signal, subprocess, sys, threading, time

def timed(name, wait):
    began = time.time(), time.monotonic()
    try:
        wait()
    except subprocess.TimeoutExpired:
        name += " timed out"
    passed = time.time() - began[0], time.monotonic() - began[1]
    print(f"{name}: {round(passed[0], 1):g} {round(passed[1], 1):g}", flush=True)

def busy():
    until = time.monotonic() + 3
    while time.monotonic() < until:
        pass

def two_threads():
    other = threading.Thread(target=time.sleep, args=(20,))
    other.start()
    time.sleep(10)
    other.join()

def alarmed():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(7)
    signal.pause()

def polled():
    poll = select.poll()
    poll.register(os.pipe()[0], select.POLLIN)
    poll.poll(90_000)

timed("sleep", lambda: time.sleep(600))
timed("subprocess", lambda: subprocess.run(["sleep", "60"], timeout=5))
timed("communicate", lambda: subprocess.run(["sleep", "60"], timeout=5, capture_output=True))
timed("select", lambda: select.select([], [], [], 2.5))
timed("poll", polled)
timed("epoll", lambda: select.epoll().poll(1.5))
timed("event", lambda: threading.Event().wait(30))
timed("busy", busy)
timed("alarm", alarmed)
timed("threads", two_threads)
"""
TOOK = {
    "sleep": 600, "subprocess timed out": 5, "communicate timed out": 5, "select": 2.5, "poll": 90,
    "epoll": 1.5, "event": 30, "busy": 3, "alarm": 7, "threads": 20,
}  # fmt: skip


def printed(done):
    """What the runbook printed, line by line; it is shown where a run did not pass."""
    return re.findall(r"^\s+\| (.*)$", done.printed, re.MULTILINE)


def test_python_lives_by_the_runs_clock(me, rehearse, folder):
    """Whatever it waits by takes its time on the run's clock, on both of its clocks, and none of
    ours.
    """
    (folder / "timed.py").write_text(TIMED, encoding="utf-8")
    done = rehearse(me, f"{me.python} ./timed.py; exit 3", EXITS)
    assert done.status == 1, done.printed
    took = dict(line.split(": ") for line in printed(done))
    assert took == {name: f"{seconds:g} {seconds:g}" for name, seconds in TOOK.items()}


def test_a_shell_lives_by_the_runs_clock(who, rehearse):
    """``read -t``, ``$SECONDS``, ``printf %()T`` and the system's own date, as any user."""
    script = (
        "read -t 15 line < <(sleep 100); echo $SECONDS\n"
        "printf '%(%F)T\\n'\n"
        "/usr/bin/env -i /bin/bash -c 'read -t 5; echo $SECONDS' < <(sleep 50)\n"
        "exit 3"
    )
    done = rehearse(who, script, EXITS)
    assert done.status == 1, done.printed
    assert printed(done) == ["15", "2026-01-01", "5"]


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not here")
def test_an_alarm_goes_off_by_the_runs_clock(me, rehearse):
    """Also after the program that set it became another one, and not once it was taken back."""
    script = (
        "perl -e 'alarm 5; exec @ARGV' sleep 100; echo $? $SECONDS\n"
        "perl -e 'alarm 5; alarm 0; sleep 9'; echo $? $SECONDS; exit 3"
    )
    done = rehearse(me, script, EXITS)
    assert done.status == 1, done.printed
    assert [line for line in printed(done) if "larm" not in line] == ["142 5", "0 14"]


def test_a_program_that_looks_ever_so_often_comes_to_its_end(me, rehearse):
    """For ten minutes, a hundred times a second."""
    code = "import time; end = time.time() + 600\nwhile time.time() < end: time.sleep(0.01)"
    done = rehearse(me, f"{me.python} -c '{code}'", EXITS)
    assert done.status == 0, done.printed
    ((ended_s, _),) = done.ended
    assert ended_s == pytest.approx(64 + 600, abs=3)
