"""The three standard streams, whatever they are: closed, full, or read by nobody any more."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from gputui.text import harmless


class OutputError(Exception):
    """What was asked for cannot be written to standard output; the message says why."""


def open_standard_streams() -> None:
    """Let descriptors 0 to 2 be open, so that nothing of ours ever gets one of their numbers.

    Those that were closed are on ``/dev/null``; standard output there cannot be written to, because
    whoever closed it should learn that nothing came of what was asked for.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            _open_null(number, mode)
    # Python makes None of a stream that it finds closed.
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115


def _open_null(number: int, mode: int) -> None:
    descriptor = os.open(os.devnull, mode)
    if descriptor == number:
        os.set_inheritable(number, True)
    else:
        os.dup2(descriptor, number)
        os.close(descriptor)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Around all that writes to standard output: what cannot be written is said in words.

    Raises :class:`OutputError`; that nobody reads any more stays a :class:`BrokenPipeError`.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror}") from None


class StandardOutput:
    """Standard output as a file that remembers why it cannot be written to.

    Whatever the reason is, it is told as a broken pipe: the end of all that is written there.
    """

    def __init__(self) -> None:
        self.failure = ""

    def write(self, text: str) -> None:
        """Write some text."""
        with self._told():
            sys.stdout.write(text)

    def flush(self) -> None:
        """Send it off."""
        with self._told():
            sys.stdout.flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            self.failure = f"cannot write to standard output: {error.strerror}"
            raise BrokenPipeError(self.failure) from None


def complain(text: str) -> None:
    """Say something on standard error, if that can be written to; names in it may be anything."""
    lines = "\n".join(map(harmless, text.split("\n")))
    with contextlib.suppress(OSError):
        print(f"gputui: {lines}", file=sys.stderr)


def let_go_of_stdout() -> None:
    """Keep the interpreter from complaining, at its end, of what could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
