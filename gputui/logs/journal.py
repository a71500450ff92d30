"""Follow the kernel's messages in systemd's journal, through ``journalctl`` as a child process.

The journal tells exactly when each message came, and reaches back further than the kernel's own
ring; it is what a user in the groups ``systemd-journal`` or ``adm`` may read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gputui.lines import LineBuffer
from gputui.logs.kernel import is_interesting
from gputui.text import decoded, printable

FOLDERS = (Path("/run/log/journal"), Path("/var/log/journal"))
"""Where journals lie. Where there is none, journalctl waits for one without a word."""

READ_BACK_LINES = 20_000
"""How many messages from before the start are looked at, of the last day of this boot."""

_CHUNK_BYTES = 1 << 18
_CHUNKS_A_READ = 4
_ERROR_BYTES = 4096
_AGAIN_AFTER_S = 10.0

_WATCHED = 'journalctl "$@" & child=$!; exec >&- 2>&-; read -r _; kill "$child"'
"""A program that only writes when the kernel speaks would outlive us: a shell waits for our end."""

_ARGUMENTS = (
    "--dmesg", "--boot", "--follow", "--output=json", "--no-pager", "--all",
    "--output-fields=MESSAGE",
)  # fmt: skip

_IN_BYTES = re.compile(rb'"MESSAGE"\s*:\s*\[')
"""A message that is not plain text comes as a list of its bytes."""

_DENIED = ("not seeing messages from other users", "insufficient permissions")


class JournalTail:
    """Follows the journal. Lines come out as rsyslog would write them, with their time."""

    stamped = True

    def __init__(self, folders: tuple[Path, ...] = FOLDERS) -> None:
        if shutil.which("journalctl") is None:
            raise FileNotFoundError(2, "journalctl is not installed")
        if not any(next(folder.glob("*/*"), None) for folder in folders):
            raise FileNotFoundError(2, "there is no journal")
        self.failure = ""
        self._lines = LineBuffer()
        self._again_s = 0.0
        self._child: subprocess.Popen[bytes] | None = self._start(
            f"--lines={READ_BACK_LINES}", "--since=-1d"
        )

    def descriptor(self) -> int | None:
        """The child's output."""
        if self._child is None or self._child.stdout is None:
            return None
        return self._child.stdout.fileno()

    def read_back(self) -> list[str]:
        """Nothing yet: what is there comes as the child reads it."""
        return []

    def read(self) -> list[str]:
        """Return the messages on GPUs that came since; they may be older than this process."""
        if self._child is None:
            if not self.failure and time.monotonic() >= self._again_s:
                self._child = self._start("--lines=0")
            return []
        lines: list[str] = []
        self._check_denied()
        for _ in range(_CHUNKS_A_READ):
            descriptor = self.descriptor()
            if descriptor is None:
                break
            try:
                data = os.read(descriptor, _CHUNK_BYTES)
            except BlockingIOError:
                break
            if not data:
                self._bury()
                break
            lines += [line for raw in self._lines.feed(data) if (line := _line(raw))]
        return lines

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.05)

    @staticmethod
    def _start(*more: str) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            ["sh", "-c", _WATCHED, "journalctl", *_ARGUMENTS, *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            bufsize=0,
            start_new_session=True,
        )
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        return child

    def _said(self) -> str:
        """What the child complained about."""
        if self._child is None or self._child.stderr is None:
            return ""
        try:
            return decoded(os.read(self._child.stderr.fileno(), _ERROR_BYTES))
        except OSError:
            return ""

    def _check_denied(self) -> None:
        """Whoever may not read the system's journal is shown their own, which has no kernel."""
        said = self._said()
        if any(words in said for words in _DENIED):
            self.failure = "no permission (group systemd-journal or adm)"
            self.close()

    def _bury(self) -> None:
        """The child ended: it failed, or the journal was restarted."""
        said = self._said()
        self.close()
        if said:
            self.failure = said[:100]
        self._again_s = time.monotonic() + _AGAIN_AFTER_S


def _line(raw: bytes) -> str | None:
    """A message with its time; None if it is not about GPUs, or no message at all."""
    if not is_interesting(raw.decode("utf-8", "replace")) and not _IN_BYTES.search(raw):
        return None
    try:
        entry: dict[str, Any] = json.loads(raw)
        message = entry["MESSAGE"]
        at_s = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
        when = datetime.fromtimestamp(at_s, timezone.utc).isoformat(timespec="microseconds")
        text = printable(message) if isinstance(message, str) else decoded(bytes(message))
    except (ValueError, TypeError, KeyError, OverflowError, OSError):
        return None
    if not is_interesting(text):
        return None
    return f"{when} {os.uname().nodename} kernel: {text.strip()}"
