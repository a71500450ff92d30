"""The whole main screen, as a pure function of what is known, of the time and of the size.

Every line is exactly as wide as the screen, and there are exactly as many as the screen is high.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gputui.tui.layout import Plan, plan, window
from gputui.tui.panels import absent, around, gpus, header, incidents, keys, processes
from gputui.tui.panels.tree import ProcessRow
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, empty, make_line
from gputui.tui.view import Key, Panel


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the main screen.

    ``targets`` stands beside ``lines``: whose row each line is. ``order`` are all rows of each
    list, shown or not; ``offsets`` are the first ones shown; ``panel`` is the list with the cursor,
    ``cursors`` the chosen row of each list that has one; ``page`` how many rows a list shows.
    """

    lines: tuple[Line, ...]
    targets: tuple[tuple[Panel, Key] | None, ...]
    order: Mapping[Panel, tuple[Key, ...]]
    offsets: Mapping[Panel, int]
    cursors: Mapping[Panel, Key]
    page: Mapping[Panel, int]
    panel: Panel


@dataclass(frozen=True, slots=True)
class _List:
    """A list to be shown in part: its rows' keys and heights, and how to draw one of them."""

    panel: Panel
    keys: tuple[Key, ...]
    heights: list[int]
    draw: Callable[[int, bool], Sequence[Line]]


class _Builder:
    """Collects lines, and what each stands for, from the top down."""

    def __init__(self, scene: Scene, width: int) -> None:
        self.scene = scene
        self.width = width
        self.lines: list[Line] = []
        self.targets: list[tuple[Panel, Key] | None] = []
        self.order: dict[Panel, tuple[Key, ...]] = {}
        self.offsets: dict[Panel, int] = {}
        self.cursors: dict[Panel, Key] = {}
        self.page: dict[Panel, int] = {}
        self.panel = Panel.GPUS

    def add(self, line: Line, target: tuple[Panel, Key] | None = None) -> None:
        """One line below the others."""
        self.lines.append(line)
        self.targets.append(target)

    def blank(self, count: int = 1) -> None:
        """Empty lines."""
        for _ in range(count):
            self.add(empty(self.width))

    def cursor_of(self, items: _List) -> int:
        """Position of the chosen row: the first one where none, or one that is gone, was chosen."""
        chosen = self.scene.view.cursors.get(items.panel)
        position = items.keys.index(chosen) if chosen in items.keys else 0
        if items.keys:
            self.cursors[items.panel] = items.keys[position]
        return position

    def add_list(
        self, items: _List, room: int, title: Callable[[str], list[Line]] | None, noun: str
    ) -> None:
        """A list in ``room`` lines below its title, which tells the range when rows are cut.

        Without a title, the last line tells how many more there are.
        """
        self.order[items.panel] = items.keys
        cursor = self.cursor_of(items)
        cut = sum(items.heights) > room
        told_below = cut and title is None and room >= 2
        offset = self.scene.view.offsets.get(items.panel, 0)
        first, last = window(items.heights, room - told_below, offset, cursor)
        self.offsets[items.panel] = first
        self.page[items.panel] = max(last - first, 1)
        count = len(items.keys)
        if title is not None:
            for line in title(f"{first + 1}-{last} of {count}" if cut else ""):
                self.add(line)
        used = 0
        for position in range(first, last):
            selected = items.panel is self.panel and position == cursor
            for line in items.draw(position, selected):
                self.add(line, (items.panel, items.keys[position]))
                used += 1
        if told_below:
            text = f"   +{count - (last - first)} more {noun}"
            self.add(make_line([Run(text, Role.DIM)], self.width))
            used += 1
        self.blank(room - used)


def draw(scene: Scene, width: int, height: int) -> Frame:
    """The main screen in ``width`` x ``height`` cells."""
    builder = _Builder(scene, width)
    absence = absent.lines(scene, width)
    gpu_rows = [] if absence else gpus.rows(scene)
    incident_rows = incidents.rows(scene, width)
    process_rows = processes.rows(scene)
    wanted = [row.wanted(width) for row in incident_rows]
    shares = plan(
        height,
        gpus=len(gpu_rows) or len(absence),
        incidents=len(incident_rows),
        incident_lines=sum(wanted),
        processes=len(process_rows),
        notice=bool(scene.snapshot and scene.snapshot.notices),
        around=around.wanted(scene),
    )
    builder.panel = _active_panel(scene, bool(gpu_rows), bool(incident_rows), shares)

    builder.add(header.header(scene, width))
    if shares.notice:
        builder.add(header.notice_line(scene, width))
    for surroundings in around.lines(scene, width, shares.around):
        builder.add(surroundings)
    if shares.incidents_first:
        _incidents(builder, shares, incident_rows, wanted)
        _gpus(builder, shares, gpu_rows, absence)
    else:
        _gpus(builder, shares, gpu_rows, absence)
        builder.blank(shares.gap)
        _incidents(builder, shares, incident_rows, wanted)
    builder.blank(shares.gap)
    _processes(builder, shares, process_rows)

    body = height - shares.keys
    del builder.lines[body:], builder.targets[body:]
    builder.blank(body - len(builder.lines))
    if shares.keys:
        builder.add(keys.main_line(scene, width))
    return Frame(
        lines=tuple(builder.lines[:height]),
        targets=tuple(builder.targets[:height]),
        order=builder.order,
        offsets=builder.offsets,
        cursors=builder.cursors,
        page=builder.page,
        panel=builder.panel,
    )


def _active_panel(scene: Scene, has_gpus: bool, has_incidents: bool, shares: Plan) -> Panel:
    """The list with the cursor: the chosen one while it has rows, else what matters most."""
    has_processes = shares.process_rows > 0
    alive = {
        Panel.GPUS: has_gpus,
        Panel.INCIDENTS: has_incidents,
        Panel.PROCESSES: has_processes,
    }
    chosen = scene.view.panel
    if chosen is not None and alive[chosen]:
        return chosen
    preferred = (Panel.INCIDENTS, Panel.GPUS, Panel.PROCESSES)
    return next((panel for panel in preferred if alive[panel]), Panel.GPUS)


def _gpus(
    builder: _Builder, shares: Plan, rows: list[gpus.GpuRow], absence: Sequence[Line]
) -> None:
    """The GPUs, or why there are none."""
    width, glyphs = builder.width, builder.scene.glyphs
    if absence:
        if shares.gpu_title:
            builder.add(make_line([Run(" GPUS" + " " * width, Role.TITLE)], width))
        for line in absence[: shares.gpu_rows]:
            builder.add(line)
        return
    if shares.gpu_rows < len(rows):
        rows = gpus.worst_first(rows)
    placed = gpus.placed_columns(width)

    def title(range_text: str) -> list[Line]:
        return [gpus.heading(width, glyphs, range_text)]

    def one(position: int, selected: bool) -> Sequence[Line]:
        return (gpus.draw(rows[position], width, placed, selected=selected),)

    items = _List(Panel.GPUS, tuple(row.sample.index for row in rows), [1] * len(rows), one)
    builder.add_list(items, shares.gpu_rows, title if shares.gpu_title else None, "GPUs")


def _incidents(
    builder: _Builder, shares: Plan, rows: list[incidents.IncidentRow], wanted: list[int]
) -> None:
    """The incidents, worst first."""
    scene, width = builder.scene, builder.width
    heights = incidents.allot(wanted, shares.incident_rows)

    def title(range_text: str) -> list[Line]:
        return [incidents.heading(scene, width, range_text)]

    def one(position: int, selected: bool) -> Sequence[Line]:
        return incidents.draw(scene, rows[position], width, heights[position], selected=selected)

    items = _List(Panel.INCIDENTS, tuple(row.incident.id for row in rows), heights, one)
    builder.add_list(
        items, shares.incident_rows, title if shares.incident_title else None, "incidents"
    )


def _processes(builder: _Builder, shares: Plan, rows: list[ProcessRow]) -> None:
    """The processes in what room is left."""
    if not shares.process_titles or builder.scene.snapshot is None:
        return
    scene, width = builder.scene, builder.width
    table = processes.table(scene, width, rows)

    def title(range_text: str) -> list[Line]:
        view = scene.view
        columns = processes.column_heading(table, view.sort, view.is_ascending)
        if shares.process_titles == 1:
            return [columns]
        shown = sum(not row.below for row in rows)
        return [processes.heading(scene, shown, width, range_text), columns]

    def one(position: int, selected: bool) -> Sequence[Line]:
        return (processes.draw(rows[position], table, selected=selected),)

    items = _List(Panel.PROCESSES, tuple(row.key for row in rows), [1] * len(rows), one)
    builder.add_list(items, shares.process_rows, title, "processes")
    if not rows:
        builder.lines[-1] = processes.empty_line(scene, width)
