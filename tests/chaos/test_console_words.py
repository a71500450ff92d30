"""What the facilitator's screen says of a game's progress."""

import dataclasses

import pytest

from chaos.console import words
from chaos.console.progress import Awaited, Broken, Line, Planned, Progress


def text(rows):
    return ["".join(said.text for said in row) for row in rows]


@pytest.fixture
def now():
    return Progress(
        scenario="airway",
        why="A blocked airway heats one GPU.",
        now_s=95.0,
        rate=10.0,
        paused=False,
        ended=False,
        points=50,
        hints=1,
        timeline=(
            Planned(30.0, "thermal gpu=n0/3", came=True),
            Planned(300.0, "heal block", came=False),
        ),
        expectations=(
            Awaited("{incident: GpuThermalThrottle}", 30, 150, True, True, "opened", 42.0),
            Awaited("{action: set_power_limit}", 30, 210, True, None, "", None),
            Awaited("{call: sinfo}", 30, 90, True, False, "did not come", None),
            Awaited("{never: {action: reboot}}", 30, None, False, None, "", None),
        ),
        faults=(
            Broken("thermal-1", "thermal gpu=n0/3", 30.0, None),
            Broken("xid-1", "xid gpu=n0/5 code=79", 80.0, 140.0),
        ),
        lines=(
            Line(1, 30.0, "fault", {"id": "thermal-1", "fault": "thermal", "arguments": {}}),
            Line(2, 60.0, "call", {"node": "n0", "argv": ["nvidia-smi", "-pl", "a b"]}),
            Line(3, 61.0, "return", {"node": "n0", "argv": ["nvidia-smi"], "exit": 0}),
            Line(
                4,
                62.0,
                "action",
                {"action": "reset_gpu", "node": "n0", "gpu": 3, "ok": False, "detail": "in use"},
            ),
        ),
        problems=(),
    )


def test_the_head_tells_time_pace_and_score(now):
    """What a facilitator looks at first stands in the first line."""
    assert text([words.head(now)]) == ["airway   1:35 at 10 x   RUNNING   score 50   1 hint"]
    assert "PAUSED" in text([words.head(dataclasses.replace(now, paused=True))])[0]
    assert "DECIDED" in text([words.head(dataclasses.replace(now, ended=True))])[0]


def test_a_deadline_ticks_until_it_is_decided(now):
    """Met with its time, what is left, missed, and what has not happened so far."""
    assert text(words.deadlines(now)) == [
        "met after 0:42 incident: GpuThermalThrottle",
        "1:55 left      action: set_power_limit",
        "NOT MET        call: sinfo",
        "so far         never: {action: reboot}",
    ]


def test_the_timeline_tells_what_comes_and_what_came_by_hand(now):
    """What was added by hand stands below what was planned."""
    assert text(words.plan(now)) == [
        "  0:30 thermal gpu=n0/3",
        "  5:00 heal block  in 3:25",
        "  1:20 xid gpu=n0/5 code=79  by hand",
    ]


def test_what_is_broken_has_the_id_that_heals_it(now):
    """And how long it has been, and will be."""
    assert text(words.faults(now)) == [
        "thermal-1: thermal gpu=n0/3, for 1:05",
        "xid-1: xid gpu=n0/5 code=79, for 0:15, heals in 0:45",
    ]
    assert text(words.faults(dataclasses.replace(now, faults=()))) == ["nothing is broken"]


def test_what_people_do_is_told_newest_first(now):
    """Calls as a shell would take them, deeds with what came of them; returns are left out."""
    assert text(words.journal(now)) == [
        "  1:02 reset_gpu n0/3 in use (refused)",
        "  1:00 n0$ nvidia-smi -pl 'a b'",
        "  0:30 broke: thermal (thermal-1)",
    ]


def test_who_begins_is_told_how(now):
    """Before the clock runs the screen says which key lets it; then how players come in."""
    waiting = dataclasses.replace(now, paused=True, now_s=0.0)
    assert text([words.next_step(waiting, "game")]) == [
        "the clock stands: space lets the game begin"
    ]
    assert "gpuchaos enter --node game" in text([words.next_step(now, "game")])[0]
