"""A look-alike's standard streams, at the other end of its connection."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, TextIO


def output(send: Callable[[bytes], None]) -> TextIO:
    """A text stream of which ``send`` gets the bytes, many at once or when it is flushed."""
    raw: Any = _Sender(send)
    return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8", "surrogateescape", newline="")


def standard_input(ask: Callable[[], bytes]) -> TextIO:
    """A text stream whose bytes ``ask`` gets from somewhere; none is the end."""
    raw: Any = _Asker(ask)
    return io.TextIOWrapper(io.BufferedReader(raw), "utf-8", "surrogateescape")


class _Sender(io.RawIOBase):
    """Where the bytes of an output go."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send

    def writable(self) -> bool:
        return True

    def write(self, content: memoryview) -> int:  # type: ignore[override]
        self._send(bytes(content))
        return len(content)


class _Asker(io.RawIOBase):
    """Where the bytes of an input come from."""

    def __init__(self, ask: Callable[[], bytes]) -> None:
        self._ask = ask
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = self._ask()
        part, self._rest = self._rest[: len(room)], self._rest[len(room) :]
        room[: len(part)] = part
        return len(part)
