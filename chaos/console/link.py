"""The console's end of the control socket, and the run that it may have started itself."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from chaos.console.progress import Line, Progress
from chaos.errors import UsageError
from chaos.real_time import registry
from chaos.real_time.control import ask

_MOST_LINES = 2000
_START_S = 15.0


class Link:
    """Asks the run in a directory. The journal's lines are kept: each is sent but once."""

    def __init__(self, run: Path) -> None:
        self.name = run.name
        self._run = run
        self._lines: tuple[Line, ...] = ()
        self._lock = Lock()

    def progress(self) -> Progress:
        """How the game stands. A run that is no game, or has ended, is a :class:`UsageError`."""
        with self._lock:  # two that ask at once would both get the same new lines
            after = self._lines[-1].number if self._lines else 0
            now = Progress.of(ask(self._run, {"do": "progress", "after": after}))
            self._lines = (*self._lines, *now.lines)[-_MOST_LINES:]
            return replace(now, lines=self._lines)

    def do(self, what: str, **more: Any) -> dict[str, Any]:
        """Have something done: ``pause``, ``resume``, ``hint``, ``end``, ``inject``, ``heal``."""
        return ask(self._run, {"do": what, **more})


class OwnRun:
    """A ``gpuchaos run`` of our own. It ends when this is closed, or when we are killed."""

    def __init__(self, command: Sequence[str], name: str) -> None:
        # Its program is a cat that reads from us: our end is its end.
        self._process = subprocess.Popen(
            [*command, "--", "cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._name = name

    def directory(self) -> Path:
        """Where it runs, once it does. What kept it from it is a :class:`UsageError`."""
        until_s = time.monotonic() + _START_S
        while time.monotonic() < until_s:
            if self._process.poll() is not None:
                raise UsageError(self._said().removeprefix("gpuchaos: ") or "the run has ended.")
            run = registry.running().get(self._name)
            if run is not None and (run / "run.json").exists():
                return run
            time.sleep(0.05)
        self.close()
        raise UsageError("the run does not begin.")

    def close(self) -> str:
        """End it; what it said at its end: verdict and score."""
        if self._process.stdin is not None:
            self._process.stdin.close()
            self._process.stdin = None
        return self._said()

    def _said(self) -> str:
        _, said = self._process.communicate()
        return bytes(said).decode(errors="replace").strip()
