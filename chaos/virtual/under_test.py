"""The runbook under test: a real process on a fake node, by the run's clock.

It runs in the node's namespaces, with NVML and the look-alikes of the node, and nothing of this
machine to break. It is started once for each incident it is meant for, one at a time. Its output is
kept, as far as people will read it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from chaos.format.runbook_file import PLAYBOOKS, PLAYER, PROGRAMS, found_beside
from chaos.format.templates import filled
from chaos.real_time.foreground import entering
from chaos.sandbox.plan import Entrance
from chaos.terms import Runbook
from gputui.model import Incident, Severity

INCIDENT_VARIABLE = "GPUTUI_INCIDENT"

_MOST_OUTPUT = 1 << 20


def is_meant(runbook: Runbook, incident: Incident) -> bool:
    """Whether a runbook is for an incident: of its kinds, or of any that pages and has no cause."""
    if incident.cleared_s is not None:
        return False
    if runbook.when:
        return incident.kind in runbook.when
    return incident.parent is None and incident.severity >= Severity.WARNING


def command_of(runbook: Runbook, incident: Incident) -> list[str]:
    """The words that start a runbook for an incident. A playbook runs under ansible-playbook."""
    places = {"node": incident.host, "gpu": "" if incident.gpu is None else str(incident.gpu)}
    arguments = [filled(argument, places) for argument in runbook.arguments]
    program, *others = runbook.words
    words = [found_beside(program, runbook.folder)]
    words += [_found(word, runbook.folder) for word in others]
    if len(words) == 1 and words[0].endswith(PLAYBOOKS):
        words = [PLAYER, "-i", "localhost,", "-c", "local", words[0]]
    return [*words, *arguments]


def _found(word: str, folder: Path) -> str:
    file = folder / word
    return str(file.resolve()) if "/" in word and file.exists() else word


def environment(base: Mapping[str, str], incident: dict[str, Any]) -> dict[str, str]:
    """The same for everybody who runs the scenario, but for where programs are found."""
    path = f"{base['PATH']}:{PROGRAMS}" if base.get("PATH") else PROGRAMS
    kept = {name: base[name] for name in ("HOME", "USER", "LOGNAME") if name in base}
    return {
        **kept,
        "PATH": path,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        INCIDENT_VARIABLE: json.dumps(incident, ensure_ascii=False, separators=(",", ":")),
    }


@dataclass(frozen=True, slots=True)
class Started:
    """A runbook that was started, and for which incident."""

    incident: str
    node: str
    words: tuple[str, ...]


class UnderTest:
    """A runbook at work."""

    def __init__(
        self,
        started: Started,
        entrance: Entrance,
        environment: Mapping[str, str],
        folder: Path,
        selector: selectors.BaseSelector,
    ) -> None:
        self.started = started
        self.output = bytearray()
        self._selector = selector
        lifeline, self._held = os.pipe()
        self._process = subprocess.Popen(
            entering(entrance, started.words, lifeline=lifeline),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(lifeline,),
            start_new_session=True,
        )
        os.close(lifeline)
        assert self._process.stdout is not None
        self._out: IO[bytes] = self._process.stdout
        os.set_blocking(self._out.fileno(), False)
        self._reads = True
        selector.register(self._out, selectors.EVENT_READ, partial(self._read))

    @property
    def is_coming_or_going(self) -> bool:
        """Whether it is on its way: not started yet, or ended without anybody knowing how."""
        if self.poll() is not None:
            return False
        children = _read(f"/proc/{self._process.pid}/task/{self._process.pid}/children").split()
        return all(
            _read(f"/proc/{child}/stat").rpartition(")")[2][1:2] in "ZX" for child in children
        )

    def poll(self) -> int | None:
        """Its exit status, once it has ended; 128 and the signal's number, if it was killed."""
        return self._process.poll()

    def end(self) -> None:
        """End it if it lives. What it has started may run on, and print."""
        os.close(self._held)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Once it has ended: read what is left of its output, and no more."""
        self._read()
        if self._reads:
            self._selector.unregister(self._out)
        self._out.close()

    def _read(self) -> None:
        """What it has printed since."""
        while self._reads:
            try:
                piece = os.read(self._out.fileno(), 65536)
            except BlockingIOError:
                return
            if not piece:
                self._selector.unregister(self._out)
                self._reads = False
            self.output += piece[: _MOST_OUTPUT - len(self.output)]


def _read(path: str) -> str:
    """A file of /proc; nothing of a process that has ended. It is asked for often: no Path."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def words_of(words: Sequence[str], folder: Path) -> list[str]:
    """A command as the journal has it: without where the scenario lies on this machine."""
    home = f"{folder.resolve()}/"
    return [word.removeprefix(home) for word in words]
