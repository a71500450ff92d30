"""Look-alikes that run other programs, in virtual time and live."""

from __future__ import annotations

import os

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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("become", ["sudo -n -u mallory", "su mallory -c"])
def test_a_command_run_as_somebody_is_theirs(me, become):
    """To id and whoami, in the environment, and by the files that it makes."""
    script = "id -un; whoami; echo $USER $HOME; touch /tmp/mine; stat -c %U /tmp/mine; id -Gn"
    words = f"'{script}'" if become.startswith("su ") else f"sh -c '{script}'"
    done = me.on_node(f"{become} {words}; id -un")
    theirs = ["mallory", "mallory", "mallory /home/mallory", "mallory", "mallory", "root"]
    assert done.stdout.splitlines() == theirs, done.stderr


def test_nobody_is_run_as_who_is_not_there(me):
    """In the words of the commands themselves, by name and by number."""
    done = me.on_node("sudo -n -u nosuch id; echo $?; sudo -n -u '#54321' id; echo $?; su nosuch")
    assert done.stdout == "1\n1\n"
    assert "sudo: unknown user nosuch\n" in done.stderr
    assert "sudo: unknown user #54321\n" in done.stderr
    assert "su: user nosuch does not exist" in done.stderr
