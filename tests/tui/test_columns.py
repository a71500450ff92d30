from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gputui.tui.columns import GAP, Column, cells, place, titles
from gputui.tui.text import Run, clean, left, width_of


def column(title: str, rank: int, narrow: int, wide: int, widest: int, luxury: bool) -> Column[str]:
    return Column(
        title,
        lambda row, width: (Run(left(row, width)),),
        rank,
        narrow,
        wide,
        widest,
        False,
        luxury,
    )


columns = st.lists(
    st.tuples(st.integers(1, 12), st.integers(0, 8), st.integers(0, 30), st.booleans()),
    min_size=1,
    max_size=9,
).map(
    lambda shapes: [
        column(f"C{rank}", rank, narrow, narrow + more, narrow + more + most, luxury)
        for rank, (narrow, more, most, luxury) in enumerate(shapes)
    ]
)


@given(columns, st.integers(0, 300))
def test_columns_never_overlap_nor_leave_the_screen(given: list[Column[str]], width: int) -> None:
    """Whatever the columns and the width, they lie side by side within it."""
    placed = place(given, 1, width)
    end = 1 - GAP
    for item in placed:
        assert item.start == end + GAP
        assert item.column.narrow <= item.width <= item.column.widest
        end = item.start + item.width
    assert not placed or end <= 1 + width


@given(columns, st.integers(0, 300))
def test_low_ranks_stay_longest(given: list[Column[str]], width: int) -> None:
    """A column is there only if all of lower rank are."""
    ranks = {item.column.rank for item in place(given, 1, width)}
    assert ranks == set(range(len(ranks)))


def test_luxury_waits_until_the_others_are_comfortable() -> None:
    """A column that is nice to have does not squeeze the ones that are needed."""
    needed = column("UTIL", 0, 4, 12, 30, luxury=False)
    nice = column("PCIe", 1, 10, 10, 10, luxury=True)
    assert [item.column.title for item in place([needed, nice], 0, 22)] == ["UTIL"]
    assert [item.column.title for item in place([needed, nice], 0, 23)] == ["UTIL", "PCIe"]


@given(columns, st.integers(0, 200), st.text(max_size=20))
def test_heading_and_cells_stand_under_each_other(
    given: list[Column[str]], width: int, text: str
) -> None:
    """The heading is as wide as the row under it."""
    placed = place(given, 1, width)
    row = sum(width_of(run.text) for run in cells(placed, clean(text)))
    assert sum(width_of(run.text) for run in titles(placed, "…")) == row
