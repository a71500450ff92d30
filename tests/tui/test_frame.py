"""The whole main screen, as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gputui.model import (
    Action,
    GpuSample,
    GpuState,
    GpuStatus,
    Incident,
    NodeSample,
    ProcessSample,
    Severity,
    Snapshot,
)
from gputui.tui.frame import Frame, draw
from gputui.tui.glyphs import ASCII, UNICODE
from gputui.tui.roles import Role
from gputui.tui.scene import Held, Scene
from gputui.tui.view import Panel, Sort, View

NOW_S = 1_764_505_800.0
SIZES = [
    (width, height)
    for width in (40, 61, 80, 100, 140, 211, 300)
    for height in (10, 15, 16, 24, 33, 50, 100)
]

# ------------------------------------------------------------------- any screen

FOREIGN = (
    "",
    "train",
    "node-a.example.com",
    "NVIDIA H100 80GB HBM3",
    "\x1b[2J\x1b]0;title\x07",
    "line one\nline two\tand a tab\r",
    "训练任务 在中文系统上运行",
    "größe naïve e\u0301",
    "🙂👍 rocket 🚀",
    "[bold red]markup[/]",
    "a" * 80,
    "中" * 40,
    "many short words " * 5,
    "\u202eoverride\u2066\u200b",
    "\ud800 lone",
)
foreign = st.one_of(st.sampled_from(FOREIGN), st.sampled_from(FOREIGN), st.text(max_size=20))
"""Text from outside; whatever else there is in it is tested in ``test_text``."""

whole = st.one_of(st.none(), st.integers(0, 1 << 48))
gpus = st.builds(
    GpuSample,
    index=st.just(0),
    name=st.one_of(st.none(), foreign),
    bus_id=st.one_of(st.none(), foreign),
    utilization_percent=st.one_of(st.none(), st.integers(0, 255)),
    memory_used_bytes=whole,
    memory_total_bytes=whole,
    temperature_c=st.one_of(st.none(), st.integers(-10, 300)),
    temperature_slowdown_c=st.one_of(st.none(), st.integers(0, 120)),
    power_mw=whole,
    power_limit_mw=whole,
    sm_clock_mhz=whole,
    clock_reasons=st.one_of(st.none(), st.integers(0, 0x1FF)),
    pcie_rx_bytes_per_s=whole,
    pcie_tx_bytes_per_s=whole,
    missing=st.dictionaries(st.sampled_from(["power_mw", "temperature_c"]), foreign),
)
statuses = st.builds(
    GpuStatus,
    index=st.just(0),
    state=st.sampled_from(GpuState),
    since_s=st.sampled_from([0.0, NOW_S - 5, NOW_S - 1e7, NOW_S + 50]),
    age_s=st.sampled_from([0.0, 3.5, 1e6]),
    reason=foreign,
)
incidents = st.builds(
    Incident,
    id=st.just(""),
    kind=st.sampled_from(["GpuLost", "GpuThermalThrottle", "SilentDataCorruption"]),
    subject=st.one_of(st.just("node:n0"), st.just("job:4711"), foreign),
    host=foreign,
    severity=st.sampled_from(Severity),
    opened_s=st.sampled_from([NOW_S - 5, NOW_S - 1e8, NOW_S + 50]),
    cause=st.just("bus"),
    cause_text=foreign,
    action=st.sampled_from(Action),
    action_text=foreign,
    gpu=st.one_of(st.none(), st.integers(0, 15)),
    count=st.integers(1, 100_000),
    evidence=st.lists(foreign, max_size=3).map(tuple),
)
processes = st.builds(
    ProcessSample,
    pid=st.integers(1, 1 << 22),
    gpu=st.integers(0, 15),
    user=st.one_of(st.none(), foreign),
    memory_bytes=whole,
    sm_percent=st.one_of(st.none(), st.integers(0, 100)),
    cpu_percent=st.one_of(st.none(), st.floats(0, 1e6)),
    host_memory_bytes=whole,
    running_s=st.one_of(st.none(), st.floats(0, 1e9)),
    command=st.one_of(st.none(), foreign),
    job=st.one_of(st.none(), foreign),
)


@st.composite
def scenes(draw_: Any) -> Scene:
    """Anything the monitor might know, looked at in any way."""
    if draw_(st.integers(0, 20)) == 0:
        snapshot = None
    else:
        samples = draw_(st.lists(gpus, min_size=1, max_size=16))
        states = draw_(st.lists(statuses, min_size=len(samples), max_size=len(samples)))
        opened = draw_(st.lists(incidents, max_size=5))
        snapshot = Snapshot(
            NodeSample(
                host=draw_(foreign),
                time_s=NOW_S,
                driver=draw_(st.one_of(st.none(), foreign)),
                gpu_count=len(samples),
                gpus=tuple(replace(gpu, index=i) for i, gpu in enumerate(samples)),
                processes=tuple(draw_(st.lists(processes, max_size=20))),
                error=draw_(st.one_of(st.none(), st.none(), st.none(), foreign)),
            ),
            tuple(replace(status, index=i) for i, status in enumerate(states)),
            tuple(replace(incident, id=str(i)) for i, incident in enumerate(opened)),
            tuple(draw_(st.lists(foreign, max_size=2))),
        )
    view = View(
        panel=draw_(st.one_of(st.none(), st.sampled_from(Panel))),
        cursors={Panel.GPUS: draw_(st.integers(0, 20)), Panel.INCIDENTS: "3"},
        offsets=dict.fromkeys(Panel, draw_(st.integers(0, 40))),
        sort=draw_(st.sampled_from(Sort)),
        ascending=draw_(st.sampled_from([None, True, False])),
        filter_text=draw_(st.sampled_from(["", "", "a", "中", "[x]"])),
        typing=draw_(st.booleans()),
        ordering=draw_(st.booleans()),
        said=draw_(st.one_of(st.just(""), foreign)),
    )
    return Scene(
        snapshot=snapshot,
        now_s=NOW_S,
        silent_s=draw_(st.sampled_from([0.0, 2.0, 40.0, 1e6])),
        histories={0: (None, 50.0, 100.0) * 20, 3: (0.0,)},
        view=view,
        glyphs=draw_(st.sampled_from([UNICODE, ASCII])),
    )


sizes = {"width": st.integers(40, 300), "height": st.integers(10, 100)}
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))


def check(scene: Scene, width: int, height: int) -> None:
    """No exception, every line exactly as wide as the screen, every incident on it."""
    frame = draw(scene, width, height)
    assert len(frame.lines) == len(frame.targets) == height
    assert [line.width for line in frame.lines] == [width] * height
    assert all(line.text.isprintable() for line in frame.lines)
    for incident in scene.open_incidents():
        lines = lines_of(frame, Panel.INCIDENTS, incident.id)
        assert lines
        assert incident.kind[:6] in lines[0]


@few
@given(scene=scenes(), **sizes)
def test_every_screen_is_whole_and_no_incident_is_cut_away(
    scene: Scene, width: int, height: int
) -> None:
    """Any node with up to five incidents, looked at in any way, at any size from 40x10 up."""
    check(scene, width, height)


@pytest.mark.long
@many
@given(scene=scenes(), **sizes)
def test_very_many_screens_are_whole(scene: Scene, width: int, height: int) -> None:
    """The same, many times."""
    check(scene, width, height)


@pytest.mark.parametrize("count", range(1, 17))
def test_every_number_of_gpus_fits_every_size_in_every_state(make: Any, count: int) -> None:
    """1 to 16 GPUs, in every state, at sizes from 40x10 to 300x100; what is lost is in sight."""
    states = list(GpuState)
    checked = 0
    for step, (width, height) in enumerate(SIZES):
        given = {i: make.status(i, states[(i + step) % len(states)]) for i in range(count)}
        lost = [i for i, status in given.items() if status.state is GpuState.LOST]
        opened = [make.incident(gpu=i) for i in lost]
        many_processes = [make.process(pid, pid % count) for pid in range(1, 30)]
        snapshot = make.snapshot(
            gpus=count, states=given, incidents=opened, processes=many_processes
        )
        scene = Scene(snapshot=snapshot, now_s=NOW_S)
        check(scene, width, height)
        frame = draw(scene, width, height)
        assert all("LOST" in lines_of(frame, Panel.GPUS, i)[0] for i in lost)
        checked += len(lost)
    assert checked >= count


# --------------------------------------------------------------- particular ones


def lines_of(frame: Frame, panel: Panel, key: Any) -> list[str]:
    """The lines that stand for one row."""
    return [
        line.text
        for line, target in zip(frame.lines, frame.targets, strict=True)
        if target == (panel, key)
    ]


def shown(snapshot: Snapshot | None, width: int = 100, height: int = 30, **given: Any) -> Frame:
    """The frame of a snapshot at its own time."""
    now_s = snapshot.sample.time_s if snapshot else 0.0
    return draw(Scene(**{"snapshot": snapshot, "now_s": now_s, **given}), width, height)


def text(frame: Frame) -> str:
    return "\n".join(line.text for line in frame.lines)


def test_a_row_tells_state_and_readings(make: Any) -> None:
    """One row a GPU: index, state, and every reading with its unit."""
    (row,) = lines_of(shown(make.trouble()), Panel.GPUS, 0)
    for part in ("ok", "93%", "61/80G", "67°C", "641/700W", "1980", "1.2/1.0G"):
        assert part in row


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 300])
def test_a_lost_gpu_says_so_and_why(make: Any, width: int) -> None:
    """In place of readings stands the reason, never a bare N/A, and the state has its age."""
    (row,) = lines_of(shown(make.trouble(), width), Panel.GPUS, 5)
    assert "LOST 42s" in row
    assert "no answer on the bus" in row
    assert "N/A" not in row


def test_last_readings_have_their_age(make: Any) -> None:
    """What a lost GPU read before it fell silent is dated, where there is room for it."""
    (row,) = lines_of(shown(make.trouble(), 140), Panel.GPUS, 5)
    assert "42s ago 93% 61/80G 67°C 641W" in row


def test_heat_is_marked(make: Any) -> None:
    """A temperature that lowers the clocks carries a mark beside its colour."""
    (row,) = lines_of(shown(make.trouble()), Panel.GPUS, 3)
    assert "▲ THROTTLED" in row
    assert "89°C!" in row


def test_a_missing_reading_says_why(make: Any) -> None:
    """A GPU that cannot tell its power says that it is not supported; zero stays a zero."""
    gpu = make.gpu(0, power_mw=None, utilization_percent=0, missing={"power_mw": "not supported"})
    (row,) = lines_of(shown(make.snapshot(gpus=[gpu])), Panel.GPUS, 0)
    assert "n/s" in row
    assert " 0%" in row


def test_readings_that_stopped_coming_are_stale(make: Any) -> None:
    """When nothing arrives any more, no value stands there without its age."""
    frame = shown(make.snapshot(), now_s=NOW_S + 12, silent_s=12.0)
    (row,) = lines_of(frame, Panel.GPUS, 0)
    assert "STALE 12s" in row
    assert "no reading for 12s" in frame.lines[0].text


def test_pcie_and_history_give_way_first(make: Any) -> None:
    """100 columns show them, 80 do not; clocks and power stay."""
    wide, narrow = text(shown(make.trouble(), 100)), text(shown(make.trouble(), 80))
    assert "PCIe" in wide and "LAST 2 MIN" in wide
    assert "PCIe" not in narrow and "LAST" not in narrow
    assert "POWER" in narrow and "CLOCK" in narrow


@pytest.mark.parametrize(("width", "height"), [(80, 24), (100, 30), (140, 50), (300, 100)])
def test_what_to_do_is_on_the_screen(make: Any, width: int, height: int) -> None:
    """Severity by glyph and word, kind, GPU, age, count, cause and what to do."""
    shown_text = " ".join(
        lines_of(shown(make.trouble(), width, height), Panel.INCIDENTS, "GpuLost-5")
    )
    for part in ("✖ critical", "GpuLost", "GPU 5", "42s", "x12", "fell off the bus"):
        assert part in shown_text
    assert "> drain the node and power-cycle it" in shown_text


def test_long_advice_wraps_to_lines_of_its_own(make: Any) -> None:
    """What does not fit beside the cause stands below it."""
    advice = "drain the node, power-cycle it, and have the GPU replaced if it happens again soon"
    incident = make.incident(action_text=advice)
    lines = lines_of(
        shown(make.snapshot(incidents=[incident]), 80, 24), Panel.INCIDENTS, incident.id
    )
    assert "> drain the node" in lines[1]
    assert advice in " ".join(" ".join(lines).replace("▌", " ").split())


def test_the_smallest_screen_shows_incidents_first(make: Any) -> None:
    """At 40x10 the incidents stand above one line for each of the GPUs in trouble."""
    lines = [line.text for line in shown(make.trouble(), 40, 10).lines]
    assert "GpuLost" in lines[1]
    assert "drain the node" in lines[2]
    assert "GpuThermalThrottle" in lines[3]
    assert "LOST 42s" in lines[5]
    assert "+6 more" in "\n".join(lines) or "+5 more" in "\n".join(lines)


def test_many_incidents_scroll_and_are_counted(make: Any) -> None:
    """Sixteen incidents on a short screen: as many as fit, and how many more there are."""
    opened = [make.incident(gpu=i) for i in range(16)]
    frame = shown(make.snapshot(gpus=16, incidents=opened), 40, 10)
    assert sum(target is not None and target[0] is Panel.INCIDENTS for target in frame.targets) >= 4
    assert "more incidents" in text(frame)
    assert "16 incidents" in frame.lines[0].text


def test_a_child_is_counted_under_its_cause(make: Any) -> None:
    """An incident caused by another takes no line of its own."""
    cause = make.incident(children=("GpuXid-5",))
    child = make.incident("GpuXid", parent=cause.id)
    frame = shown(make.snapshot(incidents=[cause, child]))
    assert not lines_of(frame, Panel.INCIDENTS, child.id)
    assert "+1 under it" in text(frame)
    assert "1 incident, 1 critical" in frame.lines[0].text


def test_no_incident_is_said_in_one_line(make: Any) -> None:
    """Nothing wrong is one line; the room goes to the processes."""
    many = [make.process(pid) for pid in range(1, 40)]
    quiet = shown(make.snapshot(processes=many), 80, 24)
    loud = shown(make.trouble(processes=many), 80, 24)
    assert sum("INCIDENTS" in line.text for line in quiet.lines) == 1
    assert "INCIDENTS  none open" in text(quiet)
    assert quiet.page[Panel.PROCESSES] > loud.page[Panel.PROCESSES]


def test_processes_are_sorted_by_memory_and_say_so(make: Any) -> None:
    """The largest comes first; processes whose memory is unknown come last."""
    given_ = [make.process(1, memory_bytes=5), make.process(2, memory_bytes=None), make.process(3)]
    frame = shown(make.snapshot(processes=given_))
    assert frame.order[Panel.PROCESSES] == ((3, 0), (1, 0), (2, 0))
    assert "by memory" in text(frame)
    assert "MEMORY▼" in text(frame)


def test_processes_are_sorted_either_way_with_the_unknown_last(make: Any) -> None:
    """Upwards and downwards; what is not known stands at the end of both, and a mark tells."""
    given_ = [make.process(1, memory_bytes=5), make.process(2, memory_bytes=None), make.process(3)]
    snapshot = make.snapshot(processes=given_)
    down = shown(snapshot, view=View(ascending=False))
    up = shown(snapshot, view=View(ascending=True))
    assert [key[0] for key in down.order[Panel.PROCESSES]] == [3, 1, 2]
    assert [key[0] for key in up.order[Panel.PROCESSES]] == [1, 3, 2]
    assert "MEMORY▼" in text(down) and "MEMORY▲" in text(up)


@pytest.mark.parametrize("sort", list(Sort))
def test_ties_do_not_jump(make: Any, sort: Sort) -> None:
    """Equal processes stand in the order of their PIDs, whatever they are sorted by."""
    given_ = [make.process(pid) for pid in (9, 3, 7, 5)]
    frame = shown(make.snapshot(processes=given_), view=View(sort=sort))
    assert [key[0] for key in frame.order[Panel.PROCESSES]] == [3, 5, 7, 9]


def test_a_filter_says_what_it_hides(make: Any) -> None:
    """Only matching processes are listed, by text in any column, and the total stays in sight."""
    given_ = [make.process(1, user="bob"), make.process(2), make.process(3, command="vllm serve")]
    for wanted, pids in (("BOB", [1]), ("train", [1, 2]), ("serve", [3]), ("gpu 0", [1, 2, 3])):
        frame = shown(make.snapshot(processes=given_), view=View(filter_text=wanted))
        assert sorted(key[0] for key in frame.order[Panel.PROCESSES]) == pids
        assert f"{len(pids)} of 3" in text(frame)


def test_the_job_column_needs_a_job(make: Any) -> None:
    """Where no scheduler is, the column's room goes to the command."""
    assert "JOB" not in text(shown(make.trouble()))
    with_job = make.snapshot(processes=[make.process(1, job="4711")])
    assert "4711" in text(shown(with_job))


def test_a_process_of_another_namespace_is_labelled(make: Any) -> None:
    """In place of a command that cannot be known stands why, and the filter finds it."""
    foreign = make.process(7, command=None, unreachable="host PID, not visible here")
    frame = shown(make.snapshot(processes=[foreign, make.process(8)]))
    (row,) = lines_of(frame, Panel.PROCESSES, (7, 0))
    assert "(host PID, not visible here)" in row
    found = shown(make.snapshot(processes=[foreign]), view=View(filter_text="not visible"))
    assert found.order[Panel.PROCESSES] == ((7, 0),)


def test_an_acknowledged_incident_says_so_and_no_longer_calls(make: Any) -> None:
    """Its line has a word for it, beside its colour; the header counts it calmly."""
    seen = make.incident(acknowledged=True)
    frame = shown(make.snapshot(incidents=[seen]))
    (row,) = lines_of(frame, Panel.INCIDENTS, seen.id)
    assert "x12 ack" in row
    assert "1 incident, 1 critical, acknowledged" in frame.lines[0].text
    assert Role.HEADER_CRITICAL not in {run.role for run in frame.lines[0].runs}


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"snoozed_until_s": NOW_S + 3240}, "x12 snoozed 54m"),
        ({"maintenance": "backups"}, "x12 maint"),
    ],
)
def test_an_incident_that_calls_nobody_says_why(
    make: Any, given: dict[str, Any], word: str
) -> None:
    """Put off by somebody, or expected by the site: it stays on the list, and calmly so."""
    quiet = make.incident(**given)
    for width in (80, 120):
        assert word in text(shown(make.snapshot(incidents=[quiet]), width))
    assert word.replace("snoozed", "snz") in text(shown(make.snapshot(incidents=[quiet]), 40))
    frame = shown(make.snapshot(incidents=[quiet]))
    assert "1 incident, 1 critical, none calls" in frame.lines[0].text
    assert Role.HEADER_CRITICAL not in {run.role for run in frame.lines[0].runs}


def test_what_has_just_passed_is_said(make: Any, changed: Any) -> None:
    """An incident that eases says since when; the last one that is over stands in the title."""
    eased = make.incident(eased_s=NOW_S - 12)
    assert "no longer, for 12s" in text(shown(make.snapshot(incidents=[eased]), 140))
    over = make.incident(cleared_s=NOW_S - 300)
    frame = shown(changed(make.snapshot(), recent=(over, over)))
    assert "none open; GpuLost GPU 5 over for 5m, and 1 more in the last hour" in text(frame)


def test_a_state_older_than_the_monitor_says_at_least(make: Any) -> None:
    """A GPU that was found throttled has been so for at least as long as it was looked at."""
    states = {0: make.status(0, GpuState.THROTTLED, since_start=True)}
    (row,) = lines_of(shown(make.snapshot(states=states), 140), Panel.GPUS, 0)
    assert "THROTTLED 42s+" in row


def test_a_held_picture_says_so(make: Any) -> None:
    """And since when, and that there is something new behind it."""
    scene = {"held": Held(8.0, 0)}
    assert "HELD at" in shown(make.snapshot(), **scene).lines[0].text
    assert "8s ago" in shown(make.snapshot(), **scene).lines[0].text
    late = shown(make.snapshot(), held=Held(8.0, 2))
    assert "2 new incidents" in late.lines[0].text
    assert "+2" in shown(make.snapshot(), 40, 10, held=Held(8.0, 2)).lines[0].text


def test_foreign_text_stays_text(make: Any) -> None:
    """Escape sequences and markup in a command line are shown, not obeyed."""
    nasty = make.process(1, command="\x1b[2J[bold red]x[/]\nrm")
    shown_text = text(shown(make.snapshot(processes=[nasty]), 140))
    assert "\x1b" not in shown_text
    assert "·[2J[bold red]x[/] rm" in shown_text


def test_before_the_first_snapshot_the_wait_is_counted() -> None:
    """The frame stands at once, and says for what it waits, and how long."""
    shown_text = text(shown(None, silent_s=4.0))
    assert "waiting for the driver 4s" in shown_text
    assert "quit" in shown_text
    assert "dmesg" in text(shown(None, silent_s=15.0))


def test_no_driver_is_explained(make: Any) -> None:
    """What was tried and what to do stands where the GPUs would be, wrapped, not cut."""
    error = "NVML not found: tried libnvidia-ml.so.1. Install the driver, or use --gpus all."
    frame = shown(make.snapshot(gpus=[], error=error), 60, 24)
    assert "no GPU can be read" in text(frame)
    assert error in " ".join(text(frame).split())
    assert "no incidents" not in frame.lines[0].text


def test_notices_are_one_line(make: Any) -> None:
    """Remarks on the monitor itself are in sight, and take one line whatever their number."""
    frame = shown(make.snapshot(notices=["the kernel log cannot be read", "second"]), 100)
    assert "the kernel log cannot be read" in frame.lines[1].text
    assert "second" in frame.lines[1].text


def test_gpus_that_do_not_fit_scroll_worst_first(make: Any) -> None:
    """On a screen too short for all GPUs, those in trouble are in sight."""
    states = {15: make.status(15, GpuState.LOST), 9: make.status(9, GpuState.THROTTLED)}
    frame = shown(make.snapshot(gpus=16, states=states), 80, 16)
    assert frame.order[Panel.GPUS][:2] == (15, 9)
    assert "of 16" in text(frame)


def test_the_cursor_starts_where_trouble_is(make: Any) -> None:
    """Enter opens the worst incident when nothing was chosen; without one, a GPU."""
    assert shown(make.trouble()).panel is Panel.INCIDENTS
    assert shown(make.snapshot()).panel is Panel.GPUS
    assert sum(line.selected for line in shown(make.snapshot()).lines) == 1


def test_models_and_counts_are_named(make: Any) -> None:
    """The header tells what is in the node, mixed models too."""
    assert "8x H100 80GB HBM3" in shown(make.snapshot()).lines[0].text
    mixed = [make.gpu(0), make.gpu(1, name="NVIDIA L4")]
    assert "1x H100 80GB HBM3, 1x L4" in shown(make.snapshot(gpus=mixed)).lines[0].text


def test_ascii_screens_are_ascii(make: Any) -> None:
    """Nothing that gputui itself draws needs more than ASCII, and severity keeps its glyph."""
    frame = shown(make.trouble(), glyphs=ASCII)
    assert text(frame).isascii()
    assert "X critical" in text(frame)
    assert "! THROTTLED" in text(frame)
