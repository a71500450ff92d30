"""Which waits of a process this machine's clock ends: seen from outside, on real processes."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaos.virtual.timed_waits import wakes_by_itself

TIMED = {
    "a signal, for so long": "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [10]);"
    " signal.sigtimedwait([10], 60)",
    "a timer's file": "import ctypes, os; libc = ctypes.CDLL(None); fd = libc.timerfd_create(1, 0);"
    " libc.timerfd_settime(fd, 0, (ctypes.c_long * 4)(0, 0, 60, 0), None); os.read(fd, 8)",
    "a signal of a timer": "import ctypes, signal; libc = ctypes.CDLL(None); t = ctypes.c_void_p();"
    " libc.timer_create(1, None, ctypes.byref(t));"
    " libc.timer_settime(t, 0, (ctypes.c_long * 4)(0, 0, 60, 0), None); signal.pause()",
    "a file, for so long": "import select, os; select.select([os.pipe()[0]], [], [], 60)",
}
FOR_EVER = {
    "a signal": "import signal; signal.pause()",
    "one of some signals": "import signal; signal.sigwait([10])",
    "a pipe": "import os; os.read(os.pipe()[0], 1)",
}


@pytest.fixture
def waiting():
    """Whether a program that has come to its last call, and waits in it, wakes by itself."""
    started = []

    def ask(program):
        process = subprocess.Popen([sys.executable, "-c", program])
        started.append(process)
        call = Path(f"/proc/{process.pid}/syscall")
        seen, deadline = [], time.monotonic() + 20
        while len(seen) < 20 or len(set(seen[-20:])) > 1 or not seen[-1][:1].isdigit():
            assert time.monotonic() < deadline, "it never came to wait"
            time.sleep(0.02)
            seen.append(call.read_text(encoding="ascii"))
        return wakes_by_itself(Path("/proc"), str(process.pid))

    yield ask
    for process in started:
        process.kill()
        process.wait()


pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers are of x86-64")


@pytest.mark.parametrize("what", TIMED)
def test_a_wait_that_time_ends_is_seen(waiting, what):
    """A process that this machine's clock wakes, whatever it waits for besides."""
    assert waiting(TIMED[what])


@pytest.mark.parametrize("what", FOR_EVER)
def test_a_wait_that_nothing_ends_is_none(waiting, what):
    """What waits for others alone has no clock."""
    assert not waiting(FOR_EVER[what])
