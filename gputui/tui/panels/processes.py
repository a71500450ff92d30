"""Processes on the GPUs: sorted, filtered, as many as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gputui.model import NodeSample, ProcessSample
from gputui.tui import format as fmt
from gputui.tui.columns import Column, Placed, cells, place, titles
from gputui.tui.glyphs import Glyphs
from gputui.tui.panels.tree import ProcessRow, tree
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, left, make_line, right, shorten, width_of
from gputui.tui.view import Sort


def rows(scene: Scene) -> list[ProcessRow]:
    """The processes that pass the filter, in the chosen order; ties by PID and GPU.

    Those of which it is not known come last, whichever way the others stand.
    """
    if scene.snapshot is None:
        return []
    view, sample = scene.view, scene.snapshot.sample
    passing = _passing(sample, view.filter_text.casefold())
    passing.sort(key=_identity)
    read = _READ[view.sort]
    known = [process for process in passing if read(process) is not None]
    known.sort(key=read, reverse=not view.is_ascending)
    ordered = known + [process for process in passing if read(process) is None]
    if view.as_tree:
        return tree(ordered, sample.ancestors, scene.glyphs)
    return [ProcessRow(process) for process in ordered]


def _passing(sample: NodeSample, wanted: str) -> list[ProcessSample]:
    """The processes with a text in what is known of them, or of one that started them."""
    if not wanted:
        return list(sample.processes)
    above = {one.pid: one for one in sample.ancestors}
    passing = []
    for process in sample.processes:
        texts = [_searchable(process)]
        parent = above.get(process.parent_pid or 0)
        while parent is not None and len(texts) <= len(above):
            texts.append(f"{parent.pid} {parent.user or ''} {parent.command or ''}".casefold())
            parent = above.get(parent.parent_pid or 0)
        if any(wanted in text for text in texts):
            passing.append(process)
    return passing


def _identity(process: ProcessSample) -> tuple[int, int]:
    return process.pid, process.gpu


def _searchable(process: ProcessSample) -> str:
    """All that a filter looks at."""
    parts = (
        str(process.pid),
        process.user or "",
        f"gpu {process.gpu}",
        process.job or "",
        process.command or process.unreachable or "",
    )
    return " ".join(parts).casefold()


_READ: dict[Sort, Callable[[ProcessSample], Any]] = {
    Sort.MEMORY: lambda p: p.memory_bytes,
    Sort.SM: lambda p: p.sm_percent,
    Sort.CPU: lambda p: p.cpu_percent,
    Sort.HOST_MEMORY: lambda p: p.host_memory_bytes,
    Sort.TIME: lambda p: p.running_s,
    Sort.GPU: lambda p: p.gpu,
    Sort.USER: lambda p: p.user,
    Sort.PID: lambda p: p.pid,
}


def heading(scene: Scene, shown: int, width: int, range_text: str = "") -> Line:
    """The panel's title: how many there are, what they are filtered and sorted by."""
    total = len(scene.snapshot.sample.processes) if scene.snapshot else 0
    view = scene.view
    runs = [Run(" PROCESSES", Role.TITLE), Run(f"  {total}", Role.TITLE)]
    if view.filter_text:
        runs[-1] = Run(f"  {shown} of {total}", Role.TITLE)
        runs.append(Run(f"  /{clean(view.filter_text)}", Role.CURSOR))
    tail = f"as a tree, by {view.sort.word}" if view.as_tree else f"by {view.sort.word}"
    if range_text:
        tail = f"{range_text}  {tail}"
    used = sum(width_of(run.text) for run in runs)
    runs.append(Run(right(tail, max(width - 1 - used, 0), scene.glyphs.ellipsis), Role.TITLE))
    return make_line([*runs, Run(" " * width, Role.TITLE)], width)


def empty_line(scene: Scene, width: int) -> Line:
    """What stands where no process is listed."""
    any_process = scene.snapshot is not None and scene.snapshot.sample.processes
    text = "none matches the filter; Esc clears it" if any_process else "none on a GPU"
    return make_line([Run(f"   {text}", Role.DIM)], width)


@dataclass(frozen=True, slots=True)
class Table:
    """How the processes are laid out. ``has_job`` says whether there is a column for jobs."""

    width: int
    glyphs: Glyphs
    has_job: bool

    @property
    def placed(self) -> tuple[Placed[_Row], ...]:
        """The columns that fit."""
        return _placed_columns(self.width, self.has_job)


def table(scene: Scene, width: int, rows: Sequence[ProcessRow]) -> Table:
    """The layout for these processes: a column for jobs only where one has a job."""
    return Table(width, scene.glyphs, any(row.process.job for row in rows))


@lru_cache(maxsize=16)
def _placed_columns(width: int, has_job: bool) -> tuple[Placed[_Row], ...]:
    columns = [c for c in _COLUMNS if has_job or c.title != "JOB"]
    return place(columns, 1, width - 2)


@lru_cache(maxsize=16)
def column_heading(table: Table, sort: Sort, is_ascending: bool) -> Line:
    """The columns' titles, with a mark at the one sorted by."""
    width, glyphs = table.width, table.glyphs
    mark = glyphs.ascending if is_ascending else glyphs.descending
    runs = titles(table.placed, glyphs.ellipsis, sort.value, mark)
    return make_line([Run(" ", Role.TITLE), *runs, Run(" " * width, Role.TITLE)], width)


@lru_cache(maxsize=512)  # most processes are as they were a second ago
def draw(row: ProcessRow, table: Table, *, selected: bool) -> Line:
    """One process's line."""
    cursor = Run(table.glyphs.cursor if selected else " ", Role.CURSOR)
    runs = [cursor, *cells(table.placed, (row, table.glyphs))]
    return make_line(runs, table.width, selected=selected)


# ------------------------------------------------------------------------- cells

_Row = tuple[ProcessRow, Glyphs]
_Cell = Callable[[_Row, int], tuple[Run, ...]]


def _at_right(read: Callable[[ProcessSample], str | None]) -> _Cell:
    def cell(row: _Row, width: int) -> tuple[Run, ...]:
        one, glyphs = row
        text = read(one.process)
        if text is None:
            return (Run(right("" if one.below else "-", width), Role.DIM),)
        role = Role.DIM if one.below else Role.TEXT
        return (Run(right(text, width, glyphs.ellipsis), role),)

    return cell


def _at_left(read: Callable[[ProcessSample], str | None]) -> _Cell:
    def cell(row: _Row, width: int) -> tuple[Run, ...]:
        one, glyphs = row
        text = read(one.process)
        if text is None:
            return (Run(left("" if one.below else "-", width), Role.DIM),)
        return (Run(left(clean(text), width, glyphs.ellipsis)),)

    return cell


def _gpu(row: _Row, width: int) -> tuple[Run, ...]:
    """Which GPU it is on; of one that is on none, how many rows hang below it."""
    one, glyphs = row
    if one.below:
        return (Run(right(f"x{one.below}", width, glyphs.ellipsis), Role.DIM),)
    return (Run(right(str(one.process.gpu), width, glyphs.ellipsis)),)


def _command(row: _Row, width: int) -> tuple[Run, ...]:
    """What it runs; of one that cannot be told from here, why not."""
    one, glyphs = row
    command, unreachable = one.process.command, one.process.unreachable
    branch = Run(shorten(one.branch, width, ""), Role.DIM)
    room = width - width_of(branch.text)
    if command is None and unreachable is not None:
        return branch, Run(left(f"({unreachable})", room, glyphs.ellipsis), Role.DIM)
    role = Role.DIM if one.below or command is None else Role.TEXT
    return branch, Run(left(clean(command or "-"), room, glyphs.ellipsis), role)


def _size(count: int | None) -> str | None:
    return None if count is None else fmt.size(count)


def _whole(value: float | None) -> str | None:
    return None if value is None else f"{value:.0f}"


_COLUMNS: tuple[Column[_Row], ...] = (
    Column("PID", _at_right(lambda p: str(p.pid)), 0, 7, 7, 7, at_right=True),
    Column("USER", _at_left(lambda p: p.user), 5, 8, 8, 10),
    Column("GPU", _gpu, 1, 3, 3, 3, at_right=True),
    Column("JOB", _at_left(lambda p: p.job), 8, 8, 8, 16),
    Column("SM%", _at_right(lambda p: _whole(p.sm_percent)), 4, 4, 4, 4, at_right=True),
    Column("MEMORY", _at_right(lambda p: _size(p.memory_bytes)), 2, 7, 7, 7, at_right=True),
    Column("CPU%", _at_right(lambda p: _whole(p.cpu_percent)), 6, 5, 5, 5, at_right=True),
    Column("HOST", _at_right(lambda p: _size(p.host_memory_bytes)), 9, 5, 5, 5, at_right=True),
    Column(
        "TIME",
        _at_right(lambda p: None if p.running_s is None else fmt.duration(p.running_s)),
        7,
        5,
        5,
        5,
        at_right=True,
    ),
    Column("COMMAND", _command, 3, 12, 20, 400),
)
