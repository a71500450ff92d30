"""What a GPU did in the last minutes, in little memory, and its picture.

A scale is fixed at 0..100: a GPU that stays at 100 % must not look like one that stays at 0 %.
A gap stays a gap.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache

BUCKET_S = 6.0
"""One sample of a small picture covers this long; two samples are a braille cell."""

CLOSE_BUCKET_S = 2.0
"""The same for a large picture, of a GPU that is looked at closely."""

KEPT = 300
"""Samples kept, as many as the widest picture shows: half an hour, or ten minutes closely."""

_USUAL = 2.5
"""A pause up to so many times as long as the one before is no silence."""

_LEFT = (0x00, 0x40, 0x44, 0x46, 0x47)
_RIGHT = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
_DOTS = {
    (a, b): chr(0x2800 | left | right) if a or b else " "
    for a, left in enumerate(_LEFT)
    for b, right in enumerate(_RIGHT)
}
"""The braille cell (Unicode block from U+2800) for two heights; a gap is a plain space."""


Values = tuple[float | None, ...]
"""Percentages, oldest first; ``None`` is a gap."""


class History:
    """Averages of one reading over fixed spans of time, oldest first; ``None`` is a gap."""

    __slots__ = ("_bucket", "_bucket_s", "_count", "_last_s", "_means", "_pause_s", "_sum")

    def __init__(self, bucket_s: float = BUCKET_S) -> None:
        self._bucket_s = bucket_s
        self._means: deque[float | None] = deque(maxlen=KEPT)
        self._bucket: int | None = None
        self._sum = 0.0
        self._count = 0
        self._last_s = 0.0
        self._pause_s = 0.0

    def add(self, time_s: float, value: float | None) -> None:
        """Take in a reading. A time that goes backwards counts as now.

        Where readings come less often than spans begin, the last one stands for those between; a
        pause much longer than the one before it is a gap.
        """
        bucket = int(time_s // self._bucket_s)
        pause_s = time_s - self._last_s
        if self._bucket is None:
            self._bucket = bucket
        elif bucket > self._bucket:
            mean = self._mean()
            is_usual = pause_s <= _USUAL * self._pause_s
            self._means.append(mean)
            for _ in range(min(bucket - self._bucket - 1, KEPT)):
                self._means.append(mean if is_usual else None)
            self._bucket, self._sum, self._count = bucket, 0.0, 0
        self._last_s, self._pause_s = time_s, pause_s
        if value is not None:
            self._sum += value
            self._count += 1

    def _mean(self) -> float | None:
        return self._sum / self._count if self._count else None

    @property
    def values(self) -> Values:
        """The averages, the current span's last, made up to whole pairs of spans.

        Pairs begin at even spans, so that a picture with two samples a cell moves by whole cells.
        """
        return self.until(None)

    def until(self, time_s: float | None) -> Values:
        """The same as it was at a time, but for the average of the span that it lies in."""
        if self._bucket is None:
            return ()
        means: list[float | None] = [*self._means, self._mean()]
        bucket = self._bucket
        if time_s is not None:
            bucket = min(int(time_s // self._bucket_s), bucket)
            del means[max(len(means) - (self._bucket - bucket), 0) :]
        return (*means, None) if bucket % 2 == 0 else tuple(means)


def height(value: float | None) -> int:
    """Dots for a percentage: none for a gap, one for zero, four from 75 up."""
    if value is None:
        return 0
    return 1 + min(max(int(value // 25), 0), 3)


def sparkline(values: Values, width: int, *, braille: bool, levels: str) -> str:
    """The newest ``values``, newest at the right, in exactly ``width`` cells.

    Two samples a cell in braille. Otherwise one sample a cell, in ``levels`` from low to high: half
    the time then fits, so pairs are averaged to show the same span.
    """
    if width <= 0:
        return ""
    draw = _dots if braille else _levels
    return draw(values[:-2], width - 1, levels) + draw(values[-2:], 1, levels)


@lru_cache(maxsize=256)  # the past stays as it is until it moves on by a cell
def _dots(values: Values, width: int, levels: str) -> str:
    heights = [height(value) for value in _newest(values, 2 * width)]
    return "".join([_DOTS[pair] for pair in zip(heights[::2], heights[1::2], strict=True)])


@lru_cache(maxsize=256)
def _levels(values: Values, width: int, levels: str) -> str:
    recent = _newest(values, 2 * width)
    return "".join([_level(pair, levels) for pair in zip(recent[::2], recent[1::2], strict=True)])


def _newest(values: Values, count: int) -> list[float | None]:
    """The last ``count`` values, after as many gaps as are needed."""
    return [None] * (count - len(values)) + list(values[max(len(values) - count, 0) :])


def _level(pair: Values, levels: str) -> str:
    known = [value for value in pair if value is not None]
    if not known:
        return " "
    mean = min(max(sum(known) / len(known), 0.0), 100.0)
    return levels[min(int(mean / 100 * len(levels)), len(levels) - 1)]


def chart(
    values: Values, width: int, rows: int, top: float, *, braille: bool, levels: str
) -> list[str]:
    """The newest ``values`` on a scale from 0 to ``top``, in ``rows`` lines of ``width`` cells.

    The picture is filled from below. A reading of zero is one dot, or the lowest level.
    """
    recent = _newest(values, 2 * width)
    if not braille:
        pairs = zip(recent[::2], recent[1::2], strict=True)
        recent = [max((v for v in pair if v is not None), default=None) for pair in pairs]
    steps = 4 if braille else len(levels)
    full = rows * steps
    filled = [_filled(value, top, full) for value in recent]
    lines = []
    for row in range(rows):
        below = (rows - 1 - row) * steps
        parts = [min(max(count - below, 0), steps) for count in filled]
        if braille:
            cells = [_DOTS[pair] for pair in zip(parts[::2], parts[1::2], strict=True)]
        else:
            cells = [levels[part - 1] if part else " " for part in parts]
        lines.append("".join(cells))
    return lines


def _filled(value: float | None, top: float, full: int) -> int:
    """How many of ``full`` steps a value takes: none for a gap, at least one for a reading."""
    if value is None:
        return 0
    return min(max(round(value / top * full), 1), full)
