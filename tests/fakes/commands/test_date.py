"""``date`` on the run's clock, against the real one where it can be compared."""

import subprocess
import time

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD

MOMENT = 1_767_225_660
"""When the machine's commands are called: 2026-01-01 00:01:00 UTC."""

FORMS = [
    ("+%s",), ("+%F %T",), ("+%Y%m%d-%H%M%S",), ("+%b %e %H:%M:%S",), ("+%s%3N",), ("+%-d.%-m.",),
    ("+%Y-%m-%dT%H:%M:%S%z",), ("+%Y-%m-%dT%H:%M:%S%:z",), ("-Is",), ("-Iseconds",), ("-I",),
    ("-R",), ("-u",), (), ("+%a, %d %b %Y",), ("--iso-8601=minutes",), ("--rfc-3339=seconds",),
    ("+%s.%N",), ("+%j %U %u %y %q %P %^a %D %r %R",), ("+%_d|%5S|%%",), ("-u", "+%Z"),
]  # fmt: skip

RELATIVE = [
    "1 hour ago", "-1 day", "yesterday", "tomorrow", "+2 weeks", "5 minutes ago", "last week",
    "2025-12-31 23:00:00", "2025-12-31", "@1700000000", "now", "today", "2025-12-31T12:00:00Z",
    "2025-12-31 12:00:00 +0100", "1 month ago", "-3 months", "2025-01-31 + 1 month", "10:30",
    "yesterday 08:00", "2025-12-31 10:00 2 days ago", "Dec 31 2025", "30 seconds", "1 year ago",
    "Wed Dec 31 10:00:00 UTC 2025",
]  # fmt: skip


def real(*argv):
    """What coreutils print."""
    done = subprocess.run(
        ["date", *argv], capture_output=True, text=True, check=True,
        env={"TZ": "UTC", "LC_ALL": "C", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return done.stdout


_VERSION = subprocess.run(["date", "--version"], capture_output=True, text=True, check=False)
needs_coreutils = pytest.mark.skipif(
    "GNU coreutils" not in _VERSION.stdout,
    reason="the date of this machine is another one",
)


@needs_coreutils
@pytest.mark.parametrize("argv", FORMS, ids=" ".join)
def test_every_form_is_printed_as_coreutils_do(machine, argv):
    """Byte for byte."""
    assert machine("date", *argv) == (0, real("-d", f"@{MOMENT}", *argv))


@needs_coreutils
@pytest.mark.parametrize("text", RELATIVE)
def test_words_for_a_moment_mean_the_same(machine, text):
    """As scripts write them after ``-d``."""
    status, printed = machine("date", "-d", text, "+%s", clock=time.time)
    assert status == 0
    assert abs(int(printed) - int(real("-d", text, "+%s"))) <= 30


def test_the_time_is_the_runs(machine):
    """It moves on as the run does, and an hour ago is an hour before that."""
    assert machine("date", "+%s")[1] == f"{MOMENT}\n"
    machine.later(3600)
    assert machine("date", "-d", "1 hour ago", "+%s")[1] == f"{MOMENT}\n"


@pytest.mark.parametrize("argv", [("-d", "the day after"), ("-r", "/etc/passwd"), ("+%E",)])
def test_what_it_cannot_read_is_125(machine, argv):
    """Rather than a wrong time."""
    assert machine("date", *argv)[0] == NOT_UNDERSTOOD


def test_the_clock_cannot_be_set(machine):
    """It is the run's."""
    assert machine("date", "-s", "2020-01-01")[0] == 1


def test_another_time_zone(machine):
    """The caller's own."""
    assert machine("date", "+%H:%M %Z", env={"TZ": "Europe/Berlin"}) == (0, "01:01 CET\n")
