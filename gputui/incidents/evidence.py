"""Pieces of evidence: what was read or said, each with its time of day, within bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gputui.clock import clock
from gputui.logs.kernel import KernelEvent

EVIDENCE_FIRST = 4
EVIDENCE_LAST = 12
_FIRST_TOLD, _LAST_TOLD = 2, 4

_STAMP = re.compile(r"(?:\d{4}-\d\d-\d\d )?\d\d+:\d\d:\d\d ")
_BETWEEN = re.compile(r"\.\.\. (\d+) more \.\.\.")


def stamped(text: str, time_s: float, now_s: float) -> str:
    """A piece with the time (Unix time) when it was so in front; once only."""
    return text if _STAMP.match(text) else f"{clock(time_s, now_s)} {text}"


def split_stamp(piece: str) -> tuple[str, str]:
    """When it was so, as it stands in front (nothing where nothing does), and what was said."""
    found = _STAMP.match(piece)
    return (found[0].rstrip(), piece[found.end() :]) if found else ("", piece)


def _without_stamp(piece: str) -> str:
    """What was said, whenever."""
    return split_stamp(piece)[1]


def fresh(before: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """What of ``new`` is not there yet: a rule of samples tells the same at every sample.

    What has no time of its own is the same whenever it was so.
    """
    pieces = set(before)
    texts = {_without_stamp(piece) for piece in before}
    return tuple(piece for piece in new if piece not in (pieces if _STAMP.match(piece) else texts))


def told(events: Iterable[KernelEvent], now_s: float) -> tuple[str, ...]:
    """What the kernel log said, each with its time: how it began and how it goes on."""
    pieces = tuple(stamped(event.text, event.time_s, now_s) for event in events)
    return (
        pieces
        if len(pieces) <= _FIRST_TOLD + _LAST_TOLD
        else (
            *pieces[:_FIRST_TOLD],
            *pieces[-_LAST_TOLD:],
        )
    )


def bounded(before: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The first pieces and the last ones, oldest first, with the count of those between."""
    cut = _BETWEEN.fullmatch(before[EVIDENCE_FIRST]) if len(before) > EVIDENCE_FIRST else None
    between = int(cut[1]) if cut else 0
    pieces = (*(before if cut is None else _without_count(before)), *new)
    if cut is None and len(pieces) <= EVIDENCE_FIRST + EVIDENCE_LAST:
        return pieces
    between += max(len(pieces) - EVIDENCE_FIRST - EVIDENCE_LAST, 0)
    first, last = pieces[:EVIDENCE_FIRST], pieces[EVIDENCE_FIRST:]
    return (*first, f"... {between} more ...", *last[-EVIDENCE_LAST:])


def _without_count(pieces: tuple[str, ...]) -> tuple[str, ...]:
    return (*pieces[:EVIDENCE_FIRST], *pieces[EVIDENCE_FIRST + 1 :])
