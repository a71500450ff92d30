"""The command ``gpuchaos``: finds the subcommand, runs it, and turns every failure into one line.

Exit codes: 0 good, 254 a mistake in the command or a scenario, 255 our own fault; with ``-- CMD``,
CMD's own status. Nothing ends in a traceback unless ``GPUCHAOS_DEBUG=1`` asks for one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from chaos.commands import Arguments, Command, command_names, load_command
from chaos.errors import ScenarioError, UsageError, did_you_mean

EXIT_USAGE = 254
EXIT_OWN_FAULT = 255


class _Parser(argparse.ArgumentParser):
    """A parser whose help shows an example first, and whose errors are ours."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            prog=f"gpuchaos {name}",
            description=(type(command).__doc__ or "").replace("\n    ", "\n").strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._example = command.example
        self._tail = " [-- CMD]" if command.takes_program else ""
        command.prepare(self)

    def format_help(self) -> str:
        """The example, then the usage."""
        usage, _, rest = super().format_help().partition("\n\n")
        return f"{self._example}\n\n{usage}{self._tail}\n\n{rest}"

    def error(self, message: str) -> NoReturn:
        """Report a mistake as every other."""
        raise UsageError(f"{message}. See {self.prog} -h.")


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
    if words[0] not in command_names():
        hint = did_you_mean(words[0], command_names(), "Known commands")
        raise UsageError(f"unknown command '{words[0]}'{hint}")
    command = load_command(words[0])
    end = words.index("--") if "--" in words else len(words)
    program = tuple(words[end + 1 :])
    if end < len(words) and not command.takes_program:
        raise UsageError(f"gpuchaos {words[0]} takes no command after '--'.")
    if end < len(words) and not program:
        raise UsageError("there is no command after '--'.")
    options = _Parser(words[0], command).parse_intermixed_args(words[1:end])
    return command.run(Arguments(options, program))


def _open_standard_streams() -> None:
    """Let descriptors 0 to 2 be open, so that nothing of ours ever gets one of their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit status."""
    _open_standard_streams()
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return EXIT_USAGE
    except UsageError as error:
        print(f"gpuchaos: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read our output has seen enough; a second error at exit would say it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        if os.environ.get("GPUCHAOS_DEBUG") == "1":
            raise
        print(
            f"gpuchaos: our own fault: {type(error).__name__}: {error} "
            "(GPUCHAOS_DEBUG=1 shows where)",
            file=sys.stderr,
        )
        return EXIT_OWN_FAULT
