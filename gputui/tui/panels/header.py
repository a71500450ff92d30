"""The first line: which node, what is in it, how many incidents, what time it is."""

from __future__ import annotations

from collections import Counter

from gputui.age import age
from gputui.model import Severity, Snapshot
from gputui.sources.playback import PlaybackState
from gputui.tui import format as fmt
from gputui.tui.quiet import is_quiet
from gputui.tui.roles import Role
from gputui.tui.scene import Held, Scene
from gputui.tui.text import Line, Run, clean, make_line, shorten, width_of

_NODE_CELLS = 6
"""A node's name is cut to this before anything about incidents is."""


def header(scene: Scene, width: int) -> Line:
    """The header. CUDA gives way first, then driver, models, time, the words of the summary."""
    right = _fitting_right(scene, width)
    room = width - 1 - sum(width_of(run.text) for run in right)
    names = _left(scene, room)
    used = sum(width_of(run.text) for run in names)
    gap = Run(" " * max(width - used - (width - 1 - room), 0), Role.HEADER)
    runs = [*names, gap, *right, Run(" ", Role.HEADER)]
    return make_line(runs, width)


def _left(scene: Scene, room: int) -> list[Run]:
    """The node and what is known of it, as far as there is room."""
    node, *facts = _facts(scene.snapshot)
    ellipsis = scene.glyphs.ellipsis
    runs = [Run(" " + shorten(node, room - 2, ellipsis), Role.HEADER_STRONG)]
    used = width_of(runs[0].text)
    for fact in facts:
        used += 2 + width_of(fact)
        if used > room - 2:
            break
        runs.append(Run("  " + fact, Role.HEADER))
    return runs


def _facts(snapshot: Snapshot | None) -> list[str]:
    """The node's name, its GPUs, its driver, its CUDA version: the most telling first."""
    if snapshot is None:
        return ["gputui"]
    sample = snapshot.sample
    facts = [clean(sample.host), models(snapshot)]
    if sample.driver:
        facts.append(f"driver {clean(sample.driver)}")
    if sample.cuda:
        facts.append(f"CUDA {clean(sample.cuda)}")
    return facts


def models(snapshot: Snapshot) -> str:
    """``8x H100 80GB HBM3``; several models are named, by number."""
    gpus = snapshot.sample.gpus
    counts = Counter(
        clean(gpu.name).removeprefix("NVIDIA ").strip() for gpu in gpus if gpu.name is not None
    )
    if not counts:
        return fmt.plural(max(len(gpus), snapshot.sample.gpu_count), "GPU") if gpus else "no GPUs"
    if len(counts) == 1:
        return f"{len(gpus)}x {next(iter(counts))}"
    return ", ".join(f"{count}x {name}" for name, count in counts.most_common())


def _fitting_right(scene: Scene, width: int) -> list[Run]:
    """The fullest form of summary and time that leaves room for the node's name."""
    choices = _right_choices(scene)
    for runs in choices:
        if sum(width_of(run.text) for run in runs) + _NODE_CELLS + 4 <= width:
            return runs
    return choices[-1]


def _right_choices(scene: Scene) -> list[list[Run]]:
    """Summary and time, in fuller and in shorter forms."""
    if scene.snapshot is None:
        waited = f"no answer yet, {age(scene.silent_s)}"
        return [[Run(waited, Role.HEADER_WARNING)]]
    if scene.playback is not None:
        return _replay_choices(scene, scene.playback)
    if scene.held is not None:
        return _held_choices(scene, scene.held)
    if scene.is_silent:
        silence = age(scene.silent_s)
        return [
            [Run(f"no reading for {silence}", Role.HEADER_CRITICAL)],
            [Run(f"silent {silence}", Role.HEADER_CRITICAL)],
        ]
    words, counts = _summary(scene)
    clock = Run("  " + fmt.clock(scene.now_s), Role.HEADER)
    return [[words, clock], [words], [counts]]


def _held_choices(scene: Scene, held: Held) -> list[list[Run]]:
    """That the picture stands still, since when, and whether it hides something."""
    since = age(held.for_s)
    new = fmt.plural(held.new_incidents, "new incident")
    role = Role.HEADER_CRITICAL if held.new_incidents else Role.HEADER_WARNING
    told = f"HELD at {fmt.clock(scene.now_s)}, {since} ago; Space goes on"
    short = f"HELD {since}"
    if held.new_incidents:
        told, short = f"{told}; {new}", f"{short} +{held.new_incidents}{scene.glyphs.critical}"
    return [[Run(told, role)], [Run(short, role)]]


def _replay_choices(scene: Scene, playback: PlaybackState) -> list[list[Run]]:
    """That this is a recording, which moment of it is shown, and how it goes on."""
    at_s = playback.at_s - (scene.held.for_s if scene.held else 0.0)
    place = fmt.minutes(at_s)
    if playback.end_s is not None:
        place += f" of {fmt.minutes(playback.end_s)}"
    if playback.is_moving:
        pace = "moving"
    elif playback.is_paused or scene.held is not None:
        pace = "paused"
    else:
        pace = "over" if playback.is_over else f"{playback.speed:g}x"
    words, counts = _summary(scene)
    label = f"  REPLAY {fmt.clock(scene.now_s)}"
    role = Role.HEADER_WARNING
    return [
        [words, Run(f"{label}  {place}  {pace}", role)],
        [words, Run(f"{label}  {pace}", role)],
        [counts, Run(f"{label}  {pace}", role)],
        [counts, Run(f" REPLAY {pace}", role)],
        [counts, Run(" REPLAY", role)],
    ]


def _summary(scene: Scene) -> tuple[Run, Run]:
    """How many incidents are open, in words and in glyphs."""
    incidents = scene.open_incidents()
    if not incidents and scene.snapshot is not None and scene.snapshot.sample.error is not None:
        run = Run("no readings", Role.HEADER_CRITICAL)
        return run, run
    if not incidents:
        return Run("no incidents", Role.HEADER_OK), Run("ok", Role.HEADER_OK)
    calling = [incident for incident in incidents if not is_quiet(incident)]
    worst = max((incident.severity for incident in calling), default=Severity.INFO)
    role = (Role.HEADER, Role.HEADER_WARNING, Role.HEADER_CRITICAL)[worst]
    critical = sum(incident.severity is Severity.CRITICAL for incident in incidents)
    words = fmt.plural(len(incidents), "incident")
    if critical:
        words += f", {critical} critical"
    if not calling:
        seen = all(incident.acknowledged for incident in incidents)
        words += ", acknowledged" if seen else ", none calls"
    by_severity = Counter(incident.severity for incident in incidents)
    glyphs = " ".join(
        f"{scene.glyphs.severity(severity)}{by_severity[severity]}"
        for severity in sorted(by_severity, reverse=True)
    )
    return Run(words, role), Run(glyphs, role)


def notice_line(scene: Scene, width: int) -> Line:
    """Remarks on the monitor itself, on one line."""
    notices = scene.snapshot.notices if scene.snapshot else ()
    text = f" {scene.glyphs.separator} ".join(clean(notice) for notice in notices)
    shown = shorten(text, width - 5, scene.glyphs.ellipsis)
    return make_line([Run(f" {scene.glyphs.info} ", Role.INFO), Run(shown, Role.DIM)], width)
