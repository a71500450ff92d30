"""Our standard streams: what we print arrives, or it is said that it does not.

A program under test inherits the descriptors themselves; nothing here is in its way.
"""

from __future__ import annotations

import errno
import io
import os
import sys
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


def discard() -> None:
    """Let what has been printed and cannot arrive go nowhere, or it fails again at exit."""
    if sys.stdout is None:
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


class OutputError(UsageError):
    """What we print cannot be written."""


def _failure(error: OSError) -> OutputError:
    return OutputError(f"standard output cannot be written: {error.strerror}.")


def tell(line: str) -> None:
    """Print a line on stderr; where that cannot be done there is nobody to tell."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
