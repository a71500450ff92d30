"""Why a reading is missing, in the few cells of a column. Pages have the reason in full."""

from __future__ import annotations

_WORDS = (
    ("not measured yet", "wait"),
    ("needs two", "wait"),
    ("not there", "none"),
    ("support", "n/s"),
    ("library", "n/s"),
    ("not available", "none"),
    ("permission", "perm"),
    ("timed out", "late"),
    ("garbage", "bad"),
    ("lost", "lost"),
    ("error", "err"),
)


def short_reason(reason: str | None) -> str:
    """One short word for a reason; a question mark where none is known."""
    lower = (reason or "").lower()
    return next((short for part, short in _WORDS if part in lower), "?")
