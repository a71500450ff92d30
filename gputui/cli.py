"""The command ``gputui``: what was asked for, and which part of the program does it.

Nothing heavy is imported before it is needed: Textual only for the screen, and only after the
sampler has been started.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from gputui import __version__
from gputui.errors import SourceError
from gputui.exit_codes import BAD_USAGE, INTERRUPTED, UNREADABLE
from gputui.places import SYSTEM_CONFIG, state_folder, user_config
from gputui.streams import (
    OutputError,
    StandardOutput,
    complain,
    let_go_of_stdout,
    open_standard_streams,
    writing,
)

if TYPE_CHECKING:
    from gputui.monitor import Monitor
    from gputui.recording import CaptureWriter

_EXAMPLE = """\
gputui                        the monitor, on this machine's GPUs
gputui --demo                 on a fake node that runs into trouble
gputui --once                 one reading as text; --json for machines
gputui --stream | jq .        readings, log lines and incidents, for ever
gputui scan kern.log          the events and incidents in logs, offline
gputui explain 79             what an error means, who says what, what to do
gputui config init            a file of settings, to fill in
"""

_EXIT_CODES = """\
exit codes: 0 healthy, 1 incidents of warning or worse, 2 could not read, 64 bad usage
"""

_INDEX_DIGITS = 4
_LEAST_INTERVAL_S, _MOST_INTERVAL_S = 0.1, 3600.0


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, found out without the imports that argparse needs for it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """The width of the terminal, 80 where there is none."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


class _Parser(argparse.ArgumentParser):
    """A parser whose help shows examples first, and whose errors say what was meant."""

    def format_help(self) -> str:
        """The examples, then the options."""
        return f"{_EXAMPLE}\n{super().format_help()}\n{_EXIT_CODES}"

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help or a version; what cannot be written is an error as elsewhere."""
        with writing():
            (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Say it in one line, and exit as bad usage does."""
        meant = self._meant(message)
        complain(f"{message}{meant} (gputui -h shows what there is)")
        sys.exit(BAD_USAGE)

    def _meant(self, message: str) -> str:
        _, _, found = message.partition("unrecognized arguments: --")
        if not found:
            return ""
        import difflib

        word = f"--{found.split()[0].partition('=')[0]}"
        near = difflib.get_close_matches(word, list(self._option_string_actions), 1)
        return f"; did you mean {near[0]}?" if near else ""


def interval(text: str) -> float:
    """Seconds between readings, of ``500ms``, ``1s``, ``2m``; a unit is needed."""
    from gputui.quantities import duration_s

    try:
        seconds = duration_s(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not _LEAST_INTERVAL_S <= seconds <= _MOST_INTERVAL_S:
        raise argparse.ArgumentTypeError(f"{text} is out of range: expected 100ms to 1h")
    return seconds


def gpu_indices(text: str) -> tuple[int, ...]:
    """Indices of ``0,3`` or ``0-3``."""
    indices: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not dash:
            last = first
        numbers = [int(one) if _is_index(one) else -1 for one in (first, last)]
        if not 0 <= numbers[0] <= numbers[1]:
            raise argparse.ArgumentTypeError(
                f'"{text}": expected indices of GPUs, such as 0,3 or 0-3'
            )
        indices |= set(range(numbers[0], numbers[1] + 1))
    return tuple(sorted(indices))


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _INDEX_DIGITS


def theme_name(text: str) -> str:
    """A theme that there is."""
    from gputui.tui.themes import THEMES, UnknownThemeError

    if text not in THEMES:
        raise argparse.ArgumentTypeError(str(UnknownThemeError(text)))
    return text


def source_name(text: str) -> str:
    """A source as ``--source`` names it; whether it can be opened is seen later."""
    kind, equals, path = text.partition("=")
    if text == "local" or (kind in ("stream", "replay") and equals and path):
        return text
    if text.startswith("ssh:") and len(text) > len("ssh:"):
        return text
    from gputui.sources.open import EXPECTED

    raise argparse.ArgumentTypeError(f'"{text}": expected {EXPECTED}')


def _parser() -> _Parser:
    parser = _Parser(
        prog="gputui",
        description="A terminal monitor for NVIDIA GPUs: what is wrong, where, since when, "
        "and what to do.",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--version", action="version", version=f"gputui {__version__}")
    add(
        "--demo",
        nargs="?",
        const="demo",
        metavar="SCENARIO",
        help="on a fake node (default: one that runs into trouble within a minute)",
    )
    add(
        "--source",
        type=source_name,
        default="local",
        metavar="SOURCE",
        help="local, ssh:HOST, stream=PATH (a FIFO or file in the capture format) or replay=FILE",
    )
    add("--kernel-log", metavar="LOG", help="auto (default), journal, kmsg, none or a path")
    add(
        "--job-log",
        metavar="GLOB",
        help="logs of jobs, or none (default: files that GPU processes write their output to)",
    )
    add("--interval", type=interval, metavar="TIME", help="time between readings (default 1s)")
    add("--gpu", type=gpu_indices, default=(), metavar="LIST", help="only these: 0,3 or 0-3")
    add("--record", metavar="FILE", help="write everything to a file, for replay=")
    add(
        "--allow-actions",
        action="store_true",
        help="processes may be ended, and steps of runbooks run (off unless given)",
    )
    how = parser.add_argument_group("instead of the screen")
    how.add_argument("--once", action="store_true", help="one reading, as a table")
    how.add_argument("--json", action="store_true", help="one reading, as JSON")
    how.add_argument("--brief", action="store_true", help="one reading, as one line")
    how.add_argument("--stream", action="store_true", help="JSON lines, for ever")
    look = parser.add_argument_group("the screen")
    look.add_argument(
        "--theme",
        type=theme_name,
        metavar="NAME",
        help="colours: dark, light, high-contrast, colour-blind, ansi16 or none "
        "(default: what suits the terminal)",
    )
    look.add_argument("--ascii", action="store_true", help="no characters beyond ASCII")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code.

    Garbage is collected only where something goes on for long: there is none in what is imported.
    """
    gc.disable()
    open_standard_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(given)
    except (SourceError, OutputError) as error:
        return _failed(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    finally:
        let_go_of_stdout()
        gc.freeze()  # nor is any looked for while the interpreter ends


def _run(given: list[str]) -> int:
    if given and not given[0].startswith("-"):
        return _command(given[0], given[1:])
    parser = _parser()
    options = parser.parse_args(given)
    outputs = [name for name in ("json", "brief", "stream") if getattr(options, name)]
    if len(outputs) > 1:
        parser.error(f"--{outputs[0]} and --{outputs[1]} exclude each other")
    if options.stream and options.once:
        parser.error("--stream and --once exclude each other")
    if options.demo is not None:
        return _demo(options.demo, given)
    if options.stream:
        return _stream(options)
    if options.once or outputs:
        return _once(options)
    return _screen(options)


def _command(name: str, arguments: Sequence[str]) -> int:
    """Run what is not the monitor."""
    gc.enable()
    from importlib import import_module

    from gputui.commands import command_names

    names = command_names()
    if name not in names:
        import difflib

        near = difflib.get_close_matches(name, names, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        complain(f'no command "{name}"{meant} (there are {", ".join(names)}; see gputui -h)')
        return BAD_USAGE
    with writing():
        return int(import_module(f"gputui.commands.{name}").run(arguments))


def _demo(scenario: str, given: Sequence[str]) -> int:
    from gputui.demo import DemoError, NoSuchDemoError, run_demo

    rest = []
    skip = False
    for position, one in enumerate(given):
        if skip:
            skip = False
        elif one == "--demo":
            skip = given[position + 1 : position + 2] == [scenario]
        elif not one.startswith("--demo="):
            rest.append(one)
    try:
        run_demo(scenario, rest)
    except DemoError as error:
        return _failed(error)
    except NoSuchDemoError as error:
        complain(str(error))
        return BAD_USAGE


def _once(options: argparse.Namespace) -> int:
    monitor = _monitor(options, interval_s=0.5)
    from gputui.export import brief, json, table
    from gputui.once import run_once

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    write = json.write if options.json else brief.write if options.brief else table.write
    return run_once(monitor, write)


def _stream(options: argparse.Namespace) -> int:
    """Write the capture format until somebody ends it."""
    out = StandardOutput()
    with contextlib.suppress(BrokenPipeError):
        _stream_into(out, options)
    if out.failure:
        raise OutputError(out.failure)
    return 0


def _stream_into(out: StandardOutput, options: argparse.Namespace) -> None:
    import signal

    from gputui.recording import CaptureWriter

    monitor = _monitor(options, [CaptureWriter(out)])
    gc.enable()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: monitor.ended.set())
    try:
        monitor.start(lambda _: None)
        monitor.ended.wait()
    finally:
        monitor.stop()


def _screen(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        complain("the screen needs a terminal; --once, --json and --stream work without one")
        return BAD_USAGE
    monitor = _monitor(options)
    from gputui.tui.acting import Acting
    from gputui.tui.run import NoReadingError, run

    try:
        return run(
            monitor,
            theme=monitor.options.theme,
            ascii_only=options.ascii,
            needs_reading=options.source == "local",
            acting=Acting(monitor.options.allow_actions, is_here=options.source == "local"),
            playback=monitor.playback,
        )
    except NoReadingError as error:
        failed = _failed(error)
        print("To see gputui on a fake node: gputui --demo", file=sys.stderr)
        return failed


def _monitor(
    options: argparse.Namespace, captures: Sequence[CaptureWriter] = (), *, interval_s: float = 1.0
) -> Monitor:
    """Start the sampler first, and import the rest while it starts."""
    spawned = None
    if options.source == "local" and (options.interval or not _is_configured()):
        from gputui.sources.spawn import spawn

        spawned = spawn(options.interval or interval_s)
    from pathlib import Path

    from gputui.config import load_config
    from gputui.sources.open import open_source

    config = load_config()
    interval_s = options.interval or config.interval_s or interval_s
    name = options.source
    if options.once or options.json or options.brief:
        # What counts is how a recording ends: it is read as fast as it can be.
        name = name.replace("replay=", "stream=", 1)
    kernel_log = options.kernel_log or config.kernel_log
    source = open_source(name, interval_s, kernel_log, spawned)
    from gputui.monitor import Monitor, MonitorOptions

    asked = MonitorOptions(
        source=name,
        interval_s=interval_s,
        kernel_log=kernel_log,
        job_logs=options.job_log or config.job_log,
        gpus=options.gpu,
        record=Path(options.record) if options.record else None,
        theme=options.theme or config.theme,
        allow_actions=options.allow_actions or config.allow_actions,
        expected_gpus=config.expected_gpus,
        rules_off=config.rules_off,
        thresholds=config.thresholds,
        maintenance=config.maintenance,
        notices=config.problems,
        state=Path(state_folder()),
    )
    monitor = Monitor(asked, captures, source)
    monitor.launch()
    return monitor


def _is_configured() -> bool:
    """Whether there is a file that may set the interval; asked before anything else is imported."""
    return any(os.access(path, os.F_OK) for path in (SYSTEM_CONFIG, user_config()))


def _failed(why: object) -> int:
    complain(str(why))
    return UNREADABLE
