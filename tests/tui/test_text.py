from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gputui.tui.roles import Role
from gputui.tui.text import (
    Run,
    clean,
    left,
    make_line,
    right,
    shorten,
    to_ascii,
    width_of,
    wrap,
)

anything = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("\x1b\x00\x7f\x9b\u202e\u2066\u200b中文字🙂é\ud800"),
    ),
    max_size=60,
)


@given(anything)
def test_text_from_outside_cannot_command_the_terminal(text: str) -> None:
    """Escape, other control characters, bidirectional overrides and surrogates do not survive."""
    cleaned = clean(text)
    assert cleaned.isprintable()
    cleaned.encode()


def test_line_breaks_become_spaces() -> None:
    """A command line with a newline in it stays on one line."""
    assert clean("python -c 'a\nb'\tc") == "python -c 'a b' c"
    assert clean("\x1b[31mred\x1b[0m") == "·[31mred·[0m"


@given(anything.map(clean), st.integers(0, 40))
def test_text_is_put_into_exactly_its_cells(text: str, width: int) -> None:
    """Left, right: exactly the width, wide characters included."""
    assert width_of(left(text, width)) == width
    assert width_of(right(text, width)) == width
    assert width_of(shorten(text, width, "…")) <= width


@given(
    st.lists(st.builds(Run, anything.map(clean), st.sampled_from(Role)), max_size=8),
    st.integers(1, 60),
)
def test_a_line_is_exactly_as_wide_as_the_screen(runs: list[Run], width: int) -> None:
    """Lines are cut or padded to the width, and neighbours differ in role."""
    line = make_line(runs, width)
    assert line.width == width
    assert all(a.role is not b.role for a, b in zip(line.runs, line.runs[1:], strict=False))


@given(anything.map(clean), st.integers(2, 40))
def test_wrapped_text_loses_nothing_but_spaces(text: str, width: int) -> None:
    """Every line fits, and all characters are there in their order."""
    lines = wrap(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(anything.map(clean))
def test_ascii_text_keeps_its_width(text: str) -> None:
    """A wide character becomes two question marks, so that columns stay where they are."""
    plain = to_ascii(text)
    assert plain.isascii()
    assert width_of(plain) == sum(width_of(char) for char in text)
