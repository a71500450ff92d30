"""Windows of maintenance: when they are open, and whom they concern."""

import calendar
import time

import pytest

from gputui.incidents.maintenance import Window
from gputui.model import Action, Incident, Severity

HOUR_S = 3600.0


@pytest.fixture(params=["UTC", "Asia/Shanghai", "America/New_York"])
def midnight_s(request, monkeypatch):
    """Midnight of a summer's day, where the machine is."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield time.mktime((2026, 7, 1, 0, 0, 0, 0, 0, -1))
    monkeypatch.undo()
    time.tzset()


def incident(**given):
    return Incident(
        **{
            "id": "i", "kind": "GpuXid", "subject": "gpu:GPU-7", "host": "n0", "gpu": 3,
            "severity": Severity.WARNING, "opened_s": 0.0, "cause": "unknown", "cause_text": "",
            "action": Action.IGNORE, "action_text": "", **given,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("daily", "inside", "outside"),
    [
        ((2 * HOUR_S, 4 * HOUR_S), (2, 3.99), (1.99, 4, 12)),
        ((22 * HOUR_S, 6 * HOUR_S), (22, 23.5, 0, 5.99), (6, 12, 21.99)),
    ],
)
def test_a_daily_window_goes_by_the_local_time(midnight_s, daily, inside, outside):
    """It is open between its two times of the day, also over midnight."""
    window = Window("backups", daily=daily)
    assert all(window.covers(incident(), midnight_s + hour * HOUR_S) for hour in inside)
    assert not any(window.covers(incident(), midnight_s + hour * HOUR_S) for hour in outside)


def test_a_daily_window_tells_when_it_opens_or_closes_next(midnight_s):
    """Whoever watches by events looks then."""
    window = Window("backups", daily=(2 * HOUR_S, 4 * HOUR_S))
    assert window.next_s(midnight_s) == midnight_s + 2 * HOUR_S
    assert window.next_s(midnight_s + 2 * HOUR_S) == midnight_s + 4 * HOUR_S
    assert window.next_s(midnight_s + 5 * HOUR_S) == midnight_s + 26 * HOUR_S


def test_a_window_may_be_open_once():
    """From its start up to its end, which is no longer in it."""
    start_s = float(calendar.timegm((2026, 12, 1, 2, 0, 0)))
    window = Window("new cables", start_s=start_s, end_s=start_s + HOUR_S)
    opened = [window.covers(incident(), start_s + hour * HOUR_S) for hour in (-0.1, 0, 0.9, 1)]
    assert opened == [False, True, True, False]
    assert window.next_s(start_s - 5) == start_s
    assert window.next_s(start_s + HOUR_S) is None


@pytest.mark.parametrize(
    ("subjects", "kinds", "concerned"),
    [
        ((), (), True),
        (("gpu:GPU-7",), (), True),
        (("gpu3",), ("GpuXid", "GpuLost"), True),
        (("node:n0",), (), True),
        (("node:*",), (), True),
        (("gpu4", "node:n1"), (), False),
        ((), ("GpuLost",), False),
    ],
)
def test_a_window_concerns_subjects_and_kinds(subjects, kinds, concerned):
    """A node's window concerns all that is wrong on it."""
    window = Window("work", subjects=subjects, kinds=frozenset(kinds))
    assert window.covers(incident(), 0.0) is concerned
