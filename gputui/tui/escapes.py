"""Lines as a terminal takes them: places, styles and text, in as few bytes as is simple."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from gputui.tui.roles import Role
from gputui.tui.text import Line, width_of
from gputui.tui.themes import Look, Theme

Span = tuple[int, int, int]
"""Cells of a line: ``(y, x1, x2)`` with ``x1 <= x < x2``."""


def drawn(
    spans: Sequence[Span], lines: Sequence[Line], theme: Theme, *, few_colours: bool = False
) -> str:
    """The escape sequences that draw spans of ``lines``; the style is plain before and after.

    Pieces of one style are drawn together: going to a place takes fewer bytes than changing
    colours there and back. ``few_colours`` is for terminals that have sixteen.
    """
    out: list[str] = []
    style, at_y, at_x = _PLAIN, -1, -1
    for wanted, y, x, text, cells in sorted(_pieces(spans, lines, theme, few_colours)):
        if y != at_y:
            out.append(f"\x1b[{y + 1};{x + 1}H")
        elif x != at_x:
            out.append(f"\x1b[{x + 1}G")
        out.append(_change(style, wanted))
        out.append(text)
        style, at_y, at_x = wanted, y, x + cells
    out.append(_change(style, _PLAIN))
    return "".join(out)


def _pieces(
    spans: Sequence[Span], lines: Sequence[Line], theme: Theme, few_colours: bool
) -> Iterator[tuple[_Codes, int, int, str, int]]:
    """Every piece of one style in the spans: style, place, text and its width."""
    for y, x1, x2 in spans:
        if y >= len(lines):
            continue
        runs, selected = lines[y]
        x = 0
        for text, role in runs:
            cells = width_of(text)
            end = x + cells
            if end > x1:
                start, stop = max(x1, x), min(x2, end)
                piece = _slice(text, cells, start - x, stop - x)
                yield _codes(theme, role, selected, few_colours), y, start, piece, stop - start
            x = end
            if x >= x2:
                break


def _slice(text: str, cells: int, start: int, end: int) -> str:
    """The cells ``start <= x < end`` of ``text``; a wide character cut in two becomes a space."""
    if start == 0 and end == cells:
        return text
    if len(text) == cells:
        return text[start:end]
    from rich.segment import Segment

    return Segment(text).split_cells(end)[0].split_cells(start)[1].text


_Codes = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background; empty where the terminal's own."""

_PLAIN: _Codes = ("", "", "")


@lru_cache(maxsize=256)
def _codes(theme: Theme, role: Role, selected: bool, few_colours: bool) -> _Codes:
    """The SGR codes of a role."""
    look = theme.look(role, selected=selected)
    return (
        _attributes(look),
        _colour(look.colour, few_colours, first=30),
        _colour(look.ground, few_colours, first=40),
    )


def _attributes(look: Look) -> str:
    """The SGR codes of what is not colour (ECMA-48 8.3.117)."""
    on = (("1", look.bold), ("2", look.dim), ("4", look.underline), ("7", look.reverse))
    return ";".join(code for code, is_on in on if is_on)


def _colour(number: int | None, few_colours: bool, *, first: int) -> str:
    """The SGR code of a colour by its number; ``first`` is the code of the first of them.

    Eight are of ECMA-48, eight bright ones of aixterm, the others of xterm.
    """
    if number is None:
        return ""
    if number >= 16 and few_colours:
        from rich.color import Color, ColorSystem

        number = Color.from_ansi(number).downgrade(ColorSystem.STANDARD).number or 0
    if number < 8:
        return str(first + number)
    if number < 16:
        return str(first + 60 + number - 8)
    return f"{first + 8};5;{number}"


@lru_cache(maxsize=1024)
def _change(old: _Codes, new: _Codes) -> str:
    """The shortest SGR sequence from one style to another."""
    if old == new:
        return ""
    drops_attribute = old[0] not in ("", new[0])
    drops_colour = any(before and not after for before, after in zip(old, new, strict=True))
    if drops_attribute or drops_colour:
        codes = ["", *(part for part in new if part)]
    else:
        codes = [after for before, after in zip(old, new, strict=True) if before != after]
    return f"\x1b[{';'.join(codes)}m"
