"""What is remembered of a node between two runs: GPUs seen, incidents, who has seen them.

One file a node in ``$XDG_STATE_HOME/gputui/``, written anew as a whole and put in its place at
once, so that it is never half. It is bounded; a file that is damaged or cannot be written is told
once, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
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

    def load(self) -> NodeState:
        """What is remembered; nothing where there is no file, or none that can be read."""
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

    def save(self, state: NodeState) -> None:
        """Put what is to be remembered in the place of what was."""
        if self._gave_up:
            return
        data = _written(state)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            try:
                descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                new.replace(self._path)
            finally:
                new.unlink(missing_ok=True)
        except OSError as error:
            self._give_up(f"cannot be written: {error.strerror}")

    def _give_up(self, why: str) -> None:
        self._gave_up = True
        self.notice = f"{self._path} {why}; GPUs seen and acknowledgements are not remembered."


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
