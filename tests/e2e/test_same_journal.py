"""The same scenario and seed write the same journal, whatever else the machine does."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

BUSY = """\
nvidia-smi -L >/dev/null & nvidia-smi -q >/dev/null & sleep 5 & sleep 5 &
(sleep 2; nvidia-smi -i 1 --query-gpu=name --format=csv; logger one) &
(python3 -c 'import time; time.sleep(7)' && logger two) &
wait
for each in 1 2 3; do (sleep $each; logger $each) & done
timeout 3 sleep 60
nohup sh -c 'sleep 40; logger late' >/dev/null 2>&1 &
nvidia-smi -i $1 -pl 400
"""
CAPS = "  - {action: set_power_limit, gpu: n0/3, within: 3m}\n"
CAPS += "  - {call: logger late, within: 3m}\n"


@contextmanager
def load() -> Iterator[None]:
    """Let every processor of the machine have something else to do."""
    code = "import os\nos.nice(5)\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    burners = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def digest(who, rehearse) -> str:
    """A run's journal, as a number."""
    done = rehearse(who, BUSY, CAPS)
    assert done.status == 0, done.printed
    return hashlib.sha256(done.bytes).hexdigest()


def test_the_same_journal_again_and_as_another_user(me, nobody, rehearse):
    """Byte for byte, with processes side by side, and with some that outlive the runbook."""
    assert len({digest(who, rehearse) for who in (me, nobody)}) == 1


@pytest.mark.long
def test_the_same_journal_a_hundred_times(me, nobody, rehearse):
    """Half of them under load, and half of each as another user."""
    digests = {digest(who, rehearse) for _ in range(25) for who in (me, nobody)}
    with load():
        digests |= {digest(who, rehearse) for _ in range(25) for who in (me, nobody)}
    assert len(digests) == 1
