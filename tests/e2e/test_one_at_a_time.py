"""A rehearsed runbook's processes that could act at one moment do so one after another."""

from __future__ import annotations

import re
import sys

import pytest

EXITS = "  - {exit: 0, within: 10m}\n"

POOL = """
import subprocess
from concurrent.futures import ThreadPoolExecutor

def work(number):
    subprocess.run(["sh", "-c", f"echo {number}; sleep 1; echo {number}"])

with ThreadPoolExecutor(4) as pool:
    list(pool.map(work, range(1, 5)))
"""


def printed(done):
    """What the runbook printed, line by line."""
    return re.findall(r"^\s+\| (.*)$", done.printed, re.MULTILINE)


def test_new_processes_begin_in_turn(me, rehearse):
    """The eldest first with what it starts itself, though none of them calls anything."""
    script = "for i in 1 2 3 4 5 6; do (echo $i; : $(:); echo $i) & done; wait; exit 3"
    done = rehearse(me, script, EXITS)
    assert done.status == 1, done.printed
    assert printed(done) == [*"112233445566"]


@pytest.mark.parametrize("waits", ["sleep 2", "timeout 2 sleep 9", "read -t 2 x < <(exec sleep 9)"])
def test_those_who_wake_at_one_moment_go_on_in_turn(me, rehearse, waits):
    """The eldest first, before anybody who is new."""
    script = f"for i in 1 2 3 4 5 6; do ({waits}; echo $i; : $(:); echo $i) & done; wait; exit 3"
    done = rehearse(me, script, EXITS)
    assert done.status == 1, done.printed
    assert printed(done) == [*"123456123456"]


def test_threads_begin_in_turn(me, rehearse, folder):
    """And what they start: the pool's first thread is at rest before its second one begins."""
    (folder / "pool.py").write_text(POOL, encoding="utf-8")
    done = rehearse(me, f"{sys.executable} ./pool.py; exit 3", EXITS)
    assert done.status == 1, done.printed
    assert printed(done) == [*"12341234"]


def test_whoever_looks_for_what_it_started_without_rest_finds_it(me, rehearse, folder):
    """A new process waits for all others to rest, but not for ever."""
    script = "(echo began > began) & until [ -e began ]; do :; done; cat began; exit 3"
    done = rehearse(me, f"cd $(mktemp -d)\n{script}", EXITS)
    assert done.status == 1, done.printed
    assert printed(done) == ["began"]
