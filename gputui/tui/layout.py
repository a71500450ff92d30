"""Who gets which of the screen's lines.

Incidents are never cut away while a line is left for them; then come the GPUs, then the processes.
On short screens titles go, and incidents stand above the GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

_TALL = 16
"""Screens of at least this height have titles over their panels."""

_HIGH = 30
"""Screens of at least this height have two lines for what stands around the GPUs."""

_LEAST_GPUS = 3
"""GPU rows that stay in sight however many incidents there are."""

_AIRY = 3
"""Spare lines from which on panels are set apart by empty ones."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Lines for each part, from the top: header, notice, ``around``, the panels, keys.

    ``around`` are those about the host and the network. ``process_titles`` is 0, 1 (columns) or 2
    (title and columns); ``gap`` is the number of empty lines before a panel.
    """

    notice: bool
    around: int
    gpu_title: bool
    gpu_rows: int
    incident_title: bool
    incident_rows: int
    process_titles: int
    process_rows: int
    gap: int
    keys: bool
    incidents_first: bool


def plan(
    height: int,
    *,
    gpus: int,
    incidents: int,
    incident_lines: int,
    processes: int,
    notice: bool,
    around: int = 0,
) -> Plan:
    """Share out ``height`` lines.

    ``gpus`` are the lines that the GPUs (or their absence) need, ``incidents`` how many there are
    and ``incident_lines`` the lines that say everything about them, ``processes`` how many.
    ``around`` are the lines that say everything about what stands around the GPUs.
    """
    room = height - 1
    keys = height >= 8
    room -= keys
    notice = notice and height >= 8
    room -= notice
    tall = height >= _TALL
    gpu_title = tall
    incident_title = tall or (incidents == 0 and gpus < room)
    room -= gpu_title + incident_title
    incident_rows = _incident_rows(room, gpus, incidents, incident_lines)
    gpu_rows = min(gpus, max(room - incident_rows, 0))
    room -= incident_rows + gpu_rows
    around = min(around, 2 if height >= _HIGH else 1, room) if tall else 0
    room -= around
    process_titles = 2 if room >= 5 else 1 if room >= 2 else 0
    room -= process_titles
    process_rows = min(max(processes, 1), room) if process_titles else 0
    room -= process_rows
    return Plan(
        notice=notice,
        around=around,
        gpu_title=gpu_title,
        gpu_rows=gpu_rows,
        incident_title=incident_title,
        incident_rows=incident_rows,
        process_titles=process_titles,
        process_rows=process_rows,
        gap=1 if tall and room >= _AIRY else 0,
        keys=keys,
        incidents_first=not tall,
    )


def _incident_rows(room: int, gpus: int, incidents: int, lines: int) -> int:
    """Everything about the incidents if all GPUs fit too; else shorter; else before the GPUs."""
    if lines + gpus <= room:
        return lines
    if incidents + gpus <= room:
        return room - gpus
    return min(lines, max(room - min(gpus, _LEAST_GPUS), min(incidents, room)))


def window(heights: list[int], room: int, first: int, cursor: int) -> tuple[int, int]:
    """The rows ``first <= row < last`` to show in ``room`` lines, so that ``cursor`` is in sight.

    ``first`` is where the list stood before; it moves no further than needed.
    """
    count = len(heights)
    first = min(max(first, 0), max(count - 1, 0))
    if 0 <= cursor < first:
        first = cursor
    while first < cursor < count and sum(heights[first : cursor + 1]) > room:
        first += 1
    while first > 0 and sum(heights[first - 1 :]) <= room:
        first -= 1
    last, used = first, 0
    while last < count and used + heights[last] <= room:
        used += heights[last]
        last += 1
    return first, last
