"""Names of users. A directory service that does not answer must not hold up whoever asks."""

from __future__ import annotations

import os
import pwd
import threading

_WAIT_S = 0.05


class Users:
    """Looks each name up once, in a thread of its own; the number stands for it until then."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._asked: set[int] = set()

    def of(self, path: str) -> str | None:
        """Whose a file is; None where that is not to be seen."""
        try:
            return self.name(os.stat(path).st_uid)  # noqa: PTH116 (hot path)
        except OSError:
            return None

    def name(self, uid: int) -> str:
        """The user's name; the number if there is none, or none yet."""
        if uid not in self._asked:
            self._asked.add(uid)
            thread = threading.Thread(target=self._look_up, args=(uid,), daemon=True)
            thread.start()
            thread.join(_WAIT_S)
        return self._names.get(uid, str(uid))

    def _look_up(self, uid: int) -> None:
        try:
            self._names[uid] = pwd.getpwuid(uid).pw_name
        except (KeyError, OSError):
            self._names[uid] = str(uid)
