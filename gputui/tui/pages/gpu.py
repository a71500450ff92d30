"""A GPU: what is wrong with it, how it has been, and everything that NVML says."""

from __future__ import annotations

from collections.abc import Sequence

from gputui.age import age
from gputui.model import GpuSample, GpuStatus
from gputui.tui import format as fmt
from gputui.tui.graphs import Graphs, graph_lines
from gputui.tui.pages.writer import Page, PageSource, Writer, beside
from gputui.tui.panels.incidents import advice, head
from gputui.tui.readings import SECTIONS, Section
from gputui.tui.roles import Role, state_role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line
from gputui.tui.view import Key

_NAME_CELLS = 22
_SECTION_CELLS = 50
"""A section is comfortable in so many cells."""


def gpu_page(key: Key) -> PageSource:
    """The page of the GPU with this index."""

    def source(scene: Scene, width: int) -> Page:
        snapshot = scene.snapshot
        pairs = zip(snapshot.sample.gpus, snapshot.statuses, strict=False) if snapshot else ()
        found = next((pair for pair in pairs if pair[0].index == key), None)
        if found is None:
            return (make_line([Run(" no longer listed")], width),)
        gpu, status = found[0], scene.status_now(found[1])
        writer = Writer(width)
        _heading(writer, scene, gpu, status)
        graphs = scene.graphs.get(gpu.index, Graphs())
        writer.lines += graph_lines(graphs, gpu, scene.glyphs, width, status.age_s)
        _mig(writer, gpu)
        writer.lines += _sections(gpu, width)
        return writer.page

    return source


def _heading(writer: Writer, scene: Scene, gpu: GpuSample, status: GpuStatus) -> None:
    """Which GPU it is, and what is wrong with it."""
    state = f"{scene.glyphs.state(status.state)} {status.state.label}".strip()
    since = f" for {age(scene.now_s - status.since_s)}"
    writer.line(
        Run(f"GPU {gpu.index} ", Role.STRONG),
        Run(clean(gpu.name or "")),
        Run(f"  {state}", state_role(status.state)),
        Run(since, Role.DIM),
    )
    if status.reason:
        writer.labelled("why", status.reason, state_role(status.state))
    if status.age_s > 0:
        writer.labelled("readings", f"{age(status.age_s)} old", Role.WARNING)
    writer.labelled("bus id, UUID", f"{gpu.bus_id or 'not known'}, {gpu.uuid or 'not known'}")
    if gpu.return_code:
        writer.labelled("NVML answered", f"return code {gpu.return_code}", Role.WARNING)
    for incident in scene.open_incidents():
        if incident.gpu == gpu.index:
            writer.line(*head(scene, incident))
            writer.paragraph(f"  > {advice(incident)}", Role.ADVICE)


def _mig(writer: Writer, gpu: GpuSample) -> None:
    """Into which parts it is divided."""
    if not gpu.mig_instances:
        return
    writer.heading("MIG INSTANCES")
    for one in gpu.mig_instances:
        place = f"GI {one.gpu_instance} CI {one.compute_instance}"
        profile = one.profile or "of unknown profile"
        memory = "memory not told"
        if one.memory_used_bytes is not None and one.memory_total_bytes is not None:
            memory = f"{fmt.mib(one.memory_used_bytes)} of {fmt.mib(one.memory_total_bytes)}"
        writer.described(f" {place:10} {profile:10} ", f"{memory}  {one.uuid or ''}".rstrip())


def _sections(gpu: GpuSample, width: int) -> list[Line]:
    """All readings, in as many columns as are comfortable."""
    count = max(min(width // _SECTION_CELLS, 3), 1)
    cells = width // count
    columns: list[list[Line]] = [[] for _ in range(count)]
    drawn = [_section(section, gpu, cells) for section in SECTIONS]
    full = sum(len(lines) for lines in drawn) / count
    at = 0
    for lines in drawn:
        if columns[at] and len(columns[at]) + len(lines) / 2 > full and at < count - 1:
            at += 1
        columns[at] += lines
    return beside(columns, width)


def _section(section: Section, gpu: GpuSample, cells: int) -> Sequence[Line]:
    writer = Writer(cells)
    writer.blank()
    writer.line(Run(section.title, Role.TITLE))
    for entry in section.entries:
        text, role = entry.text(gpu)
        writer.labelled(entry.label, text, role, _NAME_CELLS)
    return writer.lines
