"""What is remembered of a node between two runs: GPUs seen, incidents, who has seen them.

One file a node in ``$XDG_STATE_HOME/gputui/``, written anew as a whole and put in its place at
once, so that it is never half. Several monitors of one user may watch a node: each adds to what the
others have written (:mod:`gputui.state_merge`), one at a time. The file is bounded; one that is
damaged or cannot be written is told once, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from gputui import decoding
from gputui.decoding import WrongError
from gputui.incidents.case import SavedIncident
from gputui.incidents.inventory import SeenGpu
from gputui.model import Incident
from gputui.recording import decode, incident_object

MOST_BYTES = 10_000_000
MOST_CLEARED = 500
"""How many incidents that are over are kept."""

_VERSION = 1
_LOCK_S = 0.1
"""How long the lock is waited for."""

_LOCK_EVERY_S = 0.005
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class NodeState:
    """What is remembered of one node. ``open`` are the incidents that were open at the end.

    ``heard_s`` is up to when (Unix time) the kernel log has been taken in, ``boot_id`` the kernel's
    name for the boot in which that was.
    """

    boot_id: str | None = None
    heard_s: float = 0.0
    gpus: tuple[SeenGpu, ...] = ()
    open: tuple[SavedIncident, ...] = ()
    cleared: tuple[Incident, ...] = ()


class StateFile:
    """The file of one node. ``notice`` is one line for people, empty while all is well."""

    def __init__(self, folder: Path, host: str) -> None:
        self.notice = ""
        self._path = folder / f"{_UNSAFE.sub('_', host)[:100] or '_'}.json"
        self._gave_up = False
        self._base = NodeState()
        self._left: tuple[int, int, int] | None = None
        self._is_shared = False

    def load(self) -> NodeState:
        """What is remembered; nothing where there is no file, or none that can be read."""
        self._left = self._mark()
        self._base = self._read()
        return self._base

    def _read(self) -> NodeState:
        try:
            with self._path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return NodeState()
        except OSError as error:
            self._give_up(f"cannot be read: {error.strerror}")
            return NodeState()
        try:
            if len(data) > MOST_BYTES:
                raise ValueError("too long")
            return _state_of(json.loads(data))
        except WrongError as wrong:
            why = f"{wrong.where}: expected {wrong.expected}"
        except (ValueError, RecursionError) as error:
            why = str(error)
        self.notice = (
            f"{self._path} is damaged ({why}); what was remembered of this node is lost, "
            f"the damaged file is kept as {self._path.name}.damaged."
        )
        with contextlib.suppress(OSError):
            self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
        return NodeState()

    def save(self, state: NodeState, *, at_end: bool = False) -> bool:
        """Put what is to be remembered in the place of what was, with what others have added.

        False says that another one is writing, and keeps at it: try again later. At the end there
        is no later, and to write in spite of it is better than not to.
        """
        if self._gave_up:
            return True
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _alone_in(self._path.parent) as is_alone:
                if is_alone or at_end:
                    self._replace(_written(self._merged(state)))
                    self._base, self._left = state, self._mark()
                return is_alone
        except OSError as error:
            self._give_up(f"cannot be written: {error.strerror}")
            return True

    def _merged(self, state: NodeState) -> NodeState:
        """The state, with what others have written since this one began."""
        found = self._mark()
        self._is_shared |= found != self._left
        if found is None or not self._is_shared:
            return state
        from gputui.state_merge import merged  # one monitor at a time is the rule

        return merged(self._base, state, self._read())

    def _replace(self, data: bytes) -> None:
        new = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            new.replace(self._path)
        finally:
            new.unlink(missing_ok=True)

    def _mark(self) -> tuple[int, int, int] | None:
        """What changes whenever somebody writes the file; None where there is none."""
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _give_up(self, why: str) -> None:
        self._gave_up = True
        self.notice = f"{self._path} {why}; GPUs seen and acknowledgements are not remembered."


@contextlib.contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Hold a lock on the folder; False where somebody else keeps it.

    A file system without such locks has nobody who could wait for one.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until_s = time.monotonic() + _LOCK_S
    is_alone = False
    try:
        while not is_alone and time.monotonic() < until_s:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_alone = True
            except BlockingIOError:
                time.sleep(_LOCK_EVERY_S)
            except OSError:
                is_alone = True
        yield is_alone
    finally:
        os.close(descriptor)


def _written(state: NodeState) -> bytes:
    """The file's content, within its bound: the oldest of what is over gives way."""
    cleared = state.cleared[-MOST_CLEARED:]
    while True:
        text = json.dumps(_object(replace(state, cleared=cleared)), separators=(",", ":"))
        if len(text) <= MOST_BYTES or not cleared:
            return text.encode()
        cleared = cleared[len(cleared) // 2 + 1 :]


def _object(state: NodeState) -> dict[str, Any]:
    return {
        "version": _VERSION,
        "boot_id": state.boot_id,
        "heard_s": state.heard_s,
        "gpus": [asdict(gpu) for gpu in state.gpus],
        "open": [
            {
                **{name: getattr(one, name) for name in _SAVED_NAMES},
                "incident": incident_object(one.incident),
            }
            for one in state.open
        ],
        "cleared": [incident_object(incident) for incident in state.cleared],
    }


_SAVED_NAMES = tuple(one.name for one in fields(SavedIncident) if one.name != "incident")


def _state_of(value: object) -> NodeState:
    raw = decoding.members(value, "the file")
    if raw.get("version") != _VERSION:
        raise WrongError("version", raw.get("version"), str(_VERSION))
    boot_id = raw.get("boot_id")
    return NodeState(
        boot_id=None if boot_id is None else decoding.text(boot_id, "boot_id"),
        heard_s=decoding.number(raw.get("heard_s"), "heard_s"),
        gpus=tuple(decode(SeenGpu, one, "gpus") for one in decoding.items(raw.get("gpus"), "gpus")),
        open=tuple(
            decode(SavedIncident, one, "open") for one in decoding.items(raw.get("open"), "open")
        ),
        cleared=tuple(
            decode(Incident, one, "cleared")
            for one in decoding.items(raw.get("cleared"), "cleared")
        ),
    )
