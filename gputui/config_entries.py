"""Everything that can be set in ``config.toml``: its key, how it is read, what it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gputui.incidents.inventory import Expected
from gputui.incidents.maintenance import Window
from gputui.quantities import celsius, duration_s, share, watts

LEAST_INTERVAL_S, MOST_INTERVAL_S = 0.1, 3600.0


class _WrongError(ValueError):
    """A value that is not what was expected; its text says what was."""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _WrongError("expected text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongError("expected true or false")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _WrongError("expected a list of texts")
    return value


def _duration(value: object) -> float:
    if not isinstance(value, str):
        raise _WrongError('expected a duration in quotes, such as "1s"')
    return duration_s(value)


def _interval(value: object) -> float:
    interval_s = _duration(value)
    if not LEAST_INTERVAL_S <= interval_s <= MOST_INTERVAL_S:
        raise _WrongError("expected 100ms to 1h")
    return interval_s


def _share(value: object) -> float:
    if not isinstance(value, str):
        raise _WrongError('expected a percentage in quotes, such as "95%"')
    return share(value)


def _patterns(value: object) -> tuple[str, ...]:
    return tuple(_texts(value))


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise _WrongError("expected a whole number from 1 on")
    return value


def _watts(value: object) -> float:
    if not isinstance(value, str):
        raise _WrongError('expected a power in quotes, such as "10kW"')
    return watts(value)


def _celsius(value: object) -> float:
    if not isinstance(value, str):
        raise _WrongError('expected a temperature in quotes, such as "27C"')
    return celsius(value)


def meant(word: str, known: Iterable[str]) -> str:
    """What a word was meant to be, or what is known."""
    import difflib

    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"


def _expected(value: object) -> Expected:
    if type(value) is int and value > 0:
        return value
    if isinstance(value, list) and all(
        isinstance(one, str) and one.startswith("GPU-") for one in value
    ):
        return tuple(value)
    raise _WrongError('expected a number of GPUs, or a list of UUIDs such as ["GPU-..."]')


def _kinds(value: object) -> frozenset[str]:
    from gputui.incidents.rules import all_rules

    kinds = {rule.kind for rule in all_rules()}
    given = _texts(value)
    for one in given:
        if one not in kinds:
            raise _WrongError(f'no incident of the kind "{one}"{meant(one, kinds)}')
    return frozenset(given)


def _windows(value: object) -> tuple[Window, ...]:
    from gputui.maintenance_setting import read_windows

    return read_windows(value, _kinds)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be set: its key, how it is read, and how the template shows it.

    ``target`` is the name in :class:`Config`, or in its ``thresholds`` for keys of that table.
    """

    key: str
    target: str
    read: Callable[[object], object]
    example: str
    help: str


ENTRIES = (
    Entry("interval", "interval_s", _interval, '"1s"', "time between readings"),
    Entry(
        "kernel_log",
        "kernel_log",
        _text,
        '"auto"',
        "auto, kmsg, journal, none or a path",
    ),
    Entry(
        "job_log",
        "job_log",
        _text,
        '"auto"',
        "auto (files that GPU processes write to), none, or a pattern such as /var/log/jobs/*.log",
    ),
    Entry("theme", "theme", _text, '"dark"', "colours of the screen"),
    Entry(
        "allow_actions",
        "allow_actions",
        _flag,
        "false",
        "whether processes may be ended and steps of runbooks run",
    ),
    Entry(
        "maintenance",
        "maintenance",
        _windows,
        '[{name = "backups", daily = "02:00-04:00"}]',
        "windows in which nobody is to be called; also as [[maintenance]] with subjects and kinds",
    ),
    Entry(
        "gpus.expected",
        "expected_gpus",
        _expected,
        "8",
        'how many GPUs there should be, or which: ["GPU-...", ...]',
    ),
    Entry(
        "rules.off",
        "rules_off",
        _kinds,
        "[]",
        'kinds of incidents that are not wanted: ["GpuMemoryPressure"]',
    ),
    Entry(
        "thresholds.memory_full",
        "memory_full_share",
        _share,
        '"95%"',
        "memory in use that leaves no room",
    ),
    Entry(
        "thresholds.memory_brim",
        "memory_brim_share",
        _share,
        '"99%"',
        "memory in use that leaves no room for anything",
    ),
    Entry(
        "thresholds.memory_growing",
        "memory_growing_share",
        _share,
        '"75%"',
        "memory in use below which growth is no trouble",
    ),
    Entry(
        "thresholds.memory_foreseen",
        "memory_foreseen_s",
        _duration,
        '"5m"',
        "how far ahead full memory is foreseen",
    ),
    Entry(
        "thresholds.memory_held",
        "memory_held_share",
        _share,
        '"2%"',
        "memory in use that no process accounts for",
    ),
    Entry(
        "thresholds.idle",
        "idle_s",
        _duration,
        '"15m"',
        "for how long a GPU may be held and not used",
    ),
    Entry(
        "thresholds.starved",
        "starved_share",
        _share,
        '"60%"',
        "use of a GPU below which it waits for something",
    ),
    Entry(
        "thresholds.pressure",
        "pressure_share",
        _share,
        '"20%"',
        "time in which the host's tasks wait that leaves GPUs without data",
    ),
    Entry(
        "thresholds.repeats",
        "repeats",
        _whole,
        "3",
        "failures of one GPU that are no coincidence",
    ),
    Entry(
        "thresholds.repeats_within",
        "repeats_within_s",
        _duration,
        '"30d"',
        "how far back failures of a GPU count",
    ),
    Entry(
        "thresholds.ecc_corrected",
        "ecc_corrected_per_minute",
        _whole,
        "600",
        "corrected memory errors of a GPU, a minute, that are too many",
    ),
    Entry(
        "thresholds.capped_clock",
        "capped_clock_share",
        _share,
        '"70%"',
        "clock of a power-capped GPU, of its peers', that is worth telling",
    ),
    Entry(
        "thresholds.inlet_low",
        "inlet_low_c",
        _celsius,
        '"16C"',
        "air at the inlet that is too cold",
    ),
    Entry(
        "thresholds.inlet_high",
        "inlet_high_c",
        _celsius,
        '"27C"',
        "air at the inlet that is too warm",
    ),
    Entry(
        "processes.allowed_users",
        "allowed_users",
        _patterns,
        '["alice", "svc-*"]',
        "who may use the GPUs; anybody if it is not set",
    ),
    Entry(
        "processes.allowed_commands",
        "allowed_commands",
        _patterns,
        '["*python3 *"]',
        "what may run on the GPUs; anything if it is not set",
    ),
    Entry(
        "power.supply",
        "power_supply_w",
        _watts,
        '"10kW"',
        "what the supply can give to the node's GPUs",
    ),
)
"""Everything that can be set, in the order of the template."""
