"""Quantities as people write them: a number with its unit."""

from __future__ import annotations

import re

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([a-z]*)")
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?(%?)")


def duration_s(text: str) -> float:
    """Seconds of ``500ms``, ``1s``, ``2m``; a unit is needed, but for zero.

    Raises ValueError that says what was expected.

    >>> duration_s("1.5m")
    90.0
    """
    found = _DURATION.fullmatch(text.strip())
    if found is not None and not found[2] and float(found[1]) == 0:
        return 0.0
    if found is None or found[2] not in _UNITS_S:
        hint = f"; did you mean {text}s?" if found and not found[2] else ""
        raise ValueError(
            f'"{text}" is no duration: expected a number with a unit, such as 1s or 500ms{hint}'
        )
    return float(found[1]) * _UNITS_S[found[2]]


def share(text: str) -> float:
    """A share, from 0 to 1, of ``95%``. Raises ValueError that says what was expected.

    >>> share("95%")
    0.95
    """
    found = _PERCENT.fullmatch(text.strip())
    if found is None or not found[2]:
        hint = f"; did you mean {text}%?" if found else ""
        raise ValueError(f'"{text}" is no percentage: expected one such as 95%{hint}')
    value = float(found[1]) / 100
    if value > 1:
        raise ValueError(f"{text} is out of range: expected 0% to 100%")
    return value


_WATTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?(k?W)", re.I)


def watts(text: str) -> float:
    """Watts of ``700W`` or ``10.2kW``. Raises ValueError that says what was expected.

    >>> watts("10.2kW")
    10200.0
    """
    found = _WATTS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'"{text}" is no power: expected a number with a unit, such as 10kW')
    return float(found[1]) * (1000 if found[2].lower() == "kw" else 1)


_CELSIUS = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)\s?(?:°\s?)?C")


def celsius(text: str) -> float:
    """Degrees of ``27C``. Raises ValueError that says what was expected.

    >>> celsius("27C")
    27.0
    """
    found = _CELSIUS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'"{text}" is no temperature: expected one such as 27C')
    return float(found[1])
