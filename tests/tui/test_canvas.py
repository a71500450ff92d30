"""What is repainted, and that it is enough."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gputui.tui.frame import draw
from gputui.tui.painter import SpanUpdate
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line
from gputui.tui.themes import THEMES, Theme
from gputui.tui.view import Sort, View
from gputui.tui.widgets.canvas import changed_spans

WIDTH = 40
runs = st.lists(
    st.builds(
        Run,
        st.text(alphabet="ab 中é█⣿", max_size=9).map(clean),
        st.sampled_from([Role.TEXT, Role.BAR, Role.CRITICAL]),
    ),
    max_size=6,
)
some_lines = st.builds(
    lambda parts, selected: make_line(parts, WIDTH, selected=selected), runs, st.booleans()
)


def terminal(columns: int, rows: int) -> tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(columns, rows)
    return screen, pyte.Stream(screen)


def update(lines: list[Line], spans: list[tuple[int, int, int]], theme: Theme) -> str:
    console = Console(color_system="256", force_terminal=True)
    return SpanUpdate(spans, lines, theme).render_segments(console)


def repaint(lines: list[Line], width: int, theme: Theme) -> str:
    """Everything, on a cleared screen."""
    return update(lines, [(y, 0, width) for y in range(len(lines))], theme)


@given(some_lines, some_lines, st.sampled_from(sorted(THEMES)))
def test_changed_spans_are_all_that_changed(old: Line, new: Line, name: str) -> None:
    """Painting the changed spans over the old line gives what painting the new line gives."""
    theme = THEMES[name]
    patched, stream = terminal(WIDTH, 1)
    stream.feed(repaint([old], WIDTH, theme))
    stream.feed(update([new], [(0, *span) for span in changed_spans(old, new)], theme))
    fresh, stream = terminal(WIDTH, 1)
    stream.feed(repaint([new], WIDTH, theme))
    assert patched.buffer == fresh.buffer


@given(some_lines)
def test_nothing_is_repainted_when_nothing_changed(line: Line) -> None:
    """The same line has no changed span, and a plain style is left behind."""
    assert changed_spans(line, line) == []
    assert repaint([line], WIDTH, THEMES["dark"]).endswith("m")


def test_one_digit_is_one_cell() -> None:
    """A number that changes in its last digit costs that digit, in place and style."""
    old = make_line([Run("util "), Run("91%", Role.STRONG)], 20)
    new = make_line([Run("util "), Run("92%", Role.STRONG)], 20)
    assert changed_spans(old, new) == [(6, 7)]
    sent = update([new], [(0, 6, 7)], THEMES["none"])
    assert sent == "\x1b[1;7H\x1b[1m2\x1b[m"


@pytest.mark.parametrize("name", sorted(THEMES))
def test_a_session_of_small_updates_equals_a_full_repaint(make: Any, name: str) -> None:
    """After thirty changes of every kind, the terminal shows what a fresh one would."""
    random, theme, width, height = Random(1), THEMES[name], 100, 30
    patched, stream = terminal(width, height)
    lines: list[Line] = []
    for step in range(30):
        snapshot = make.trouble() if step % 7 else make.snapshot()
        gpus = tuple(
            replace(
                gpu, utilization_percent=random.randrange(101), power_mw=random.randrange(10**6)
            )
            for gpu in snapshot.sample.gpus
        )
        snapshot = replace(snapshot, sample=replace(snapshot.sample, gpus=gpus))
        view = View(sort=random.choice(list(Sort)), filter_text=random.choice(["", "400"]))
        histories = {0: tuple(random.randrange(101) for _ in range(40))}
        scene = Scene(snapshot, make.now_s + step, histories=histories, view=view)
        new = list(draw(scene, width, height).lines)
        if lines:
            spans = [
                (y, *span)
                for y, (before, after) in enumerate(zip(lines, new, strict=True))
                for span in changed_spans(before, after)
            ]
            stream.feed(update(new, spans, theme))
        else:
            stream.feed(repaint(new, width, theme))
        lines = new
    fresh, stream = terminal(width, height)
    stream.feed(repaint(lines, width, theme))
    assert patched.display == fresh.display
    assert patched.buffer == fresh.buffer
    assert fresh.display == [line.text for line in lines]
