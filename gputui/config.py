"""What a site or a user has set: ``config.toml`` in /etc/gputui and in $XDG_CONFIG_HOME/gputui.

The user's file is stronger than the site's, and the command line is stronger than both. An entry
that is wrong is left out and told, with its file and line; a monitor that refuses to start because
of it would be gone when it is needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from gputui.config_entries import ENTRIES, LEAST_INTERVAL_S, MOST_INTERVAL_S, Entry, meant
from gputui.incidents.inventory import Expected
from gputui.incidents.maintenance import Window
from gputui.incidents.thresholds import Thresholds
from gputui.places import SYSTEM_CONFIG, user_config

__all__ = [
    "ENTRIES",
    "LEAST_INTERVAL_S",
    "MOST_INTERVAL_S",
    "Config",
    "Entry",
    "load_config",
    "read_config",
]


@dataclass(frozen=True, slots=True)
class Config:
    """What is set. ``problems`` are entries that are wrong, one line each, with file and line."""

    interval_s: float | None = None
    kernel_log: str = "auto"
    job_log: str = "auto"
    theme: str | None = None
    allow_actions: bool = False
    expected_gpus: Expected = None
    rules_off: frozenset[str] = frozenset()
    maintenance: tuple[Window, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    problems: tuple[str, ...] = ()


_BY_KEY = {entry.key: entry for entry in ENTRIES}
_TABLES = {entry.key.partition(".")[0] for entry in ENTRIES if "." in entry.key}
_THRESHOLDS = {one.name for one in fields(Thresholds)}


# --- files ----------------------------------------------------------------------------------------


def load_config(paths: Iterable[Path] | None = None) -> Config:
    """Read the files there are, later ones over earlier ones. Never raises."""
    config = Config()
    for path in (Path(SYSTEM_CONFIG), Path(user_config())) if paths is None else paths:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            config = _with_problem(config, f"{path}: cannot be read: {error}")
            continue
        config = read_config(text, str(path), config)
    return config


def read_config(text: str, name: str, before: Config | None = None) -> Config:
    """What a file sets, over what was set ``before``; ``name`` is the file's, for problems."""
    config = before or Config()
    toml = _toml()
    try:
        raw = toml.loads(text)
    except toml.TOMLDecodeError as error:
        return _with_problem(config, f"{name}{_place(str(error))}")
    for key, value in _flat(raw):
        line = _line_of(text, key)
        entry = _BY_KEY.get(key)
        if entry is None:
            near = meant(key, _BY_KEY)
            config = _with_problem(config, f"{name}:{line}: {key}: nothing of this name{near}")
            continue
        try:
            config = _set(config, entry, entry.read(value))
        except ValueError as error:
            found = "" if str(error).startswith('"') else f"found {_shown(value)}, "
            config = _with_problem(config, f"{name}:{line}: {key}: {found}{error}")
    return config


def _set(config: Config, entry: Entry, value: object) -> Config:
    changed: dict[str, Any] = {entry.target: value}
    if entry.target in _THRESHOLDS:
        changed = {"thresholds": replace(config.thresholds, **changed)}
    return replace(config, **changed)


def _with_problem(config: Config, problem: str) -> Config:
    return replace(config, problems=(*config.problems, problem))


def _toml() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib


def _flat(raw: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    """Keys with their table's name before them; a table that nobody knows is a key itself."""
    for key, value in raw.items():
        if isinstance(value, dict) and key in _TABLES:
            yield from ((f"{key}.{name}", one) for name, one in value.items())
        else:
            yield key, value


_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


def _place(message: str) -> str:
    """The parser's complaint, with its place in front."""
    found = _PLACE.search(message)
    if found is None:
        return f": {message}"
    return f":{found[1]}:{found[2]}: {message[: found.start()]}"


def _line_of(text: str, key: str) -> int:
    """The line on which a key is set, 1 if that cannot be told."""
    table, _, name = key.rpartition(".")
    within = ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            within = bare.strip("[] \t").partition("#")[0].strip("[] \t")
            if within == key:
                return number
        else:
            left = bare.partition("=")[0].strip().strip("\"'")
            if left == (name if within == table else key):
                return number
    return 1


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 60 else text[:57] + "..."
