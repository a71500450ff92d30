from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gputui.tui.glyphs import ASCII, UNICODE
from gputui.tui.history import BUCKET_S, KEPT, History, chart, sparkline

BLANK = "⠀"


def picture(values: list[float | None], width: int, glyphs: object = UNICODE) -> str:
    return sparkline(tuple(values), width, braille=glyphs.braille, levels=glyphs.levels)  # type: ignore[attr-defined]


def test_a_constant_full_load_does_not_look_like_no_load() -> None:
    """The scale is 0..100, whatever the data: 100 % is high, 0 % is low, and they differ."""
    assert picture([100.0] * 20, 10) == "⣿" * 10
    assert picture([0.0] * 20, 10) == "⣀" * 10


def test_a_gap_is_not_zero() -> None:
    """No reading is an empty place; a reading of zero is a dot."""
    assert picture([None, None, 0.0, 0.0], 2) == " ⣀"
    assert picture([None, 0.0], 1) == "⢀"


def test_pictures_in_ascii_use_one_sample_a_cell() -> None:
    """Pairs are averaged, so the same time is shown."""
    assert picture([0.0, 0.0, 100.0, 100.0, 50.0, 50.0, None, None], 4, ASCII) == "_#- "


@given(
    st.lists(st.one_of(st.none(), st.floats(-50, 500)), max_size=300),
    st.integers(0, 80),
    st.sampled_from([UNICODE, ASCII]),
)
def test_a_picture_has_its_width(values: list[float | None], width: int, glyphs: object) -> None:
    """Too few values leave room at the left, too many are cut there; nonsense is clamped."""
    assert len(picture(values, width, glyphs)) == width


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 2000)), max_size=300),
    st.integers(1, 60),
    st.integers(1, 6),
    st.sampled_from([UNICODE, ASCII]),
)
def test_a_chart_has_its_size(
    values: list[float | None], width: int, rows: int, glyphs: object
) -> None:
    """Whatever the values and the scale, a chart is exactly as large as asked."""
    lines = chart(tuple(values), width, rows, 100.0, braille=glyphs.braille, levels=glyphs.levels)  # type: ignore[attr-defined]
    assert [len(line) for line in lines] == [width] * rows


def test_a_chart_is_filled_from_below() -> None:
    """Half of the scale is the lower half; zero is one dot; a gap is empty."""
    top, bottom = chart((100.0, 100.0, 50.0, 50.0, 0.0, None), 3, 2, 100.0, braille=True, levels="")
    assert (top, bottom) == ("⣿  ", "⣿⣿⡀")
    assert chart((100.0, 100.0, 50.0, 50.0), 2, 2, 100.0, braille=False, levels="_#") == [
        "# ",
        "##",
    ]


def test_readings_within_a_span_are_averaged() -> None:
    """One sample of the picture covers six seconds."""
    history = History()
    for second, value in enumerate((10, 20, 30)):
        history.add(12 * BUCKET_S + second, value)
    history.add(13 * BUCKET_S, 80)
    assert history.values == (20.0, 80.0)


def test_silence_leaves_a_gap() -> None:
    """Spans without a reading are gaps, so the picture keeps its time scale."""
    history = History()
    history.add(2 * BUCKET_S, 50)
    history.add(2 * BUCKET_S + 1, 50)
    history.add(5 * BUCKET_S, 70)
    assert history.values == (50.0, None, None, 70.0)


def test_readings_that_come_seldom_leave_no_gap() -> None:
    """With an interval longer than a span, each reading stands until the next."""
    history = History(2.0)
    for step, value in enumerate((10, 20, 30, 40)):
        history.add(100.0 + 5 * step, value)
    assert None not in history.values[3:7]


def test_the_past_is_bounded() -> None:
    """A day of readings takes no more memory than half an hour."""
    history = History()
    for bucket in range(5 * KEPT):
        history.add(bucket * BUCKET_S, 50)
    history.add(1e9, 50)
    assert len(history.values) <= KEPT + 2


def test_a_clock_that_goes_back_does_not_break_the_picture() -> None:
    """A reading stamped earlier than the last one counts as now."""
    history = History()
    history.add(101 * BUCKET_S, 50)
    history.add(5 * BUCKET_S, 70)
    assert history.values == (60.0,)
