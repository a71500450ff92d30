"""The sampler of the machine that the monitor runs on, as a child process.

The driver is asked only there: a thread that is stuck in a driver call keeps its process from ever
ending, so that process must not be the one that people quit. A child that ends is started again;
one that is stuck is left to its fate, and killed without waiting when the monitor goes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

from gputui.model import NodeSample
from gputui.recording import Record, SampleRecord
from gputui.sources.progress import Progress
from gputui.sources.source import RecordStream

_RESTARTS_AFTER_S = (1.0, 2.0, 4.0, 8.0)

_PROGRAM = (
    "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); "
    "from gputui.sampler import main; sys.exit(main())"
)
"""The child imports from exactly where its parent does, not from wherever it is started."""


class ChildSource:
    """``--source local``: readings of this machine."""

    is_here = True
    finite = False
    ended = False

    def __init__(self, interval_s: float) -> None:
        self.notice = ""
        self._interval_s = interval_s
        self._progress = Progress.create()
        self._child: subprocess.Popen[bytes] | None = None
        self._stream = RecordStream("sampler")
        self._failures = 0
        self._restart_s = 0.0
        self._launch()

    @property
    def asked(self) -> int | None:
        """Whom the child is asking just now."""
        return self._progress.asked

    def descriptor(self) -> int | None:
        """The child's output."""
        if self._child is None or self._child.stdout is None:
            return None
        return self._child.stdout.fileno()

    def due_s(self, monotonic_s: float) -> float | None:
        """When to start another child, if the last one ended."""
        return None if self._child else max(self._restart_s - monotonic_s, 0.0)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come; start another child when it is time to."""
        if self._child is None:
            if monotonic_s >= self._restart_s:
                self._launch()
            return []
        descriptor = self.descriptor()
        records = [] if descriptor is None else self._stream.read(descriptor)
        if records:
            self._failures = 0
        if self._stream.ended:
            records += self._bury(monotonic_s)
        return records

    def poke(self) -> None:
        """Ask for a sample now."""
        if self._child is not None and self._child.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._child.stdin.fileno(), b"\n")

    def close(self) -> None:
        """Kill the child, and do not wait for it: it may be stuck in the driver."""
        if self._child is not None:
            self._let_go(self._child)
            self._child = None
            self._progress.close()

    def _launch(self) -> None:
        self._stream = RecordStream("sampler")
        self._progress.note(None)
        self._child = subprocess.Popen(
            [
                sys.executable, "-c", _PROGRAM, "\n".join(sys.path),
                "--interval", repr(self._interval_s),
                "--progress", str(self._progress.descriptor),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            pass_fds=(self._progress.descriptor,),
            start_new_session=True,
        )  # fmt: skip
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)

    def _bury(self, monotonic_s: float) -> list[Record]:
        """The child has ended: say so in place of a sample, and start another one soon."""
        child, self._child = self._child, None
        if child is None:
            return []
        self._let_go(child)
        wait_s = _RESTARTS_AFTER_S[min(self._failures, len(_RESTARTS_AFTER_S) - 1)]
        self._failures += 1
        self._restart_s = monotonic_s + wait_s
        if self._failures == 1:
            return []
        error = (
            f"The sampler {_how_it_ended(child.returncode)} {self._failures} times in a row. "
            "Run it by hand to see why: python -m gputui.sampler"
        )
        sample = NodeSample(host=os.uname().nodename, time_s=time.time(), error=error)
        return [SampleRecord(0.0, sample)]

    @staticmethod
    def _let_go(child: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError):
            child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=0.05)


def _how_it_ended(status: int | None) -> str:
    if status is not None and status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with status {status}"
