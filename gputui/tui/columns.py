"""Columns that give way: which of a table's columns fit into a width, and how wide each becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from gputui.tui.roles import Role
from gputui.tui.text import Run, left, right

Row = TypeVar("Row")

GAP = 1
"""Cells between two columns."""

_GAP_RUN = Run(" " * GAP)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table of ``Row``.

    ``cell`` draws a row's cell in exactly the cells it is given. A column is at least ``narrow``
    wide, likes to be ``wide``, and never grows beyond ``widest``. ``rank`` says who comes first
    when room is short: low ranks stay longest. A ``luxury`` column appears only where all columns
    of lower rank have the width they like.
    """

    title: str
    cell: Callable[[Row, int], tuple[Run, ...]]
    rank: int
    narrow: int
    wide: int
    widest: int
    at_right: bool = False
    luxury: bool = False


@dataclass(frozen=True, slots=True)
class Placed(Generic[Row]):
    """A column that fits, where it starts and how wide it is, in cells."""

    column: Column[Row]
    start: int
    width: int


def place(columns: Sequence[Column[Row]], start: int, width: int) -> tuple[Placed[Row], ...]:
    """The columns that fit into ``width`` cells from ``start``, in their given order.

    Room left over makes columns as wide as they like, by rank, and then as wide as they may, by
    turns.
    """
    chosen: list[Column[Row]] = []
    for column in sorted(columns, key=lambda column: column.rank):
        before = sum((c.wide if column.luxury else c.narrow) + GAP for c in chosen)
        if before + column.narrow <= width:
            chosen.append(column)
        else:
            break
    widths = {id(column): column.narrow for column in chosen}
    room = width - sum(widths.values()) - GAP * max(len(chosen) - 1, 0)
    for column in chosen:
        more = min(room, column.wide - column.narrow)
        widths[id(column)] += more
        room -= more
    room = _grow(chosen, widths, room)
    placed: list[Placed[Row]] = []
    for column in columns:
        if id(column) in widths:
            placed.append(Placed(column, start, widths[id(column)]))
            start += widths[id(column)] + GAP
    return tuple(placed)


def _grow(chosen: Sequence[Column[Row]], widths: dict[int, int], room: int) -> int:
    """Share ``room`` equally among the columns that may still grow; what is left over."""
    while room > 0:
        growing = [column for column in chosen if widths[id(column)] < column.widest]
        if not growing:
            break
        share = max(room // len(growing), 1)
        for column in growing:
            more = min(share, room, column.widest - widths[id(column)])
            widths[id(column)] += more
            room -= more
    return room


def titles(
    placed: Sequence[Placed[Row]], ellipsis: str, marked: str = "", mark: str = ""
) -> list[Run]:
    """The heading over the columns, from the first one's start; ``mark`` follows ``marked``."""
    runs: list[Run] = []
    for position, item in enumerate(placed):
        title = item.column.title
        if title == marked:
            title += mark
        put = right if item.column.at_right else left
        runs.append(Run(put(title, item.width, ellipsis), Role.TITLE))
        if position < len(placed) - 1:
            runs.append(Run(" " * GAP, Role.TITLE))
    return runs


def cells(placed: Sequence[Placed[Row]], row: Row) -> list[Run]:
    """The cells of one row, from the first column's start."""
    runs: list[Run] = []
    for item in placed:
        runs += item.column.cell(row, item.width)
        runs.append(_GAP_RUN)
    return runs[:-1]
