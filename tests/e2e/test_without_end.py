"""Runbooks that come to no end of their own: each has a verdict, and leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CAPS = "  - {action: set_power_limit, gpu: n0/3, within: 3m}\n"

ENDLESS = {
    "prints": "while :; do echo and on; done",
    "starts one program after the other": "while :; do /bin/true; done",
    "computes": "while :; do :; done",
    "computes in the background": "(while :; do :; done) &",
    "starts ever more": "for each in $(seq 700); do (read -t 100 < <(sleep 100)) & done; wait",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
def test_a_runbook_without_end_has_a_verdict(me, rehearse, script):
    """Nobody knows what it would have come to; nothing of it runs on."""
    mark = f"GT_MARK={os.getpid()}"
    done = rehearse(me, f"export {mark}\n{script}", CAPS, stop="{wall: 2s}")
    assert done.status == 2, done.printed
    assert "no progress in" in done.printed or "more than 500 processes" in done.printed
    assert [path for path in Path("/proc").glob("[0-9]*/environ") if mark in _text(path)] == []


def test_too_many_calls_end_the_run(me, rehearse):
    """After so many as the scenario allows."""
    done = rehearse(me, "while :; do nvidia-smi -L; done", CAPS, stop="{calls: 10}")
    assert done.status == 2, done.printed
    assert len(done.calls) == 11
    assert "called more than 10 commands" in done.printed


def test_polling_without_a_pause_ends_with_the_deadline(me, rehearse):
    """Each look takes its time; what was waited for never comes."""
    script = "until nvidia-smi -i $1 --query-gpu=power.limit --format=csv | grep -q 300; do :; done"
    done = rehearse(me, script, CAPS)
    assert done.status == 1, done.printed


def test_a_run_is_over_when_the_scenario_says(me, rehearse):
    """Whatever is still waited for."""
    expect = "  - {never: {action: reboot}}\n"
    done = rehearse(me, "sleep 10m; reboot", expect, stop="{after: 4m}")
    assert done.status == 1, done.printed  # it never ended with 0
    assert done.records[-1]["t"] == 240


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
