"""Lines of text measured in terminal cells.

A line is a row of runs; a run is text with one role. Nothing here knows colours. Text from outside
(process names, log lines, driver messages) passes :func:`clean` before it is measured: a terminal
must never see another program's control characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from gputui.tui.roles import Role


class Run(NamedTuple):
    """A piece of text in one role."""

    text: str
    role: Role = Role.TEXT


class Line(NamedTuple):
    """One row of the screen. ``selected`` rows carry the cursor."""

    runs: tuple[Run, ...]
    selected: bool = False

    @property
    def text(self) -> str:
        """The text alone."""
        return "".join(run.text for run in self.runs)

    @property
    def width(self) -> int:
        """Width in cells."""
        return sum(width_of(run.text) for run in self.runs)


def width_of(text: str) -> int:
    """Width of ``text`` in terminal cells."""
    return len(text) if text.isascii() else cell_len(text)


def clean(text: str) -> str:
    """``text`` on one line, without anything a terminal might obey.

    Line breaks and tabs become spaces. Control characters, lone surrogates and invisible characters
    that reorder text (Unicode category Cf) become a middle dot.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else " " if char in "\t\n\r\v\f\u2028\u2029\xa0" else "·"
        for char in text
    )


def shorten(text: str, width: int, ellipsis: str) -> str:
    """``text``, cut to ``width`` cells; a cut shows as ``ellipsis``."""
    if width_of(text) <= width:
        return text
    if width < 4:
        return set_cell_size(text, max(width, 0))
    return set_cell_size(text, width - width_of(ellipsis)) + ellipsis


@lru_cache(maxsize=2048)
def left(text: str, width: int, ellipsis: str = "…") -> str:
    """``text`` in exactly ``width`` cells, at the left."""
    if len(text) <= width and text.isascii():
        return text.ljust(width)
    text = shorten(text, width, ellipsis)
    return text + " " * (width - width_of(text))


@lru_cache(maxsize=2048)
def right(text: str, width: int, ellipsis: str = "…") -> str:
    """``text`` in exactly ``width`` cells, at the right."""
    if len(text) <= width and text.isascii():
        return text.rjust(width)
    text = shorten(text, width, ellipsis)
    return " " * (width - width_of(text)) + text


def make_line(runs: Sequence[Run], width: int, *, selected: bool = False) -> Line:
    """A line of exactly ``width`` cells, cut or padded; neighbours of one role are joined."""
    cells = width_of("".join([run.text for run in runs]))
    if cells > width:
        runs = _cut(runs, width)
    elif cells < width:
        runs = [*runs, Run(" " * (width - cells))]
    joined: list[Run] = []
    last: Role | None = None
    for run in runs:
        if run.role is last:
            joined[-1] = Run(joined[-1].text + run.text, run.role)
        elif run.text:
            joined.append(run)
            last = run.role
    return Line(tuple(joined), selected)


@lru_cache(maxsize=8)
def empty(width: int) -> Line:
    """A line with nothing on it."""
    return make_line([], width)


def _cut(runs: Sequence[Run], width: int) -> list[Run]:
    """As much of ``runs`` as fits into ``width`` cells; half a wide character becomes a space."""
    kept: list[Run] = []
    room = width
    for text, role in runs:
        cells = width_of(text)
        kept.append(Run(text if cells <= room else set_cell_size(text, room), role))
        room -= min(cells, room)
    return kept


def wrap(text: str, width: int) -> list[str]:
    """``text`` broken at spaces into lines of at most ``width`` cells; longer words are split."""
    width = max(width, 1)
    lines: list[str] = []
    line = ""
    for word in text.split():
        while width_of(word) > width:
            room = width - width_of(line) - bool(line)
            if room < min(8, width):
                lines.append(line)
                line = ""
                continue
            head = _fitting_prefix(word, room)
            lines.append(f"{line} {head}" if line else head)
            line, word = "", word[len(head) :]
        if not word:
            continue
        if not line:
            line = word
        elif width_of(line) + 1 + width_of(word) <= width:
            line = f"{line} {word}"
        else:
            lines.append(line)
            line = word
    return [*lines, line] if line else lines


def _fitting_prefix(word: str, width: int) -> str:
    """As many whole characters of ``word`` as fit into ``width`` cells, at least one."""
    cells = 0
    for position, char in enumerate(word):
        cells += width_of(char)
        if cells > width:
            return word[: max(position, 1)]
    return word


def to_ascii(text: str) -> str:
    """``text`` in ASCII alone, as wide as before: other characters become question marks."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else "?" * width_of(char) for char in text)


def in_ascii(line: Line) -> Line:
    """The line without characters that an ASCII terminal lacks."""
    if all(text.isascii() for text, _ in line.runs):
        return line
    return Line(tuple(Run(to_ascii(text), role) for text, role in line.runs), line.selected)
