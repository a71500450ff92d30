"""Look-alikes that run other programs, in virtual time and live."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("sudo -n echo yes", "yes\n"),
        ("sudo -u root A=5 sh -c 'echo $A'", "5\n"),
        ("sudo -E -H nvidia-smi -L | wc -l", "2\n"),
        ("timeout 5 echo in time", "in time\n"),
        ("timeout 0.2 sleep 60; echo $?", "124\n"),
        ("timeout -s KILL 0.2 sleep 60; echo $?", "137\n"),
        ("timeout --preserve-status 0.2 sleep 60; echo $?", "143\n"),
        ("timeout 5 sh -c 'exit 7'; echo $?", "7\n"),
        ("timeout 5 no-such-program 2>/dev/null; echo $?", "127\n"),
        ("echo piped | timeout 5 cat", "piped\n"),
        ("sleep 0.1 && echo slept", "slept\n"),
        ("sudo timeout 5 sudo nvidia-smi -L | wc -l", "2\n"),
    ],
)
def test_a_command_runs_another_one(me, script, printed):
    """With its input, its output, its exit status and its limit."""
    done = me.on_node(script)
    assert done.stdout == printed, done.stderr
