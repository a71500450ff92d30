"""The audit log: what gputui was asked to do, by whom, and what became of it.

JSON lines in ``$XDG_STATE_HOME/gputui/actions.jsonl``, readable by its user alone. At a mebibyte it
is put aside as ``actions.jsonl.1``, and a new one begun.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

_LIMIT_BYTES = 1 << 20


class AuditError(Exception):
    """The log cannot be written: which, and why."""


def default_path() -> Path:
    """Where the log is, unless somebody names another place."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / "gputui" / "actions.jsonl"


class AuditLog:
    """Appends lines, each in one write, so that several programs may share it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()

    def write(self, entry: Mapping[str, object]) -> None:
        """Append one entry. Raises :class:`AuditError`."""
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                if self.path.stat().st_size >= _LIMIT_BYTES:
                    self.path.replace(self.path.with_name(self.path.name + ".1"))
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            log = os.open(self.path, flags, 0o600)
            try:
                os.write(log, line.encode("utf-8", "replace"))
            finally:
                os.close(log)
        except OSError as error:
            raise AuditError(
                f"the audit log {self.path} cannot be written ({error.strerror}), "
                "and what cannot be written down is not done"
            ) from None
