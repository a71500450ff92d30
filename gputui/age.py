"""How long ago, in as few characters as people need. The screen and the outputs say it alike."""

from __future__ import annotations

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60))
_MOST_DAYS = 999


def age(seconds: float) -> str:
    """How long ago, in at most four characters: ``42s``, ``3m``, ``5h``, ``12d``."""
    whole = max(int(seconds), 0)
    for unit, size in _UNITS:
        if whole >= size:
            return f"{min(whole // size, _MOST_DAYS)}{unit}"
    return f"{whole}s"
