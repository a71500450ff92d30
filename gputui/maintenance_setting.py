"""Windows of maintenance as the config says them.

Each has a name, and ``start`` and ``end`` (dates with a time), ``daily`` (two local times), or all
of them; ``subjects`` and ``kinds`` limit whom and what it concerns::

    [[maintenance]]
    name = "new cables"
    subjects = ["node:n0"]
    kinds = ["NvlinkDown"]
    start = 2026-12-01T02:00:00+01:00
    end = 2026-12-01T04:00:00+01:00

    [[maintenance]]
    name = "backups"
    daily = "02:00-04:00"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any

from gputui.incidents.maintenance import Window

_DAILY = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*-\s*([01]\d|2[0-3]):([0-5]\d)")
_KEYS = ("name", "subjects", "kinds", "start", "end", "daily")
_EXAMPLE = 'such as [{name = "backups", daily = "02:00-04:00"}]'

Kinds = Callable[[object], frozenset[str]]
"""Reads a list of kinds of incidents; raises ValueError that says what was expected."""


def read_windows(value: object, kinds: Kinds) -> tuple[Window, ...]:
    """The windows that a value of TOML's says. Raises ValueError that says what was expected."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"expected a list of windows, {_EXAMPLE}")
    windows = []
    for number, one in enumerate(value, 1):
        try:
            windows.append(_window(one, kinds))
        except ValueError as error:
            name = one.get("name")
            which = f'the window "{name}"' if isinstance(name, str) else f"window {number}"
            raise ValueError(f"{which}: {error}") from None
    return tuple(windows)


def written_windows(windows: Iterable[Window]) -> str:
    """The windows as a value in a TOML file."""
    return "[" + ", ".join(_written(window) for window in windows) + "]"


def _window(table: dict[str, Any], kinds: Kinds) -> Window:
    for key in table:
        if key not in _KEYS:
            raise ValueError(f"nothing of the name {key}; known are {', '.join(_KEYS)}")
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("expected a name, to mark with what happens in it")
    start_s, end_s = (_moment(table, key) for key in ("start", "end"))
    if start_s is not None and end_s is not None and end_s <= start_s:
        raise ValueError("expected an end after the start")
    daily = _daily(table["daily"]) if "daily" in table else None
    if start_s is None and end_s is None and daily is None:
        raise ValueError("expected a start, an end, or daily")
    subjects = table.get("subjects", [])
    if not isinstance(subjects, list) or not all(isinstance(one, str) for one in subjects):
        raise ValueError('subjects: expected a list such as ["node:n0", "gpu3"]')
    return Window(
        name,
        tuple(subjects),
        kinds(table["kinds"]) if "kinds" in table else frozenset(),
        start_s,
        end_s,
        daily,
    )


def _moment(table: dict[str, Any], key: str) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise ValueError(f"{key}: expected a date and a time such as 2026-12-01T02:00:00+01:00")
    return value.timestamp()


def _daily(value: object) -> tuple[float, float]:
    found = _DAILY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError('daily: expected two times in quotes, such as "22:00-06:00"')
    hours = [int(part) for part in found.groups()]
    begin, end = (60.0 * (60 * hours[at] + hours[at + 1]) for at in (0, 2))
    if begin == end:
        raise ValueError("daily: expected two times that differ")
    return begin, end


def _written(window: Window) -> str:
    parts = [f'name = "{window.name}"']
    for key, names in (("subjects", window.subjects), ("kinds", sorted(window.kinds))):
        if names:
            parts.append(f"{key} = [" + ", ".join(f'"{one}"' for one in names) + "]")
    for key, moment_s in (("start", window.start_s), ("end", window.end_s)):
        if moment_s is not None:
            parts.append(f"{key} = {datetime.fromtimestamp(moment_s, timezone.utc).isoformat()}")
    if window.daily is not None:
        times = (f"{at // 3600:02.0f}:{at % 3600 // 60:02.0f}" for at in window.daily)
        parts.append(f'daily = "{"-".join(times)}"')
    return "{" + ", ".join(parts) + "}"
