"""Only the cells that changed reach the terminal.

Textual's own update sends every changed region from its widget's left edge and sets the whole style
anew for each piece of text; on a screen that is one widget that is the whole line. This one begins
at the region's edge, moves by the shortest sequence, and changes only the parts of the style that
differ. It touches a few private names of Textual: on versions it was not tried with, Textual's own
compositor is used.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, Compositor

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style

_TRIED = re.compile(r"8\.[2-9]\.")
"""Versions of Textual whose private names are known to fit."""


def best_compositor() -> Compositor:
    """The sparing compositor where Textual's version is known, else Textual's own."""
    return SparingCompositor() if _TRIED.match(version("textual")) else Compositor()


class SparingCompositor(Compositor):
    """A compositor whose partial updates are :class:`SparingUpdate`."""

    def render_partial_update(self) -> ChopsUpdate | None:
        """The update for all regions that are dirty now."""
        update = super().render_partial_update()
        if update is None:
            return None
        return SparingUpdate(update.chops, update.spans, update.chop_ends)


class SparingUpdate(ChopsUpdate):
    """Changed spans of lines, in as few bytes as is simple."""

    def render_segments(self, console: Console) -> str:
        """The escape sequences that draw the spans; the style is plain before and after."""
        system = console._color_system or ColorSystem.TRUECOLOR
        out: list[str] = []
        style = _PLAIN
        cursor_y, cursor_x = -1, -1
        for y, x1, x2 in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or x >= x2 or end <= x1:
                    continue
                start = max(x, x1)
                if y != cursor_y:
                    out.append(f"\x1b[{y + 1};{start + 1}H")
                elif start != cursor_x:
                    out.append(f"\x1b[{start + 1}G")
                for segment in strip.crop(start - x, min(end, x2) - x):
                    if segment.control:
                        continue
                    wanted = _parts(segment.style, system)
                    out.append(_change(style, wanted))
                    out.append(segment.text)
                    style = wanted
                cursor_y, cursor_x = y, min(end, x2)
        out.append(_change(style, _PLAIN))
        return "".join(out)


_Parts = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background."""

_PLAIN: _Parts = ("", "", "")


@lru_cache(maxsize=256)
def _parts(style: Style | None, system: ColorSystem) -> _Parts:
    """The SGR codes of a style in a colour system."""
    if style is None:
        return _PLAIN
    attributes = ";".join(
        code
        for code, on in (
            ("1", style.bold),
            ("2", style.dim),
            ("3", style.italic),
            ("4", style.underline),
            ("7", style.reverse),
            ("9", style.strike),
        )
        if on
    )
    colours = [
        ";".join(colour.downgrade(system).get_ansi_codes(foreground)) if colour else ""
        for colour, foreground in ((style.color, True), (style.bgcolor, False))
    ]
    return attributes, *_without_defaults(colours)


def _without_defaults(colours: list[str]) -> tuple[str, str]:
    """The terminal's own colours are what a plain style has already."""
    front, back = colours
    return "" if front == "39" else front, "" if back == "49" else back


@lru_cache(maxsize=1024)
def _change(old: _Parts, new: _Parts) -> str:
    """The shortest SGR sequence from one style to another."""
    if old == new:
        return ""
    taken_away = old[0] != new[0] and old[0] != ""
    if taken_away or any(before and not after for before, after in zip(old, new, strict=True)):
        codes = ["", *(part for part in new if part)]
    else:
        codes = [after for before, after in zip(old, new, strict=True) if before != after]
    return f"\x1b[{';'.join(codes)}m"
