"""Pages that are opened and read: one incident, one GPU, one process, the keys.

Each is a function from what is known to lines of a given width, to be scrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields

from gputui.age import age
from gputui.model import ClockReasons, GpuSample, Incident, ProcessSample
from gputui.tui import format as fmt
from gputui.tui.panels.incidents import subject
from gputui.tui.roles import SEVERITY_ROLES, Role, state_role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line, shorten, width_of, wrap
from gputui.tui.view import Key, Panel

_LABEL_CELLS = 14


Page = tuple[Line, ...]
"""The lines of a page."""

PageSource = Callable[[Scene, int], Page]
"""A page as of a scene, for a width in cells. It is asked again whenever either changes."""


class _Writer:
    """Collects the lines of a page of ``width`` cells."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []

    def line(self, *runs: Run) -> None:
        """One line, cut at the width."""
        self.lines.append(make_line([Run(" "), *runs], self.width))

    def blank(self) -> None:
        """An empty line."""
        self.line()

    def heading(self, text: str) -> None:
        """A heading, set apart."""
        self.blank()
        self.line(Run(text, Role.TITLE))

    def labelled(self, label: str, text: str, role: Role = Role.TEXT) -> None:
        """A label and its text, which wraps beside it, or below it where the page is narrow."""
        beside = self.width >= 50
        at = _LABEL_CELLS if beside else 2
        parts = wrap(clean(text), self.width - at - 2) or [""]
        if beside:
            lead = label.ljust(_LABEL_CELLS)
            self.line(Run(lead, Role.DIM), Run(parts[0], role))
            parts = parts[1:]
        else:
            self.line(Run(label, Role.DIM))
        for part in parts:
            self.line(Run(" " * at), Run(part, role))

    def verbatim(self, texts: Iterable[str]) -> None:
        """Lines quoted as they were, wrapped with an indent."""
        for text in texts:
            for position, part in enumerate(wrap(clean(text), self.width - 6)):
                self.line(Run("  " if position == 0 else "    "), Run(part))


def page_of(panel: Panel, key: Key) -> PageSource:
    """The page of one row of a list."""
    return {Panel.GPUS: _gpu, Panel.INCIDENTS: _incident, Panel.PROCESSES: _process}[panel](key)


# ---------------------------------------------------------------------- incident


def _incident(key: Key) -> PageSource:
    last: list[Incident] = []

    def source(scene: Scene, width: int) -> Page:
        known = scene.snapshot.incidents if scene.snapshot else ()
        found = next((incident for incident in known if incident.id == key), None)
        if found is not None:
            last[:] = [found]
        if not last:
            return (make_line([Run(" no longer known")], width),)
        return _incident_page(scene, last[0], width, is_open=found is not None)

    return source


def _incident_page(scene: Scene, incident: Incident, width: int, *, is_open: bool) -> Page:
    writer = _Writer(width)
    role = SEVERITY_ROLES[incident.severity]
    glyph = scene.glyphs.severity(incident.severity)
    writer.line(
        Run(f"{glyph} {incident.severity.word} ", role),
        Run(incident.kind, Role.STRONG),
        Run(f"  {subject(incident)}"),
    )
    writer.blank()
    writer.labelled("what to do", incident.action_text or incident.action.value, Role.ADVICE)
    writer.labelled("cause", f"{incident.cause_text} ({incident.cause})")
    opened = f"{fmt.clock(incident.opened_s)}, {age(scene.now_s - incident.opened_s)} ago"
    writer.labelled("since", opened if is_open else f"{opened}; over")
    writer.labelled("seen", fmt.plural(incident.count, "time"))
    writer.labelled("concerns", f"{incident.subject} on {incident.host}")
    if incident.acknowledged:
        writer.labelled("acknowledged", "yes")
    if incident.runbook:
        writer.labelled("runbook", incident.runbook)
    writer.heading("EVIDENCE")
    writer.verbatim(incident.evidence or ("none was kept",))
    children = [
        other
        for other in (scene.snapshot.incidents if scene.snapshot else ())
        if other.id in incident.children or other.parent == incident.id
    ]
    if children:
        writer.heading("UNDER IT")
    for child in children:
        since = age(scene.now_s - child.opened_s)
        head = f"{scene.glyphs.severity(child.severity)} {child.severity.word} "
        writer.line(
            Run("  "),
            Run(head, SEVERITY_ROLES[child.severity]),
            Run(child.kind, Role.STRONG),
            Run(f" {since}  x{child.count}  " if child.count > 1 else f" {since}  "),
        )
        writer.verbatim((f"  {child.cause_text}", *child.evidence))
    return tuple(writer.lines)


# --------------------------------------------------------------------------- GPU

_UNITS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("_bytes_per_s", lambda value: f"{value / 1e6:.0f} MB/s"),
    ("_percent", lambda value: f"{value} %"),
    ("_bytes", lambda value: f"{value / (1 << 20):.0f} MiB"),
    ("_mhz", lambda value: f"{value} MHz"),
    ("_mw", lambda value: f"{value / 1000:.1f} W"),
    ("_mj", lambda value: f"{value / 3.6e9:.2f} kWh"),
    ("_ns", lambda value: f"{value / 1e9:.1f} s"),
    ("_c", lambda value: f"{value} C"),
)
"""How a reading is written, by the unit at the end of its name."""

_NAME_CELLS = 32
"""Cells for a reading's name."""

_NOT_READINGS = frozenset({"index", "uuid", "bus_id", "name", "return_code", "missing"})


def _gpu(key: Key) -> PageSource:
    def source(scene: Scene, width: int) -> Page:
        snapshot = scene.snapshot
        pairs = zip(snapshot.sample.gpus, snapshot.statuses, strict=False) if snapshot else ()
        found = next((pair for pair in pairs if pair[0].index == key), None)
        if found is None:
            return (make_line([Run(" no longer listed")], width),)
        gpu, status = found[0], scene.status_now(found[1])
        writer = _Writer(width)
        state = f"{scene.glyphs.state(status.state)} {status.state.label}".strip()
        writer.line(
            Run(f"GPU {gpu.index} ", Role.STRONG),
            Run(clean(gpu.name or "")),
            Run(f"  {state}", state_role(status.state)),
        )
        writer.blank()
        since = age(scene.now_s - status.since_s)
        writer.labelled("state", f"{status.state.label}, for {since}")
        if status.reason:
            writer.labelled("why", status.reason)
        if status.age_s > 0:
            writer.labelled("readings", f"{age(status.age_s)} old", Role.WARNING)
        writer.labelled("bus id", gpu.bus_id or "not known")
        writer.labelled("UUID", gpu.uuid or "not known")
        writer.labelled("NVML answered", f"return code {gpu.return_code}")
        writer.heading("READINGS")
        _readings(writer, gpu)
        return tuple(writer.lines)

    return source


def _readings(writer: _Writer, gpu: GpuSample) -> None:
    """Every reading with its unit, or why there is none."""
    for field in fields(gpu):
        if field.name in _NOT_READINGS:
            continue
        value = getattr(gpu, field.name)
        unit = next((unit for unit, _ in _UNITS if field.name.endswith(unit)), "")
        label = field.name.removesuffix(unit).replace("_", " ")
        if value is None:
            text, role = gpu.missing.get(field.name, "not read"), Role.DIM
        else:
            text, role = _reading(field.name, unit, value), Role.TEXT
        lead = shorten(label, writer.width // 2, "~").ljust(min(writer.width // 2, _NAME_CELLS))
        writer.line(Run(f"  {lead} "), Run(clean(text), role))


def _reading(name: str, unit: str, value: object) -> str:
    """One reading as people write it."""
    if name == "clock_reasons" and isinstance(value, int):
        return _clock_reasons(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value) or "none"
    if isinstance(value, int | float) and unit:
        return next(write for end, write in _UNITS if end == unit)(value)
    return str(value)


def _clock_reasons(bits: int) -> str:
    """Reasons by NVML's names, in lower case."""
    known = [r for r in ClockReasons if r and bits & r]
    return ", ".join(str(r.name).lower().replace("_", " ") for r in known) or "none"


# ----------------------------------------------------------------------- process


def _process(key: Key) -> PageSource:
    last: list[ProcessSample] = []

    def source(scene: Scene, width: int) -> Page:
        known = scene.snapshot.sample.processes if scene.snapshot else ()
        found = next((p for p in known if (p.pid, p.gpu) == key), None)
        if found is not None:
            last[:] = [found]
        if not last:
            return (make_line([Run(" no longer there")], width),)
        process = last[0]
        writer = _Writer(width)
        writer.line(Run(f"process {process.pid} ", Role.STRONG), Run(f"on GPU {process.gpu}"))
        if found is None:
            writer.line(Run("no longer there", Role.WARNING))
        writer.blank()
        writer.labelled("command", process.command or "not known")
        writer.labelled("user", process.user or "not known")
        if process.job:
            writer.labelled("job", process.job)
        writer.labelled("kind", process.kind)
        memory = process.memory_bytes
        writer.labelled("GPU memory", "not known" if memory is None else _mib(memory))
        sm = process.sm_percent
        writer.labelled("SM", "no sample" if sm is None else f"{sm} %")
        cpu = process.cpu_percent
        writer.labelled("CPU", "not known" if cpu is None else f"{cpu:.0f} %")
        host = process.host_memory_bytes
        writer.labelled("host memory", "not known" if host is None else _mib(host))
        ran = process.running_s
        writer.labelled("running", "not known" if ran is None else fmt.duration(ran))
        return tuple(writer.lines)

    return source


def _mib(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB"


# -------------------------------------------------------------------------- help

_KEYS = (
    ("Up Down j k", "choose a row"),
    ("PgUp PgDn", "a page of rows"),
    ("Home End", "first, last row"),
    ("Tab", "next list: GPUs, incidents, processes"),
    ("Enter", "open what is chosen"),
    ("/ (F4)", "filter the processes by text; Esc clears it"),
    ("s (F6)", "sort the processes by the next column"),
    ("Esc", "back"),
    ("? h (F1)", "this page"),
    ("q (F10, Ctrl-C)", "quit"),
    ("Ctrl-Z", "back to the shell; fg brings the screen back"),
)

_STATES = (
    ("LOST", "NVML counts it, and it does not answer"),
    ("HUNG", "a call to the driver has not returned"),
    ("RESET NEEDED", "it works again only after a reset"),
    ("HIDDEN", "not visible in this container"),
    ("UNSUPPORTED", "it gives no readings"),
    ("STALE", "the readings are old; their age stands beside it"),
    ("DEGRADED", "some readings fail, or an incident is open on it"),
    ("THROTTLED", "clocks are lowered by heat or by the power brake"),
    ("ok", "all is well; a software power cap alone is ok"),
)

_WORDS = (
    ("n/s", "not supported by this GPU, or by this driver"),
    ("none", "NVML has no value"),
    ("perm", "needs more permission"),
    ("wait", "not measured yet"),
    ("late", "the call timed out"),
    ("bad", "garbage instead of a number"),
    ("err  lost  ?", "the call failed: open the GPU to see how"),
    ("89C!", "near, or at, the slowdown temperature"),
)


def help_page(scene: Scene, width: int) -> Page:
    """Keys, states and the short words in the columns."""
    writer = _Writer(width)
    for title, entries in (
        ("KEYS", _KEYS),
        ("STATES", _STATES),
        ("IN PLACE OF A READING", _WORDS),
    ):
        if writer.lines:
            writer.blank()
        writer.line(Run(title, Role.TITLE))
        for name, meaning in entries:
            wide = 17 if width >= 60 else width_of(name) + 1
            writer.line(Run(f" {name:{wide}}", Role.STRONG), Run(meaning))
    return tuple(writer.lines)
