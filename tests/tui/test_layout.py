from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gputui.tui.layout import plan, window


@given(
    height=st.integers(10, 100),
    gpus=st.integers(1, 16),
    heights=st.lists(st.integers(1, 3), max_size=40),
    processes=st.integers(0, 500),
    notice=st.booleans(),
)
def test_the_lines_given_out_are_the_lines_there_are(
    height: int, gpus: int, heights: list[int], processes: int, notice: bool
) -> None:
    """No plan is higher than the screen, and incidents come before everything else."""
    shares = plan(
        height,
        gpus=gpus,
        incidents=len(heights),
        incident_lines=sum(heights),
        processes=processes,
        notice=notice,
    )
    used = (
        1
        + shares.notice
        + shares.gpu_title
        + shares.gpu_rows
        + shares.incident_title
        + shares.incident_rows
        + shares.process_titles
        + shares.process_rows
        + 2 * shares.gap
        + shares.keys
    )
    assert used <= height
    assert min(shares.gpu_rows, shares.process_rows, shares.process_titles) >= 0
    fixed = 1 + shares.notice + shares.keys + shares.gpu_title + shares.incident_title
    assert shares.incident_rows >= min(len(heights), height - fixed)
    if shares.process_rows:
        assert shares.gpu_rows == gpus
        assert shares.incident_rows == sum(heights)


@given(
    heights=st.lists(st.integers(1, 3), min_size=1, max_size=60),
    room=st.integers(3, 30),
    first=st.integers(-5, 80),
    data=st.data(),
)
def test_the_chosen_row_is_always_in_sight(
    heights: list[int], room: int, first: int, data: st.DataObject
) -> None:
    """Wherever the list stood, what is shown fits, holds the cursor and wastes no room."""
    cursor = data.draw(st.integers(0, len(heights) - 1))
    start, end = window(heights, room, first, cursor)
    assert 0 <= start <= cursor < end <= len(heights)
    assert sum(heights[start:end]) <= room
    if start > 0:
        assert sum(heights[start - 1 :]) > room


def test_a_list_moves_no_further_than_needed() -> None:
    """Stepping below the last row in sight moves the list by one row."""
    assert window([1] * 20, 5, 3, 7) == (3, 8)
    assert window([1] * 20, 5, 3, 8) == (4, 9)
    assert window([1] * 20, 5, 3, 2) == (2, 7)
