from __future__ import annotations

import pytest
from rich.color import Color

from gputui.tui.roles import Role
from gputui.tui.themes import (
    ANSI16,
    DARK,
    LIGHT,
    NONE,
    THEMES,
    Look,
    UnknownThemeError,
    ascii_for,
    theme_for,
)

WIDE = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        (WIDE, "dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "dark"),
        ({**WIDE, "COLORFGBG": "0;15"}, "light"),
        ({**WIDE, "COLORFGBG": "15;0"}, "dark"),
        ({"TERM": "xterm"}, "ansi16"),
        ({"TERM": "linux"}, "ansi16"),
        ({}, "ansi16"),
        ({**WIDE, "NO_COLOR": "1"}, "none"),
        ({**WIDE, "NO_COLOR": ""}, "dark"),
    ],
)
def test_the_theme_suits_the_terminal(environ: dict[str, str], name: str) -> None:
    """Without --theme, the environment decides."""
    assert theme_for(None, environ).name == name


def test_a_named_theme_outranks_the_environment() -> None:
    """An argument outranks NO_COLOR, as https://no-color.org has it."""
    assert theme_for("light", {"NO_COLOR": "1"}) is LIGHT


def test_an_unknown_theme_is_told_with_its_neighbour() -> None:
    """A slip of the finger gets the nearest name and all of them."""
    with pytest.raises(UnknownThemeError, match="Did you mean light") as caught:
        theme_for("ligth", {})
    assert all(name in str(caught.value) for name in THEMES)


def luminance(number: int) -> float:
    """Relative luminance (WCAG 2.2) of a colour of the 256-colour palette."""
    channels = []
    for value in Color.from_ansi(number).get_truecolor():
        part = value / 255
        channels.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    red, green, blue = channels
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(look: Look) -> float:
    assert look.colour is not None and look.ground is not None
    light, dark = sorted((luminance(look.colour), luminance(look.ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


PICTURES = {Role.BAR, Role.MEMORY_BAR, Role.WARNING_BAR, Role.HISTORY}
NEVER_CHOSEN = {Role.TITLE, Role.KEY, *(role for role in Role if role >= Role.HEADER)}


@pytest.mark.parametrize("name", ["dark", "light", "high-contrast", "colour-blind"])
@pytest.mark.parametrize("selected", [False, True])
def test_text_is_readable_in_every_theme(name: str, selected: bool) -> None:
    """Contrast (WCAG 2.2) of 4.5 for text, 3 for pictures; mostly 7 in the high-contrast theme."""
    theme = THEMES[name]
    for role in set(Role) - (NEVER_CHOSEN if selected else set()):
        alarm = role in (Role.CRITICAL, Role.HEADER_CRITICAL)
        least = 3.0 if role in PICTURES else 7.0 if name == "high-contrast" and not alarm else 4.5
        reached = contrast(theme.look(role, selected=selected))
        assert reached >= least, (role.name, round(reached, 2))


def test_no_colour_means_none() -> None:
    """The theme for NO_COLOR has weight and reversal alone."""
    for role in Role:
        for selected in (False, True):
            look = NONE.look(role, selected=selected)
            assert look.colour is None and look.ground is None


def test_sixteen_colours_are_the_terminal_s_own() -> None:
    """ansi16 leaves the ground alone, and the palette to the user."""
    for role in Role:
        look = ANSI16.look(role, selected=False)
        assert look.ground is None
        assert look.colour is None or look.colour < 16


def test_a_chosen_row_looks_different_without_colour() -> None:
    """Where there is no colour, the chosen row is reversed."""
    assert NONE.look(Role.TEXT, selected=True).reverse
    assert DARK.look(Role.TEXT, selected=True).ground != DARK.look(Role.TEXT, selected=False).ground


@pytest.mark.parametrize(
    ("environ", "plain"),
    [
        ({}, False),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "en_US.utf8"}, False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, True),
        ({"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8"}, False),
        ({"LANG": "de_DE.ISO-8859-1"}, True),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
    ],
)
def test_a_locale_without_utf8_gets_ascii(environ: dict[str, str], plain: bool) -> None:
    """The user's own word counts, not what Python made of it."""
    assert ascii_for(environ) is plain
