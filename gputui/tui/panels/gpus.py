"""One row a GPU: its state and readings, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from gputui.age import age
from gputui.model import THERMAL_REASONS, ClockReasons, GpuSample, GpuState, GpuStatus
from gputui.tui import format as fmt
from gputui.tui.columns import GAP, Column, Placed, cells, place, titles
from gputui.tui.glyphs import Glyphs
from gputui.tui.history import sparkline
from gputui.tui.missing import short_reason
from gputui.tui.roles import Role, state_role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, left, make_line, right, shorten, width_of

_SILENT = frozenset({GpuState.LOST, GpuState.HUNG, GpuState.HIDDEN})
"""States in which a GPU gives no readings, whatever was read before."""

_REASONS = {
    GpuState.LOST: "no answer on the bus",
    GpuState.HUNG: "a call to the driver has not returned",
    GpuState.RESET_NEEDED: "no readings: it needs a reset",
    GpuState.HIDDEN: "not visible in this container",
    GpuState.UNSUPPORTED: "gives no readings",
    GpuState.STALE: "no new readings",
}
"""What stands in the row when the monitor gives no reason of its own."""

_THERMAL = int(THERMAL_REASONS)
_POWER_BRAKE = int(ClockReasons.HW_POWER_BRAKE_SLOWDOWN)
"""As plain numbers: to combine flags of an enumeration takes fifty times as long."""

_HUNDRED_GIB = 99.5 * (1 << 30)
"""From here on a total takes three digits."""

_NEAR_SLOWDOWN_C = 5
"""A GPU this close to its slowdown temperature is marked."""


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU as it is drawn. ``status`` is as of ``now_s``."""

    sample: GpuSample
    status: GpuStatus
    now_s: float
    history: tuple[float | None, ...]
    glyphs: Glyphs

    @property
    def role(self) -> Role:
        """The role in which the state is written."""
        return state_role(self.status.state)

    @property
    def has_readings(self) -> bool:
        """Whether the readings are worth their columns."""
        if self.status.state in _SILENT:
            return False
        gpu = self.sample
        read = (gpu.utilization_percent, gpu.memory_used_bytes, gpu.temperature_c, gpu.power_mw)
        return any(value is not None for value in read)

    @property
    def reading_role(self) -> Role:
        """The role of plain readings: old ones are dimmed."""
        return Role.DIM if self.status.age_s > 0 else Role.TEXT

    @property
    def state_age(self) -> str:
        """How old stale readings are, or how long the state has lasted; empty while all is well.

        A plus says that it was in this state already when it was first looked at.
        """
        status = self.status
        if status.state is GpuState.OK:
            return ""
        if status.state is GpuState.STALE and status.age_s > 0:
            return age(status.age_s)
        if status.since_s <= 0:
            return ""
        at_least = "+" if status.since_start else ""
        return f"{age(self.now_s - status.since_s)}{at_least}"


def rows(scene: Scene) -> list[GpuRow]:
    """The GPUs of the scene, in NVML's order."""
    if scene.snapshot is None:
        return []
    return [
        GpuRow(
            gpu,
            scene.status_now(status),
            scene.now_s,
            scene.histories.get(gpu.index, ()),
            scene.glyphs,
        )
        for gpu, status in zip(scene.snapshot.sample.gpus, scene.snapshot.statuses, strict=False)
    ]


def worst_first(rows: Sequence[GpuRow]) -> list[GpuRow]:
    """For lists that cannot show every GPU: those in trouble come first."""
    order = {state: rank for rank, state in enumerate(GpuState)}
    return sorted(rows, key=lambda row: (order[row.status.state], row.sample.index))


@lru_cache(maxsize=16)
def placed_columns(width: int) -> tuple[Placed[GpuRow], ...]:
    """The columns that fit into a screen of ``width`` cells."""
    return place(_COLUMNS, 1, width - 2)


@lru_cache(maxsize=16)
def heading(width: int, glyphs: Glyphs, range_text: str = "") -> Line:
    """The columns' titles. ``range_text`` (``1-6 of 16``) stands at the right when rows are cut."""
    placed = placed_columns(width)
    runs = titles(placed, glyphs.ellipsis)
    if placed and placed[-1].column.title == _HISTORY_TITLE:
        minutes = placed[-1].width // 5
        runs[-1] = Run(left(f"LAST {minutes} MIN", placed[-1].width), Role.TITLE)
    if range_text:
        used = sum(width_of(run.text) for run in runs)
        free = max(width - 2 - len(range_text) - 2, 0)
        if used > free:
            runs = list(make_line(runs, free).runs)
            used = free
        runs.append(Run(" " * (width - 2 - used - len(range_text)), Role.TITLE))
        runs.append(Run(range_text, Role.TITLE))
    return make_line([Run(" ", Role.TITLE), *runs, Run(" " * width, Role.TITLE)], width)


def draw(row: GpuRow, width: int, placed: Sequence[Placed[GpuRow]], *, selected: bool) -> Line:
    """One GPU's line."""
    cursor = Run(row.glyphs.cursor if selected else " ", Role.CURSOR)
    runs = cells(placed, row) if row.has_readings else _reason_cells(row, width, placed)
    return make_line([cursor, *runs], width, selected=selected)


def _reason_cells(row: GpuRow, width: int, placed: Sequence[Placed[GpuRow]]) -> list[Run]:
    """State and reason of a GPU without readings, across the columns where readings would be."""
    shown = {item.column.title: item for item in placed}
    runs: list[Run] = []
    state = shown.get("STATE")
    start = 1
    if "GPU" in shown:
        runs += [*_index(row, shown["GPU"].width), Run(" " * GAP)]
        start += shown["GPU"].width + GAP
    history = shown.get(_HISTORY_TITLE)
    end = history.start - GAP if history else width - 1
    least = state.width if state else 0
    word = left(_state_text(row, end - start), min(least, end - start), row.glyphs.ellipsis)
    full = _state_text(row, end - start)
    if width_of(full) > width_of(word):
        word = full + " "
    runs += [Run(word, row.role), Run(" " * GAP)]
    start += width_of(word) + GAP
    runs += _reason(row, end - start)
    if history:
        runs += [Run(" " * GAP), *_history(row, history.width)]
    return runs


def _reason(row: GpuRow, room: int) -> list[Run]:
    """Why there are no readings and since when; the last ones with their age, if there is room."""
    status = row.status
    reason = clean(status.reason) or _REASONS.get(status.state, "no readings")
    if status.since_s > 0 and "since" not in reason:
        dated = f"{reason} since {fmt.clock(status.since_s)}"
        reason = dated if width_of(dated) <= room else reason
    reason = shorten(reason, room, row.glyphs.ellipsis)
    rest = room - width_of(reason)
    last = _last_readings(row) if status.age_s > 0 else ""
    told = f" {row.glyphs.separator} {age(status.age_s)} ago {last}" if last else ""
    told = told if width_of(told) <= rest else ""
    return [Run(reason, row.role), Run(left(told, rest), Role.DIM)]


def _last_readings(row: GpuRow) -> str:
    """The last readings before the silence, as one clause."""
    gpu = row.sample
    parts = [
        fmt.percent(gpu.utilization_percent),
        fmt.used_of_total(gpu.memory_used_bytes, gpu.memory_total_bytes)
        if gpu.memory_used_bytes is not None
        else "",
        f"{gpu.temperature_c}{row.glyphs.degree}C" if gpu.temperature_c is not None else "",
        f"{fmt.watts(gpu.power_mw)}W" if gpu.power_mw is not None else "",
    ]
    return " ".join(part for part in parts if part)


# ------------------------------------------------------------------------- cells


def _index(row: GpuRow, width: int) -> tuple[Run, ...]:
    return (Run(right(str(row.sample.index), width), Role.STRONG),)


def _state_text(row: GpuRow, width: int) -> str:
    """Glyph, state and, where it fits, the age."""
    label = f"{row.glyphs.state(row.status.state)} {row.status.state.label}"
    dated = f"{label} {row.state_age}".rstrip()
    return dated if width_of(dated) <= width else label


def _state(row: GpuRow, width: int) -> tuple[Run, ...]:
    return (Run(left(_state_text(row, width), width, row.glyphs.ellipsis), row.role),)


def _missing(row: GpuRow, field: str, width: int) -> tuple[Run, ...]:
    """A short word for why a reading is missing."""
    word = short_reason(row.sample.missing.get(field))
    return (Run(right(word, width, row.glyphs.ellipsis), Role.DIM),)


def _bar_and_text(
    row: GpuRow, fraction: float, text: str, text_width: int, width: int, role: Role
) -> tuple[Run, ...]:
    """A bar where there is room for one, and the number behind it."""
    bar_width = width - text_width - 1
    if bar_width < 3:
        return (Run(right(text, width, row.glyphs.ellipsis), row.reading_role),)
    picture = fmt.bar(fraction, bar_width, row.glyphs.blocks, row.glyphs.track)
    return (
        Run(picture, role),
        Run(" "),
        Run(right(text, text_width, row.glyphs.ellipsis), row.reading_role),
    )


def _utilization(row: GpuRow, width: int) -> tuple[Run, ...]:
    value = row.sample.utilization_percent
    if value is None:
        return _missing(row, "utilization_percent", width)
    role = Role.WARNING_BAR if row.status.state is GpuState.THROTTLED else Role.BAR
    return _bar_and_text(row, value / 100, fmt.percent(value), 4, width, role)


def _memory(row: GpuRow, width: int) -> tuple[Run, ...]:
    used, total = row.sample.memory_used_bytes, row.sample.memory_total_bytes
    if used is None:
        return _missing(row, "memory_used_bytes", width)
    text = fmt.used_of_total(used, total)
    if not total:
        return (Run(right(text, width, row.glyphs.ellipsis), row.reading_role),)
    text_width = 7 if total < _HUNDRED_GIB else 8
    return _bar_and_text(row, used / total, text, text_width, width, Role.MEMORY_BAR)


def _temperature(row: GpuRow, width: int) -> tuple[Run, ...]:
    gpu = row.sample
    if gpu.temperature_c is None:
        return _missing(row, "temperature_c", width)
    slowdown = gpu.temperature_slowdown_c
    role, mark = row.reading_role, " "
    if slowdown is not None and gpu.temperature_c >= slowdown:
        role, mark = Role.CRITICAL, "!"
    elif (gpu.clock_reasons or 0) & _THERMAL or (
        slowdown is not None and gpu.temperature_c >= slowdown - _NEAR_SLOWDOWN_C
    ):
        role, mark = Role.WARNING, "!"
    text = f"{gpu.temperature_c}{row.glyphs.degree}C{mark}"
    return (Run(right(text, width, row.glyphs.ellipsis), role),)


def _power(row: GpuRow, width: int) -> tuple[Run, ...]:
    gpu = row.sample
    if gpu.power_mw is None:
        return _missing(row, "power_mw", width)
    braked = (gpu.clock_reasons or 0) & _POWER_BRAKE
    role = Role.WARNING if braked else row.reading_role
    text = fmt.power(gpu.power_mw, gpu.power_limit_mw, width)
    return (Run(right(text, width, row.glyphs.ellipsis), role),)


def _clock(row: GpuRow, width: int) -> tuple[Run, ...]:
    value = row.sample.sm_clock_mhz
    if value is None:
        return _missing(row, "sm_clock_mhz", width)
    throttled = row.status.state is GpuState.THROTTLED
    role = Role.WARNING if throttled else row.reading_role
    return (Run(right(str(value), width, row.glyphs.ellipsis), role),)


def _bus_id(row: GpuRow, width: int) -> tuple[Run, ...]:
    text = clean(row.sample.bus_id or "-")
    return (Run(left(text, width, row.glyphs.ellipsis), Role.DIM),)


def _pcie(row: GpuRow, width: int) -> tuple[Run, ...]:
    gpu = row.sample
    text = fmt.rates(gpu.pcie_rx_bytes_per_s, gpu.pcie_tx_bytes_per_s)
    if not text:
        return _missing(row, "pcie_rx_bytes_per_s", width)
    return (Run(right(text, width, row.glyphs.ellipsis), row.reading_role),)


def _history(row: GpuRow, width: int) -> tuple[Run, ...]:
    glyphs = row.glyphs
    picture = sparkline(row.history, width, braille=glyphs.braille, levels=glyphs.levels)
    return (Run(picture, Role.HISTORY),)


_HISTORY_TITLE = "HISTORY"

_COLUMNS: tuple[Column[GpuRow], ...] = (
    Column("GPU", _index, 0, 3, 3, 3, at_right=True),
    Column("STATE", _state, 1, 11, 16, 19),
    Column("UTIL", _utilization, 2, 4, 13, 30),
    Column("MEMORY", _memory, 3, 8, 16, 30),
    Column("TEMP", _temperature, 4, 6, 6, 6, at_right=True),
    Column("POWER", _power, 5, 5, 10, 10, at_right=True),
    Column("CLOCK", _clock, 6, 5, 5, 5, at_right=True),
    Column("PCIe rx/tx", _pcie, 7, 10, 10, 10, at_right=True, luxury=True),
    Column("BUS ID", _bus_id, 9, 10, 10, 10, luxury=True),
    Column(_HISTORY_TITLE, _history, 8, 10, 10, 60, luxury=True),
)
