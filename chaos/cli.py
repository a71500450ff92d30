"""The command ``gpuchaos``: finds the subcommand, runs it, and turns every failure into one line.

Exit codes: 0 good, 254 a mistake in the command or a scenario or something that the machine does
not give, 255 our own fault; with ``-- CMD``, CMD's own status. Nothing ends in a traceback unless
``GPUCHAOS_DEBUG=1`` asks for one.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from chaos.commands import Arguments, command_names, load_command
from chaos.errors import UsageError, did_you_mean, quoted
from chaos.output import Output, OutputError, discard, lossy_errors, open_standard_streams
from chaos.parser import Parser
from gputui import __version__

EXIT_USAGE = 254
EXIT_OWN_FAULT = 255
_THE_MACHINES = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM,
        errno.EMFILE, errno.ENFILE, errno.EFBIG, errno.ENOMEM, errno.EAGAIN, errno.EIO,
    )
)  # fmt: skip
"""Errors of the operating system that say something of the machine, and not of our code."""


_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Nearly all that a command makes lives until it ends: there is little garbage to look for."""


def _overview() -> str:
    summaries = {name: type(load_command(name)).__doc__ or "" for name in command_names()}
    rows = [f"  {name:<9} {text.strip().splitlines()[0]}" for name, text in summaries.items()]
    return "\n".join(
        [
            "gpuchaos node h100-sxm -- nvtop",
            "",
            "A fake GPU server that goes wrong on purpose. Commands:",
            *rows,
            "",
            "Each explains itself: gpuchaos COMMAND -h",
        ]
    )


def _run(argv: Sequence[str]) -> int:
    words = list(argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if words[0] == "--version":
        print(f"gpuchaos {__version__}")
        return 0
    if words[0] not in command_names():
        if words[0].startswith("-"):
            hint = did_you_mean(words[0], ("-h", "--help", "--version"), "Known options")
            raise UsageError(f"unexpected option {quoted(words[0])} before a command{hint}")
        hint = did_you_mean(words[0], command_names(), "Known commands")
        raise UsageError(f"unknown command {quoted(words[0])}{hint}")
    command = load_command(words[0])
    end = words.index("--") if "--" in words else len(words)
    program = tuple(words[end + 1 :])
    if end < len(words) and not command.takes_program:
        raise UsageError(f"gpuchaos {words[0]} takes no command after '--'.")
    if end < len(words) and not program:
        raise UsageError("there is no command after '--'.")
    options = Parser(words[0], command).read(words[1:end])
    return command.run(Arguments(options, program))


def _printed(argv: Sequence[str]) -> int:
    """Run a command line, and see to it that what it prints arrives."""
    output = Output(sys.stdout)
    with redirect_stdout(output):
        try:
            status = _run(argv)
        except SystemExit as ended:  # after -h
            status = int(ended.code or 0)
        output.flush()
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit status."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    open_standard_streams()
    with lossy_errors():
        return _judged(sys.argv[1:] if argv is None else argv)


def _judged(argv: Sequence[str]) -> int:
    """Run a command line; what it raises becomes a line on stderr and an exit status."""
    try:
        return _printed(argv)
    except OutputError as error:
        discard(sys.stdout)
        print(error.told(), file=sys.stderr)
        return EXIT_USAGE
    except UsageError as error:
        print(error.told(), file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read our output has seen enough; a second error at exit would say it again.
        discard(sys.stdout)
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        if os.environ.get("GPUCHAOS_DEBUG") == "1":
            raise
        if isinstance(error, OSError) and error.errno in _THE_MACHINES:
            file = error.filename2 or error.filename  # of two the one that is written
            at = f"{file}: " if file else ""
            print(f"gpuchaos: {at}{error.strerror}.", file=sys.stderr)
            return EXIT_USAGE
        print(
            f"gpuchaos: our own fault: {type(error).__name__}: {error} "
            "(GPUCHAOS_DEBUG=1 shows where)",
            file=sys.stderr,
        )
        return EXIT_OWN_FAULT
