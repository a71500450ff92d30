"""The messages between a look-alike's little program (chaos/sandbox/lookalike.c) and the simulator.

The library that lets programs live by a run's clock (chaos/sandbox/clock.c) speaks the same way.

A message is a letter, a length (4 bytes, the machine's order) and so many bytes.

======  =============  ========================================================================
letter  from           bytes
======  =============  ========================================================================
``a``   the program    its arguments, the first of which is its name; a zero byte after each
``e``   the program    its environment, ``NAME=VALUE``; a zero byte after each
``d``   the program    its current directory
``f``   the program    its own file
``w``   the program    how many columns its output has on a terminal, or 0 (2 bytes)
``g``   the program    none: the call is complete
``i``   the program    what its standard input had; none at the end of it
``z``   the library    for how many nanoseconds a thread sleeps, and its number (8 bytes each)
``n``   the library    the number of a thread that is new, or of a process's first (8 bytes)
``t``   the library    in how many nanoseconds a process wants an alarm (0: none, -1: it only asks),
                       and how often again (8 bytes each)
``c``   the program    the exit status of the other program that it had started (4 bytes)
``o``   the simulator  for its standard output
``p``   the simulator  for its standard error
``r``   the simulator  none: it is to read its standard input
``b``   the simulator  the words of another program, which it is to become; a zero byte after each
``s``   the simulator  the words of another program, which it is to start; a zero byte after each
``k``   the simulator  the number of a signal for that other program (4 bytes)
``u``   the simulator  the numbers of the user and of the group that it is of from now on (4 bytes
                       each)
``x``   the simulator  its exit status (4 bytes); it ends
``z``   the simulator  none: the thread's time has come
``n``   the simulator  none: the new one may begin
``t``   the simulator  what was left of the alarm before, as it was set (8 bytes each)
======  =============  ========================================================================
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_HEAD = struct.Struct("=cI")
_STATUS = struct.Struct("=i")
_USER = struct.Struct("=II")
_THREAD = struct.Struct("=q")
_COLUMNS = struct.Struct("=H")
_LIMIT = 4 << 20
"""Arguments and environment of a program can have about 2 MiB (execve(2))."""


class WireError(Exception):
    """Whoever sent this is no look-alike of ours."""


@dataclass(frozen=True, slots=True)
class Request:
    """A call as it was made.

    ``program`` is the name that it was called by, ``file`` the program's own. ``columns`` is the
    width of the terminal on standard output, or 0.
    """

    program: str
    file: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    columns: int


class Inbox:
    """Cuts what a program sends into messages."""

    def __init__(self) -> None:
        self._bytes = b""

    def feed(self, received: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The messages that are complete by now: (letter, bytes)."""
        self._bytes += received
        while len(self._bytes) >= _HEAD.size:
            letter, length = _HEAD.unpack_from(self._bytes)
            if length > _LIMIT:
                raise WireError(f"a message of {length} bytes")
            end = _HEAD.size + length
            if len(self._bytes) < end:
                return
            message, self._bytes = self._bytes[_HEAD.size : end], self._bytes[end:]
            yield letter, message


def request_of(parts: Mapping[bytes, bytes]) -> Request:
    """The call that messages, by their letters, make up."""
    try:
        program, *argv = _words(parts[b"a"])
        variables = (word.partition("=") for word in _words(parts[b"e"]))
        env = {name: value for name, _, value in variables}
        (columns,) = _COLUMNS.unpack(parts[b"w"])
        file, cwd = os.fsdecode(parts[b"f"]), os.fsdecode(parts[b"d"])
        return Request(program, file, tuple(argv), env, cwd, columns)
    except (KeyError, ValueError, struct.error) as error:
        raise WireError(f"not a whole call: {error!r}") from error


def message(letter: bytes, content: bytes = b"") -> bytes:
    """A message, as it is sent."""
    return _HEAD.pack(letter, len(content)) + content


def words_message(letter: bytes, words: Sequence[str]) -> bytes:
    """The message that another program is to be run."""
    return message(letter, b"".join(os.fsencode(word) + b"\0" for word in words))


def signal_message(number: int) -> bytes:
    """The message that the other program is to get a signal."""
    return message(b"k", _STATUS.pack(number))


def user_message(user: int, group: int) -> bytes:
    """The message that the program is of a user's and a group's number from now on."""
    return message(b"u", _USER.pack(user, group))


def status_of(content: bytes) -> int:
    """The exit status that the other program ended with."""
    try:
        (status,) = _STATUS.unpack(content)
    except struct.error as error:
        raise WireError(f"no exit status: {error}") from error
    return int(status)


def thread_of(content: bytes) -> int:
    """The number of the thread that is new; a ``struct.error`` if it says something else."""
    return int(_THREAD.unpack(content)[0])


def exit_message(status: int) -> bytes:
    """The message that ends a program."""
    return message(b"x", _STATUS.pack(status))


def _words(joined: bytes) -> list[str]:
    return [os.fsdecode(word) for word in joined.split(b"\0")[:-1]]
