"""Our standard streams: what we print arrives, or it is said that it does not.

A program under test inherits the descriptors themselves; nothing here is in its way.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import TextIO

from chaos.errors import UsageError


def open_standard_streams() -> None:
    """Let descriptors 0 to 2 be open, so that nothing of ours ever gets one of their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        # ``print(file=None)`` would print on stdout.
        sys.stderr = io.StringIO()


class Output(io.TextIOBase):
    """Standard output (None: it was closed), whose failures are told from all others."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may be no text

    def write(self, text: str) -> int:
        """Write; a :class:`UsageError` says that it cannot be done, unless nobody reads on."""
        if self._stream is None:
            raise _failure(OSError(errno.EBADF, "it is closed"))
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _failure(error) from error

    def flush(self) -> None:
        """Have it arrive."""
        if self._stream is None:
            return
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _failure(error) from error


def discard(stream: TextIO | None) -> None:
    """Let what has been printed and cannot arrive go nowhere, or it fails again at exit."""
    if stream is None:
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextmanager
def lossy_errors() -> Iterator[None]:
    """Within the block, what cannot be written on standard error is lost: there is nobody to tell,
    and a program under test can run without it.
    """
    stream = sys.stderr
    errors = _Errors(stream)
    try:
        with redirect_stderr(errors):
            yield
    finally:
        if errors.failed:
            discard(stream)


class _Errors(io.TextIOBase):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failed = False

    def write(self, text: str) -> int:
        try:
            self._stream.write(text)
        except OSError:
            self.failed = True
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self.failed = True


class OutputError(UsageError):
    """What we print cannot be written."""


def _failure(error: OSError) -> OutputError:
    return OutputError(f"standard output cannot be written: {error.strerror}.")
