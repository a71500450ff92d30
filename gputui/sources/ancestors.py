"""Who started the processes on the GPUs: the launchers and shells above them, from /proc."""

from __future__ import annotations

from gputui.model import Ancestor
from gputui.sources.files import read
from gputui.sources.proc_stat import command_text, read_stat
from gputui.sources.users import Users

_MOST_LEVELS = 8
"""As far up as is worth knowing: above launchers stand sessions and services."""

_INIT = 1
_COMMAND_BYTES = 1024


def ancestors_of(proc: str, parent_pid: int, users: Users) -> tuple[Ancestor, ...]:
    """Those above a process, the nearest first, without the first process of all.

    Nobody where a parent is not to be seen: in a container it may be outside.
    """
    found: list[Ancestor] = []
    pid = parent_pid
    while pid > _INIT and len(found) < _MOST_LEVELS:
        stat = read_stat(proc, pid)
        if stat is None:
            break
        found.append(
            Ancestor(
                pid,
                parent_pid=stat.parent_pid,
                user=users.of(f"{proc}/{pid}"),
                command=_command(proc, pid, stat.name),
            )
        )
        pid = stat.parent_pid
    return tuple(found)


def _command(proc: str, pid: int, name: bytes) -> str:
    try:
        arguments = read(f"{proc}/{pid}/cmdline", _COMMAND_BYTES)
    except OSError:
        arguments = b""
    return command_text(arguments, name)
