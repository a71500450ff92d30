"""The screen on a real terminal: what it draws, and what it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

MODE = re.compile(rb"\x1b\[\?(\d+)([hl])")
OFF_AT_THE_END = {b"1049", b"1000", b"1003", b"1006", b"1015", b"1004", b"2004"}
"""Alternate screen, mouse, focus reports, bracketed paste."""


def assert_terminal_is_restored(opened: Any) -> None:
    """Every mode that was set is off, the cursor is seen, keys are echoed."""
    opened.read(0.5)
    last = dict(MODE.findall(bytes(opened.raw)))
    assert {mode: last.get(mode, b"l") for mode in OFF_AT_THE_END} == dict.fromkeys(
        OFF_AT_THE_END, b"l"
    )
    assert b"1049" in last
    assert last[b"25"] == b"h"
    assert last.get(b"7", b"h") == b"h"
    pushed, popped = opened.raw.count(b"\x1b[>"), opened.raw.count(b"\x1b[<u")
    assert pushed == popped
    local_modes = termios.tcgetattr(opened._fd)[3]
    assert (
        local_modes & termios.ECHO and local_modes & termios.ICANON and local_modes & termios.ISIG
    )


def ages_cut(opened: Any) -> str:
    """The screen without what changes by itself: times of day and ages."""
    return re.sub(r"\d\d:\d\d:\d\d|\b\d+[sm]\b", "", opened.text())


def wait_until_stopped(opened: Any) -> None:
    """Wait until job control has stopped the program."""
    stat = Path(f"/proc/{opened.pid}/stat")
    for _ in range(200):
        opened.read(0.05)
        if stat.read_text().rpartition(")")[2].split()[0] == "T":
            break
    else:
        raise AssertionError("the program was not stopped")
    opened.read(0.5)


def test_it_draws_and_leaves_no_trace(make: Any, terminal: Any, screen_program: Any) -> None:
    """GPUs, incidents and keys are on the screen; after ``q`` the terminal is as before."""
    opened = terminal(screen_program(make.trouble()), columns=80, rows=24)
    text = opened.wait_for("q quit")
    assert "quit" in text.splitlines()[-1]
    text = opened.wait_for("> drain the node and power-cycle it")
    assert "LOST 4" in text
    opened.send("q")
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)


def test_many_small_updates_leave_the_picture_of_the_last(
    make: Any, terminal: Any, screen_program: Any
) -> None:
    """After forty snapshots the screen is the one that the last of them alone would give."""
    snapshots = []
    for step in range(40):
        gpus = [
            make.gpu(i, utilization_percent=(step * 13 + i * 7) % 101, power_mw=step * 9973 + i)
            for i in range(8)
        ]
        processes = [make.process(4001 + i, i, sm_percent=(step * i) % 101) for i in range(20)]
        at_s = make.now_s + step / 10
        snapshots.append(make.snapshot(gpus=gpus, processes=processes, time_s=at_s))
    many = terminal(screen_program(*snapshots), columns=80, rows=24)
    alone = terminal(screen_program(snapshots[-1]), columns=80, rows=24)
    power = f"{(39 * 9973 + 7) / 1000:.0f}/700W"
    many.wait_for(power)
    alone.wait_for(power)
    assert many.text().splitlines()[1:] == alone.text().splitlines()[1:]
    for opened in (many, alone):
        opened.send("q")
        assert opened.wait() == 0


@pytest.mark.parametrize("key", ["q", "\x03"])
def test_a_stuck_monitor_cannot_hold_the_screen(
    make: Any, terminal: Any, screen_program: Any, key: str
) -> None:
    """Its thread never ends and its stop never returns: ``q`` and Ctrl-C leave nevertheless."""
    opened = terminal(screen_program(make.trouble(), options=("stuck",)))
    opened.wait_for("GpuLost")
    opened.send(key)
    assert opened.wait(30) == 0  # its thread would take for ever
    assert_terminal_is_restored(opened)


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4])
def test_ctrl_c_is_heard_at_every_moment(
    make: Any, terminal: Any, screen_program: Any, after_s: float
) -> None:
    """From the first picture on, also between the signal that it is then and the key it becomes."""
    opened = terminal(screen_program(make.trouble()))
    opened.wait_for("GpuLost")
    opened.read(after_s)
    opened.send("\x03")
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_restores_the_terminal(
    make: Any, terminal: Any, screen_program: Any, number: signal.Signals
) -> None:
    """A signal to end is obeyed like ``q``."""
    opened = terminal(screen_program(make.trouble()))
    opened.wait_for("GpuLost")
    os.kill(opened.pid, number)
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)


def test_it_can_be_suspended_and_resumed(make: Any, terminal: Any, screen_program: Any) -> None:
    """Ctrl-Z gives the terminal back to the shell; brought back, the screen is whole and obeys."""
    opened = terminal(screen_program(make.trouble()))
    opened.wait_for("GpuLost")
    opened.send("\x1a")
    wait_until_stopped(opened)
    assert dict(MODE.findall(bytes(opened.raw)))[b"1049"] == b"l"
    opened.screen.reset()
    os.kill(opened.pid, signal.SIGCONT)
    opened.wait_for("GpuLost")
    opened.send("q")
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)


def wait_unheard(opened: Any) -> None:
    """Wait for the end of a program of whose terminal nobody reads: 2 s, on an idle machine."""
    for _ in range(200):
        opened._reap(os.WNOHANG)
        if opened.status is not None:
            break
        time.sleep(0.05)
    assert opened.status is not None


def test_a_vanished_terminal_ends_it(make: Any, terminal: Any, screen_program: Any) -> None:
    """When the connection is cut the program ends; it does not spin on what is gone."""
    opened = terminal(screen_program(make.trouble()))
    opened.wait_for("GpuLost")
    opened.hang_up()
    wait_unheard(opened)


@pytest.mark.parametrize("after_s", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0])
@pytest.mark.parametrize("leader", [[], ["setsid", "--wait"]])
def test_a_terminal_that_vanishes_while_it_starts_ends_it(
    make: Any, terminal: Any, screen_program: Any, after_s: float, leader: list[str]
) -> None:
    """In whichever phase of its start, and whether or not a signal tells that it is gone."""
    opened = terminal([*leader, *screen_program(*[make.trouble()] * 100)])
    opened.discard(after_s)
    opened.hang_up()
    wait_unheard(opened)


def test_a_terminal_that_takes_nothing_any_more_does_not_hold_it(
    make: Any, terminal: Any, screen_program: Any
) -> None:
    """It can be ended while its output is stuck: a connection that stalls, a multiplexer that is
    stopped.
    """
    names = [chr(0x21 + step % 90) * 200 for step in range(400)]
    snapshots = [
        make.trouble(processes=[make.process(4001 + i, 0, command=name) for i in range(40)])
        for name in names
    ]
    opened = terminal(screen_program(*snapshots), columns=300, rows=60)
    opened.wait_for("GpuLost")
    time.sleep(3)  # nobody reads
    os.kill(opened.pid, signal.SIGTERM)
    wait_unheard(opened)


def test_it_follows_the_terminal_s_size(make: Any, terminal: Any, screen_program: Any) -> None:
    """Shrunk to 40x10, the incidents come first and the lost GPU stays in sight."""
    opened = terminal(screen_program(make.trouble()), columns=100, rows=30)
    opened.wait_for("GpuLost")
    opened.resize(40, 10)
    opened.wait_for(r"\+\d+ more GPUs")
    lines = opened.text().splitlines()
    assert "GpuLost" in lines[1]
    assert any("LOST" in line for line in lines[5:])
    opened.send("q")
    assert opened.wait() == 0


def test_a_storm_of_resizes_ends_in_a_whole_screen(
    make: Any, terminal: Any, screen_program: Any
) -> None:
    """After a thousand sizes within seconds, the screen is the one of the last."""
    opened = terminal(screen_program(make.trouble()), columns=100, rows=30)
    opened.wait_for("GpuLost")
    for step in range(1000):
        opened.resize(40 + step * 37 % 261, 10 + step * 23 % 91)
        opened.discard(0.001)
    opened.discard(0.2)
    opened.resize(90, 28)
    fresh = terminal(screen_program(make.trouble()), columns=90, rows=28)
    fresh.wait_for("GpuLost")

    opened.wait_until(lambda: fresh.read() or ages_cut(opened) == ages_cut(fresh))
    for each in (opened, fresh):
        each.send("q")
        assert each.wait() == 0


def test_ctrl_l_repairs_the_screen(make: Any, terminal: Any, screen_program: Any) -> None:
    """What another program has written over it goes."""
    opened = terminal(screen_program(make.trouble()))
    opened.wait_for("GpuLost")
    opened.draw_over(b"\x1b[3;1Hwritten by somebody else")
    assert "somebody else" in opened.text()
    opened.send("\x0c")
    opened.wait_until(lambda: "somebody else" not in opened.text())
    opened.send("q")
    assert opened.wait() == 0


def test_no_colour_is_respected(make: Any, terminal: Any, screen_program: Any) -> None:
    """With NO_COLOR set no colour reaches the terminal, and severity is told all the same."""
    opened = terminal(screen_program(make.trouble()), env={"NO_COLOR": "1"})
    opened.wait_for("✖ critical")
    codes = re.findall(rb"\x1b\[([\d;]*)m", bytes(opened.raw))
    assert codes
    used = {int(part) for code in codes for part in code.split(b";") if part}
    assert used <= {0, 1, 2, 4, 7, 39, 49}


def test_an_ascii_locale_gets_ascii(make: Any, terminal: Any, screen_program: Any) -> None:
    """In the C locale every byte is ASCII, foreign text included."""
    snapshot = make.trouble(processes=[make.process(7, command="训练 --größe")])
    opened = terminal(screen_program(snapshot), env={"LC_ALL": "C", "LANG": "C"})
    opened.wait_for("X critical")
    opened.wait_for(r"\?\?\?\? --gr\?\?e|\?\?\?\? --gr\?")
    assert bytes(opened.raw).isascii()


def test_an_own_fault_is_one_sentence(make: Any, terminal: Any, screen_program: Any) -> None:
    """If the screen itself fails, the terminal is restored and no traceback is shown."""
    opened = terminal(screen_program("not a snapshot"))
    assert opened.wait(20) == 2
    assert_terminal_is_restored(opened)
    told = bytes(opened.raw).rpartition(b"\x1b")[2].decode()
    assert "this is a fault of gputui" in told
    assert "Traceback" not in bytes(opened.raw).decode()


def test_without_a_terminal_it_says_what_works(
    make: Any, environment: dict[str, str], screen_program: Any
) -> None:
    """Piped, it draws nothing: one sentence on standard error, and exit status 64."""
    done = subprocess.run(
        screen_program(make.trouble()),
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.count("\n") == 1
    assert "--once" in done.stderr


def test_an_unknown_theme_is_bad_usage(make: Any, terminal: Any, screen_program: Any) -> None:
    """A theme that does not exist is told at once, with the names that do."""
    opened = terminal(screen_program(make.trouble(), options=("--theme=drak",)), columns=140)
    assert opened.wait() == 64
    assert "Did you mean dark?" in opened.text()


# ---------------------------------------------------------------- before Textual is there

SLOW_TEXTUAL = '''
"""Importing Textual takes a while here."""
import sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "textual":
            time.sleep({seconds})

sys.meta_path.insert(0, Slow())
'''


@pytest.fixture
def slow_textual(tmp_path: Path) -> Callable[[float], dict[str, str]]:
    """Environment variables under which importing Textual takes so many seconds."""

    def prepare(seconds: float) -> dict[str, str]:
        folder = tmp_path / "slow"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(SLOW_TEXTUAL.format(seconds=seconds))
        return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}

    return prepare


def test_a_terminal_that_vanishes_before_textual_is_there_ends_it(
    make: Any, terminal: Any, screen_program: Any, slow_textual: Any
) -> None:
    """Nobody reads the terminal yet, and as another's session no signal tells that it is gone."""
    command = ["setsid", "--wait", *screen_program(make.trouble())]
    opened = terminal(command, env=slow_textual(60))
    opened.wait_for("GpuLost")
    opened.hang_up()
    wait_unheard(opened)


@pytest.mark.parametrize("how", ["ctrl-c", "sigterm", "sighup"])
def test_the_first_picture_can_be_left_at_once(
    make: Any, terminal: Any, screen_program: Any, slow_textual: Any, how: str
) -> None:
    """The picture stands before Textual does, and whoever leaves meanwhile does not wait for it."""
    opened = terminal(screen_program(make.trouble()), env=slow_textual(60))
    opened.wait_for("GpuLost")
    if how == "ctrl-c":
        opened.send("\x03")
    else:
        os.kill(opened.pid, getattr(signal, how.upper()))
    assert opened.wait(30) == 0  # Textual would take twice as long
    assert_terminal_is_restored(opened)


def test_the_first_picture_is_taken_over_as_it_is(
    make: Any, terminal: Any, screen_program: Any, slow_textual: Any
) -> None:
    """The screen is cleared once, and a key that was typed too early is not lost."""
    opened = terminal(screen_program(make.trouble()), env=slow_textual(1))
    opened.wait_for("GpuLost")
    opened.send("?")
    text = opened.wait_for("KEYS")
    assert "Enter" in text
    assert bytes(opened.raw).count(b"\x1b[?1049h") == 1
    assert b"waiting for the driver" not in opened.raw
    opened.send("q")
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)


def test_the_first_picture_can_be_suspended(
    make: Any, terminal: Any, screen_program: Any, slow_textual: Any
) -> None:
    """Ctrl-Z gives the terminal back also before Textual is there; brought back, it is drawn."""
    opened = terminal(screen_program(make.trouble()), env=slow_textual(2))
    opened.wait_for("GpuLost")
    opened.send("\x1a")
    wait_until_stopped(opened)
    assert_terminal_is_restored(opened)
    opened.screen.reset()
    os.kill(opened.pid, signal.SIGCONT)
    opened.wait_for("GpuLost")
    opened.send("q")
    assert opened.wait() == 0
    assert_terminal_is_restored(opened)
