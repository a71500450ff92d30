"""``--source ssh:HOST``: a node elsewhere, watched through OpenSSH.

``gputui --stream`` runs there, and its samples and log lines come here; what they mean is found out
here. A connection that is lost is made again, after longer and longer pauses, and said.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time

from gputui.errors import SourceError
from gputui.logs.choice import AUTO
from gputui.model import NodeSample
from gputui.recording import Record, SampleRecord
from gputui.silence import Hang
from gputui.sources.reasons import NO_CONNECTION
from gputui.sources.source import RecordStream, Unplayed
from gputui.text import decoded

COMMAND_VARIABLE = "GPUTUI_SSH_COMMAND"
"""What to run instead of ``ssh``, with its options, as GIT_SSH_COMMAND is for git."""

_OPTIONS = (
    "-T",
    "-o", "BatchMode=yes",
    "-o", "ConnectTimeout=10",
    "-o", "ServerAliveInterval=5",
    "-o", "ServerAliveCountMax=3",
)  # fmt: skip
"""No terminal and no questions: this one belongs to the screen. A dead network is noticed."""

_AGAIN_AFTER_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
_NOT_FOUND = 127
_SSH_FAILED = 255
_ERROR_BYTES = 8192
_REAP_S = 0.2


class SshSource(Unplayed):
    """The samples of another node."""

    is_here = False
    is_live = True
    finite = False
    ended = False

    def __init__(self, host: str, interval_s: float, kernel_log: str = AUTO) -> None:
        if not host or host.startswith("-") or any(one.isspace() for one in host):
            raise SourceError(
                f'--source ssh:{host} names no host; expected one as ssh takes it, such as "node-a"'
            )
        self._host = host
        remote = ["gputui", "--stream", "--interval", f"{interval_s:g}s"]
        if kernel_log != AUTO:
            remote += ["--kernel-log", kernel_log]
        try:
            ssh = shlex.split(os.environ.get(COMMAND_VARIABLE) or "ssh")
        except ValueError as error:
            raise SourceError(f"{COMMAND_VARIABLE}: {error}") from None
        self._command = [*ssh, *_OPTIONS, "--", host, shlex.join(remote)]
        self._stream = RecordStream(f"ssh {host}")
        self._child: subprocess.Popen[bytes] | None = None
        self._lost = ""
        self._said = ""
        self._failures = 0
        self._again_s = 0.0
        self._connect()

    @property
    def notice(self) -> str:
        """That there is no connection, and why; or what is wrong with what comes."""
        if not self._lost:
            return self._stream.notice
        left_s = max(self._again_s - time.monotonic(), 0.0)
        when = f"trying again in {left_s:.0f} s" if self._child is None else "trying again"
        return f"{self._lost} ({when})"

    def hang(self, monotonic_s: float) -> Hang | None:
        """Unknown: the sampler is somewhere else."""
        return None

    def descriptors(self) -> list[int]:
        """The connection, while there is one."""
        if self._child is None or self._child.stdout is None:
            return []
        return [self._child.stdout.fileno()]

    def due_s(self, monotonic_s: float) -> float | None:
        """When to connect again."""
        return None if self._child else max(self._again_s - monotonic_s, 0.0)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come; connect again when it is time to."""
        if self._child is None:
            if monotonic_s >= self._again_s:
                self._connect()
            return []
        self._hear_complaints(self._child)
        records: list[Record] = []
        for descriptor in self.descriptors():
            records += self._stream.read(descriptor)
        if records:
            self._failures, self._lost = 0, ""
        if self._stream.ended:
            records += self._disconnected(monotonic_s)
        return records

    def poke(self) -> None:
        """The other side reads at once by itself when its kernel speaks."""

    def close(self) -> None:
        """End the connection, and with it what runs there."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            self._let_go(child)

    def _connect(self) -> None:
        self._stream = RecordStream(f"ssh {self._host}")
        self._said = ""
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise SourceError(f"cannot run {self._command[0]}: {error.strerror}") from None
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)

    def _hear_complaints(self, child: subprocess.Popen[bytes]) -> None:
        """Keep the last thing that ssh, or the program there, complained about."""
        if child.stderr is None:
            return
        with contextlib.suppress(OSError):
            data = os.read(child.stderr.fileno(), _ERROR_BYTES)
            lines = [line for raw in data.splitlines() if (line := decoded(raw))]
            self._said = lines[-1] if lines else self._said

    def _disconnected(self, monotonic_s: float) -> list[Record]:
        """The connection is gone: say so in place of a sample, and make another one soon."""
        child, self._child = self._child, None
        if child is None:
            return []
        self._hear_complaints(child)
        status = self._let_go(child)
        wait_s = _AGAIN_AFTER_S[min(self._failures, len(_AGAIN_AFTER_S) - 1)]
        self._failures += 1
        self._again_s = monotonic_s + wait_s
        self._lost = self._why(status)
        sample = NodeSample(host=self._host, time_s=time.time(), error=self._lost)
        return [SampleRecord(0.0, sample)]

    def _why(self, status: int | None) -> str:
        said = f": {self._said}" if self._said else ""
        if status == _NOT_FOUND:
            return f"gputui is not on the PATH of {self._host}{said}. Install it there as well."
        if status == _SSH_FAILED or status is None:
            return f"{NO_CONNECTION} {self._host}{said or ': it was lost'}."
        return f"gputui ended on {self._host} with status {status}{said}."

    @staticmethod
    def _let_go(child: subprocess.Popen[bytes]) -> int | None:
        """Close the pipes, and wait a moment for the end; kill what does not end by itself."""
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            return child.wait(_REAP_S)
        except subprocess.TimeoutExpired:
            child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_REAP_S)
        return None
