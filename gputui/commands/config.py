"""``gputui config init | print | validate``: the file of settings."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gputui.config import ENTRIES, Config, Entry, load_config
from gputui.exit_codes import BAD_USAGE, HEALTHY, UNREADABLE
from gputui.incidents.thresholds import Thresholds
from gputui.maintenance_setting import written_windows
from gputui.places import SYSTEM_CONFIG, user_config

_USAGE = """\
gputui config init               write a file of settings, all commented out
gputui config print              what is set, from all files together
gputui config validate [FILE]    look for mistakes
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    match list(arguments):
        case ["init"]:
            return _init(Path(user_config()))
        case ["print"]:
            return _print(load_config())
        case ["validate", *files] if len(files) <= 1:
            return _validate([Path(file) for file in files])
        case ["-h" | "--help"]:
            print(_USAGE, end="")
            return HEALTHY
        case _:
            print(f"gputui config: expected one of these:\n{_USAGE}", end="", file=sys.stderr)
            return BAD_USAGE


def _init(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        print(f"gputui: {path} is there already: edit it, or remove it first", file=sys.stderr)
        return UNREADABLE
    except OSError as error:
        print(f"gputui: cannot write {path}: {error.strerror}", file=sys.stderr)
        return UNREADABLE
    print(f"wrote {path}")
    return HEALTHY


def _print(config: Config) -> int:
    print("\n".join(_lines(lambda entry: _set(config, entry))))
    return _complain(config)


def _validate(files: list[Path]) -> int:
    missing = [file for file in files if not file.is_file()]
    if missing:
        print(f"gputui: {missing[0]}: no such file", file=sys.stderr)
        return UNREADABLE
    known = (Path(SYSTEM_CONFIG), Path(user_config()))
    paths = files or [path for path in known if path.is_file()]
    code = _complain(load_config(paths))
    if code == HEALTHY:
        where = ", ".join(str(path) for path in paths)
        print(f"no mistakes in {where}" if where else "there is no config; gputui config init")
    return code


def _complain(config: Config) -> int:
    for problem in config.problems:
        print(problem, file=sys.stderr)
    return BAD_USAGE if config.problems else HEALTHY


def template() -> str:
    """A file that sets nothing and shows everything that can be set."""
    head = [
        "# Settings of gputui. The site's stand in /etc/gputui/config.toml; yours are stronger,",
        "# and options of the command line are stronger still. What is shown is the default, or an",
        "# example where there is none.",
        "",
    ]
    lines = _lines(lambda entry: f"# {entry.help}\n# {_name(entry)} = {entry.example}\n")
    return "\n".join([*head, *lines])


def _lines(shown: Callable[[Entry], str]) -> list[str]:
    lines: list[str] = []
    table = ""
    for entry in ENTRIES:
        within, _, _ = entry.key.rpartition(".")
        if within != table:
            table = within
            lines += ["", f"[{table}]"] if lines and lines[-1] else [f"[{table}]"]
        lines.append(shown(entry))
    return lines


def _name(entry: Entry) -> str:
    return entry.key.rpartition(".")[2]


def _set(config: Config, entry: Entry) -> str:
    """An entry as the file would write it."""
    owner: object = config
    if entry.target in Thresholds.__dataclass_fields__:
        owner = config.thresholds
    value = getattr(owner, entry.target)
    if value is None:
        return f"# {_name(entry)} is not set: {entry.help}"
    return f"{_name(entry)} = {_written(entry, value)}"


_UNITS = (("_share", 100, "%"), ("_s", 1, "s"), ("_c", 1, "C"), ("_w", 1, "W"))
"""How a number is written, by the end of its name: its factor and its unit."""


def _written(entry: Entry, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if entry.target == "maintenance":
        return written_windows(value)
    if isinstance(value, frozenset | tuple):
        return "[" + ", ".join(f'"{one}"' for one in sorted(value)) + "]"
    if isinstance(value, float):
        for end, factor, unit in _UNITS:
            if entry.target.endswith(end):
                return f'"{factor * value:.12g}{unit}"'
    return f'"{value}"' if isinstance(value, str) else str(value)
