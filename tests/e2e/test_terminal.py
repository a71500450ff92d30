from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest


@pytest.fixture
def shell(terminal, me):
    """An interactive bash on a terminal, with gpuchaos as ``$node``."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    node = " ".join(me.argv("node", "h100-sxm", "--gpus", "2", "--"))
    opened = terminal(
        [bash, "--norc", "--noprofile", "-i"], env={**me.env, "PS1": "sh> ", "node": node}
    )
    opened.wait_for("^sh>")
    yield opened
    if opened.status is None:
        os.kill(opened.pid, signal.SIGHUP)


def test_ctrl_c_is_the_programs(shell):
    """The keyboard's interrupt reaches the program, which decides what to do."""
    shell.send(
        """$node sh -c 'trap "echo got it; exit 5" INT; echo up; while :; do sleep 0.1; done'\n"""
    )
    shell.wait_for("^up")
    shell.send("\x03")
    shell.wait_for("got it$")
    shell.send("echo status=$?\n")
    shell.wait_for("^status=5")


def test_ctrl_z_stops_it_and_fg_goes_on(shell):
    """The shell gets the terminal when the program stops, and can give it back."""
    shell.send("$node sh -c 'echo up; exec cat'\n")
    shell.wait_for("^up")
    shell.send("\x1a")
    shell.wait_for("Stopped")
    shell.send("echo free\n")
    shell.wait_for("^free")
    shell.send("fg\n")
    shell.wait_for(r"fg\s*\n.*exec cat")
    shell.send("hello\n")
    shell.wait_for(r"^hello\s*\nhello")
    shell.send("\x04")
    shell.send("echo status=$?\n")
    shell.wait_for("^status=0")


def test_a_shell_on_the_node_has_job_control(shell):
    """An interactive shell as the program: its own jobs, its own Ctrl-C, and back."""
    shell.send("$node bash --norc --noprofile -i\n")
    shell.send("PS1='in> '; hostname\n")
    shell.wait_for(r"^n0\s*\nin>")
    shell.send("sh -c 'echo runs; exec sleep 1000'\n")
    shell.wait_for("^runs")
    shell.send("\x1a")
    shell.wait_for("Stopped")
    shell.send("kill %1; fg\n")
    shell.send("exit 3\n")
    shell.wait_for("^sh>$")
    shell.send("echo status=$?\n")
    screen = shell.wait_for("^status=3")
    assert "no job control" not in screen


def test_a_killed_simulator_leaves_a_usable_terminal(shell, me):
    """Kill -9 while a program has the terminal in raw mode and full screen: both are put right."""
    script = r"stty raw -echo; printf \"\033[?1049h\033[?25lREA%s\" DY; exec sleep 1000"
    shell.send(f'$node sh -c "{script}"\n')
    shell.wait_for("READY")
    os.kill(me.status()["pid"], signal.SIGKILL)
    shell.wait_for("Killed")
    shell.wait_until(lambda: b"\x1b[?25h" in shell.raw)
    shell.wait_for("^sh>$")
    shell.send("stty -a | grep -c -w -e -icanon -e -echo\n")
    shell.wait_for("^0$")
    assert b"\x1b[?1047l" in shell.raw
    assert b"\x1b[?25h" in shell.raw


def test_output_into_a_pager_leaves_the_terminal_to_it(shell):
    """In a pipeline nobody takes the terminal away from the pager."""
    shell.send(
        "$node sh -c 'seq 5' 2>/dev/null | "
        "{ read first; echo have $first; read key </dev/tty; echo $first$key; }\n"
    )
    shell.wait_for("^have 1")
    shell.send("k\n")
    shell.wait_for("^1k")


def test_the_terminal_can_be_opened_by_its_name(shell):
    """What tty(1) says leads to the caller's terminal, and /dev/tty does too."""
    shell.send("""$node sh -c 'stty -F "$(tty)" size; stty size </dev/tty; tty </dev/null'\n""")
    screen = shell.wait_for("^not a tty")
    assert screen.count("30 100") == 2


def test_a_terminal_that_hangs_up_ends_the_node_without_a_signal(me):
    """Who was started apart from its session is sent no SIGHUP, and ends all the same."""
    ours, theirs = os.openpty()
    node = subprocess.Popen(
        me.argv("node", "h100-sxm", "--gpus", "2", "--", "sh", "-c", "echo up; exec sleep 1000"),
        cwd=me.cwd, env=me.env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        shown = b""
        while b"up" not in shown:
            shown += os.read(ours, 4096)
        os.close(ours)
        assert node.wait(30) == 128 + signal.SIGHUP
    finally:
        node.kill()
        node.wait()
