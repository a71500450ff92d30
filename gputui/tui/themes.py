"""How each role looks, in six themes.

Colours are numbers of the fixed 256-colour palette (16..255) or, in ``ansi16``, the terminal's own
sixteen: both take a third of the bytes of 24-bit colours, look the same in tmux, and need no
blending. Nothing that draws is imported here, so that names and defaults can be asked cheaply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gputui.tui.roles import Role


@dataclass(frozen=True, slots=True)
class Look:
    """How a run of text looks: colours by number, ``None`` for the terminal's own."""

    colour: int | None = None
    ground: int | None = None
    bold: bool = False
    dim: bool = False
    reverse: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Theme:
    """Looks by role. ``cursor_ground`` lies under a chosen row; without one the row is reversed."""

    name: str
    looks: Mapping[Role, Look]
    cursor_ground: int | None

    def look(self, role: Role, *, selected: bool) -> Look:
        """The look of a role, in a chosen row or elsewhere."""
        look = self.looks[role]
        if not selected:
            return look
        if self.cursor_ground is None:
            return Look(bold=look.bold, reverse=True)
        return replace(look, ground=self.cursor_ground)


def _coloured(
    name: str,
    *,
    ground: int,
    header_ground: int,
    cursor_ground: int,
    track: int,
    text: int,
    dim: int,
    title: int,
    strong: int,
    ok: int,
    info: int,
    warning: int,
    critical: int,
    advice: int,
    bar: int,
    memory_bar: int,
    history: int,
    key: int,
    header: int,
    header_critical: int | None = None,
    critical_ground: int | None = None,
) -> Theme:
    """A theme that paints its own ground, so that it is readable in any terminal.

    ``header_critical`` and ``critical_ground`` are for grounds on which ``critical`` is too faint.
    """

    def plain(colour: int, *, bold: bool = False) -> Look:
        return Look(colour, ground, bold=bold)

    def above(colour: int, *, bold: bool = False) -> Look:
        return Look(colour, header_ground, bold=bold)

    alarm = Look(critical, ground if critical_ground is None else critical_ground, bold=True)
    looks = {
        Role.TEXT: plain(text),
        Role.DIM: plain(dim),
        Role.TITLE: plain(title, bold=True),
        Role.STRONG: plain(strong, bold=True),
        Role.OK: plain(ok),
        Role.INFO: plain(info),
        Role.WARNING: plain(warning),
        Role.CRITICAL: alarm,
        Role.ADVICE: plain(advice),
        Role.BAR: Look(bar, track),
        Role.MEMORY_BAR: Look(memory_bar, track),
        Role.WARNING_BAR: Look(warning, track),
        Role.HISTORY: plain(history),
        Role.CURSOR: plain(key, bold=True),
        Role.KEY: above(key, bold=True),
        Role.HEADER: above(header),
        Role.HEADER_STRONG: above(strong, bold=True),
        Role.HEADER_OK: above(ok),
        Role.HEADER_WARNING: above(warning, bold=True),
        Role.HEADER_CRITICAL: Look(
            critical if header_critical is None else header_critical,
            header_ground if critical_ground is None else critical_ground,
            bold=True,
        ),
    }
    return Theme(name, looks, cursor_ground)


DARK = _coloured(
    "dark",
    ground=234,
    header_ground=237,
    cursor_ground=17,
    track=236,
    text=252,
    dim=246,
    title=109,
    strong=231,
    ok=114,
    info=117,
    warning=221,
    critical=203,
    header_critical=210,
    advice=159,
    bar=67,
    memory_bar=103,
    history=66,
    key=222,
    header=250,
)

LIGHT = _coloured(
    "light",
    ground=231,
    header_ground=254,
    cursor_ground=230,
    track=254,
    text=236,
    dim=242,
    title=24,
    strong=16,
    ok=22,
    info=25,
    warning=94,
    critical=160,
    header_critical=124,
    advice=19,
    bar=32,
    memory_bar=97,
    history=30,
    key=125,
    header=238,
)

HIGH_CONTRAST = _coloured(
    "high-contrast",
    ground=16,
    header_ground=18,
    cursor_ground=19,
    track=238,
    text=231,
    dim=253,
    title=231,
    strong=231,
    ok=120,
    info=159,
    warning=226,
    critical=231,
    critical_ground=160,
    advice=159,
    bar=51,
    memory_bar=213,
    history=123,
    key=226,
    header=231,
)

COLOUR_BLIND = _coloured(
    "colour-blind",
    ground=234,
    header_ground=237,
    cursor_ground=17,
    track=236,
    text=252,
    dim=246,
    title=109,
    strong=231,
    ok=74,
    info=153,
    warning=220,
    critical=208,
    advice=153,
    bar=74,
    memory_bar=175,
    history=110,
    key=220,
    header=250,
)
"""Blue, yellow, vermilion and reddish purple, which most colour-blind people tell apart."""


def _uncoloured(name: str, colours: Mapping[Role, int]) -> Theme:
    """A theme on the terminal's own ground: weight and reversal first, and ``colours`` if any."""
    looks = {
        Role.TEXT: Look(),
        Role.DIM: Look(dim=True),
        Role.TITLE: Look(bold=True, underline=True),
        Role.STRONG: Look(bold=True),
        Role.OK: Look(),
        Role.INFO: Look(),
        Role.WARNING: Look(bold=True),
        Role.CRITICAL: Look(bold=True),
        Role.ADVICE: Look(bold=True),
        Role.BAR: Look(),
        Role.MEMORY_BAR: Look(),
        Role.WARNING_BAR: Look(bold=True),
        Role.HISTORY: Look(),
        Role.CURSOR: Look(bold=True),
        Role.KEY: Look(bold=True, reverse=True),
        Role.HEADER: Look(reverse=True),
        Role.HEADER_STRONG: Look(bold=True, reverse=True),
        Role.HEADER_OK: Look(reverse=True),
        Role.HEADER_WARNING: Look(bold=True, reverse=True),
        Role.HEADER_CRITICAL: Look(bold=True, reverse=True),
    }
    looks.update({role: replace(looks[role], colour=colour) for role, colour in colours.items()})
    return Theme(name, looks, None)


ANSI16 = _uncoloured(
    "ansi16",
    {
        Role.OK: 2,
        Role.INFO: 6,
        Role.WARNING: 3,
        Role.CRITICAL: 1,
        Role.ADVICE: 6,
        Role.BAR: 6,
        Role.MEMORY_BAR: 5,
        Role.WARNING_BAR: 3,
        Role.HISTORY: 2,
        Role.HEADER_WARNING: 3,
        Role.HEADER_CRITICAL: 1,
    },
)

NONE = _uncoloured("none", {})

THEMES: Mapping[str, Theme] = {
    theme.name: theme for theme in (DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND, ANSI16, NONE)
}
"""All themes by name."""


class UnknownThemeError(ValueError):
    """A theme of that name does not exist; the message says which do."""

    def __init__(self, name: str) -> None:
        import difflib

        near = difflib.get_close_matches(name, THEMES, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        super().__init__(f"no theme is called {name!r}.{hint} Known: {', '.join(THEMES)}")


def theme_for(name: str | None, environ: Mapping[str, str]) -> Theme:
    """The theme of that name, or the one that suits the terminal.

    ``NO_COLOR`` (https://no-color.org) asks for none; ``COLORFGBG`` (rxvt, Konsole) tells a light
    ground by its last number; terminals that do not promise 256 colours get their own sixteen.
    Raises :class:`UnknownThemeError` when ``name`` is none of :data:`THEMES`.
    """
    if name is not None:
        if name not in THEMES:
            raise UnknownThemeError(name)
        return THEMES[name]
    if environ.get("NO_COLOR"):
        return NONE
    term = environ.get("TERM", "")
    many = "256color" in term or "direct" in term or environ.get("COLORTERM") in _MANY_COLOURS
    if not many:
        return ANSI16
    ground = environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in ("7", "15") else DARK


_MANY_COLOURS = frozenset({"truecolor", "24bit"})


def ascii_for(environ: Mapping[str, str]) -> bool:
    """Whether the terminal should get ASCII alone.

    A locale that names a character set other than UTF-8, or the C locale, says so; so do the
    Linux console, whose fonts lack braille, and dumb terminals. Where nothing is set (containers),
    UTF-8 is likelier than not. Python itself may have set ``LC_CTYPE=C.UTF-8`` over ``LANG=C``
    (PEP 538): then the user's word counts.
    """
    if environ.get("TERM") in ("linux", "dumb"):
        return True
    if environ.get("LC_ALL"):
        locale = environ["LC_ALL"]
    elif environ.get("LC_CTYPE") == "C.UTF-8" and environ.get("LANG") in ("C", "POSIX"):
        locale = "C"
    else:
        locale = environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return bool(locale) and "utf-8" not in locale.lower().replace("utf8", "utf-8")
