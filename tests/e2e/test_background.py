"""What a runbook leaves running, and what has no end of its own."""

from __future__ import annotations

import os
from pathlib import Path

from pytest import approx

LATER = "  - {action: set_power_limit, gpu: n0/3, within: 20m}\n"
EXITS = "  - {exit: 0, within: 5m}\n"


def test_background_work_lives_on(who, rehearse):
    """It acts after the runbook has ended, at its own time, and the journal tells of it."""
    script = (
        "(sleep 300; nvidia-smi -i $1 -pl 300; sleep 2h; true) &\n"
        "nohup setsid sleep 3h >/dev/null &\ndisown -a; exit 0"
    )
    done = rehearse(who, script, EXITS + LATER)
    assert done.status == 0, done.printed
    ((ended_s, _),) = done.ended
    (acted,) = done.of("action")
    assert acted["t"] == approx(ended_s + 300, abs=1)
    left, cut_off = done.of("background")
    assert left["running"] == ["/bin/bash runbook 3 n0", "sleep 300", "sleep 3h"]
    assert cut_off["ended"] == ["/bin/bash runbook 3 n0", "sleep 2h", "sleep 3h"]


def test_background_work_that_ends_is_told(me, rehearse):
    """It is over before the run is, and what it printed is kept."""
    script = "(sleep 30; echo later; exit) & exit 3"
    done = rehearse(me, script, "  - {never: {action: reboot}}\n" + LATER)
    assert done.status == 1, done.printed
    left, gone = done.of("background")
    assert gone["running"] == []
    assert gone["t"] == approx(left["t"] + 30)
    assert "| later\n" in done.printed


def test_nothing_of_the_background_outlives_the_run(me, rehearse):
    """Whatever it did to be left alone."""
    mark = f"gt-left-{os.getpid()}"
    script = f"for i in 1 2; do setsid -f bash -c 'exec -a {mark} sleep 1d'; done; exit 0"
    done = rehearse(me, script, EXITS)
    assert done.status == 0, done.printed
    assert [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _text(path)] == []


def test_the_end_of_a_node_ends_its_background(me, rehearse):
    """A reboot leaves nothing running."""
    script = "(sleep 60; nvidia-smi -i $1 -pl 300) &\nreboot; sleep 1h"
    done = rehearse(me, script, LATER, runbook="on: n0")
    assert done.status == 1, done.printed
    assert not [action for action in done.of("action") if action["action"] == "set_power_limit"]


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
