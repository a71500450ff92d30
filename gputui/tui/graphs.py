"""The last minutes of a GPU, drawn large."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gputui.model import GpuSample
from gputui.tui.glyphs import Glyphs
from gputui.tui.history import CLOSE_BUCKET_S, Values, chart
from gputui.tui.roles import Role
from gputui.tui.text import Line, Run, left, make_line

_ROWS = 4
_COMFORTABLE = 35
"""Cells that a graph should have; side by side they stand in ones, twos or fours."""

_LABEL_CELLS = 7


@dataclass(frozen=True, slots=True)
class Graphs:
    """What a GPU did in the last minutes, oldest first; ``None`` is a gap."""

    utilization_percent: Values = ()
    memory_percent: Values = ()
    temperature_c: Values = ()
    power_w: Values = ()


@dataclass(frozen=True, slots=True)
class _Graph:
    """One of them: ``now`` is its last value in words, ``top`` the top of its scale."""

    title: str
    now: str
    values: Values
    top: float
    unit: str


def graph_lines(
    graphs: Graphs, gpu: GpuSample, glyphs: Glyphs, width: int, age_s: float = 0.0
) -> list[Line]:
    """All graphs, in ``width`` cells. ``age_s`` is how old the last readings are."""
    drawn = _graphs(graphs, gpu)
    if age_s > 0:
        drawn = [replace(graph, now=f"was {graph.now}") for graph in drawn]
    count = next(n for n in (4, 2, 1) if n == 1 or width // n >= _COMFORTABLE)
    cells = (width - 1) // count
    lines: list[Line] = []
    for first in range(0, len(drawn), count):
        row = [_drawn(graph, glyphs, cells) for graph in drawn[first : first + count]]
        lines.append(make_line([], width))
        for parts in zip(*row, strict=True):
            lines.append(make_line([run for part in parts for run in part], width))
    return lines


def _graphs(graphs: Graphs, gpu: GpuSample) -> list[_Graph]:
    """The graphs with their scales: what a GPU can do at most, as far as it is known."""
    percent, temperature, power = gpu.utilization_percent, gpu.temperature_c, gpu.power_mw
    used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
    memory = 100 * used / total if used is not None and total else None
    hottest = float(gpu.temperature_shutdown_c or 100)
    limit = (gpu.power_limit_mw or 0) / 1000
    highest = max((value for value in graphs.power_w if value is not None), default=1.0)
    return [
        _Graph("UTILIZATION", _now(percent, " %"), graphs.utilization_percent, 100.0, " %"),
        _Graph("MEMORY", _now(memory, " %"), graphs.memory_percent, 100.0, " %"),
        _Graph("TEMPERATURE", _now(temperature, " C"), graphs.temperature_c, hottest, " C"),
        _Graph(
            "POWER",
            _now(None if power is None else power / 1000, " W"),
            graphs.power_w,
            max(limit, highest, 1.0),
            " W",
        ),
    ]


def _now(value: float | None, unit: str) -> str:
    return "no reading" if value is None else f"{value:.0f}{unit}"


def _drawn(graph: _Graph, glyphs: Glyphs, cells: int) -> list[list[Run]]:
    """A title, and the rows with the scale at their left; each exactly ``cells`` wide."""
    room = max(cells - _LABEL_CELLS - 1, 1)
    seconds = 2 * room * CLOSE_BUCKET_S
    span = f"last {seconds / 60:.0f} min" if seconds >= 90 else f"last {seconds:.0f} s"
    title = left(f"{graph.title} {graph.now}", max(cells - 1 - len(span), 0)) + span
    rows = [[Run(" "), Run(left(title, cells - 1), Role.TITLE)]]
    scale = [f"{graph.top:.0f}{graph.unit}", *[""] * (_ROWS - 2), f"0{graph.unit}"]
    pictures = chart(
        graph.values, room, _ROWS, graph.top, braille=glyphs.braille, levels=glyphs.levels
    )
    for label, picture in zip(scale, pictures, strict=True):
        rows.append(
            [Run(f" {label:>{_LABEL_CELLS - 1}}", Role.DIM), Run(" "), Run(picture, Role.HISTORY)]
        )
    return rows
