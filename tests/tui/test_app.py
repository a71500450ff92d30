"""The running screen, driven by keys and snapshots."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from textual.pilot import Pilot

from gputui.actions import ActionResult, Outcome
from gputui.model import GpuState, HostSample, LinkSample, ProcessSample
from gputui.sources.playback import Playback
from gputui.tui.acting import Acting
from gputui.tui.panels.header import header
from gputui.tui.scene import Scene
from gputui.tui.screens.main import MainScreen
from gputui.tui.view import Panel


async def until(true: Callable[[], object], pilot: Pilot[None], timeout_s: float = 10.0) -> None:
    """Let the screen work until a condition holds."""
    for _ in range(int(timeout_s / 0.05)):
        if true():
            return
        await pilot.pause(0.05)
    raise AssertionError("waited in vain")


async def test_rows_and_states_are_shown(make: Any, screenful: Any) -> None:
    """A snapshot becomes rows with their states, and the header counts the incidents."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        assert "waiting for the driver" in screen.text()
        screen.source.feed(make.trouble())
        await pilot.pause()
        assert "93%" in screen.line(" 0 ")
        assert "THROTTLED" in screen.text()
        assert "LOST 42s" in screen.text()
        assert "2 incidents, 1 critical" in screen.text()


async def test_an_incident_appears_with_what_to_do(make: Any, screenful: Any) -> None:
    """A healthy node that runs into trouble shows the incident and its advice."""
    screen = screenful()
    async with screen.app.run_test(size=(80, 24)) as pilot:
        screen.source.feed(make.snapshot())
        await pilot.pause()
        assert "none open" in screen.text()
        screen.source.feed(make.trouble(time_s=make.now_s + 1))
        await pilot.pause()
        assert "GpuLost" in screen.text()
        assert "> drain the node and power-cycle it" in screen.text()


async def test_ages_count_without_new_samples_and_cheaply(
    make: Any, screenful: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nothing arrives any more, ages still count; only the cells concerned are repainted."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        canvas = screen.app.screen.canvas
        repainted: list[tuple[int, int, int]] = []
        monkeypatch.setattr(
            "gputui.tui.widgets.canvas.paint", lambda _, spans: repainted.extend(spans) or True
        )
        await until(lambda: "LOST 44s" in screen.text(), pilot)
        aged = {y for y, line in enumerate(canvas.lines) if "44s" in line.text}
    assert aged <= {y for y, _, _ in repainted} <= {0} | aged
    assert sum(end - start for _, start, end in repainted) < 60


async def test_silence_makes_everything_stale(make: Any, screenful: Any) -> None:
    """A monitor that stops talking does not leave old values standing as if they were new."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.snapshot())
        await pilot.pause()
        assert "STALE" not in screen.text()
        await until(lambda: "STALE" in screen.text(), pilot)
        assert "no reading for" in screen.text()


async def test_the_newest_of_many_snapshots_is_shown(make: Any, screenful: Any) -> None:
    """A burst from the monitor's thread does not queue up: the last one stands."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:

        def burst() -> None:
            for percent in range(100):
                gpus = [make.gpu(0, utilization_percent=percent)]
                screen.source.feed(make.snapshot(gpus=gpus, time_s=make.now_s + percent))

        thread = threading.Thread(target=burst)
        thread.start()
        await until(lambda: "99%" in screen.text(), pilot)
        thread.join()


async def test_s_sorts_and_slash_filters(make: Any, screenful: Any) -> None:
    """``s`` goes round the orders; ``/`` filters as it is typed; Esc shows all again."""
    screen = screenful()
    processes = [make.process(10, sm_percent=1), make.process(20, memory_bytes=5, user="bob")]
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.snapshot(processes=processes))
        await pilot.pause()
        order = lambda: [key[0] for key in screen.app.screen.frame.order[Panel.PROCESSES]]  # noqa: E731
        assert order() == [10, 20]
        await pilot.press("s")
        assert "by SM %" in screen.text()
        assert order() == [20, 10]
        await pilot.press("slash", "b", "o", "q", "backspace")
        await pilot.pause()
        assert "/bo" in screen.text()
        assert order() == [20]
        await pilot.press("b", "enter")
        assert "1 of 2" in screen.text()
        await pilot.press("escape")
        await pilot.pause()
        assert len(order()) == 2


async def test_letters_of_the_filter_are_no_commands(make: Any, screenful: Any) -> None:
    """While the filter is typed, ``q`` is a letter; a filter typed at once loses no key."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.press("/", "q", "s", "?")
        await pilot.pause()
        assert screen.app.screen.view.filter_text == "qs?"
        assert screen.app.is_running


async def test_enter_opens_the_evidence_and_esc_closes_it(make: Any, screenful: Any) -> None:
    """Enter on an incident shows its evidence and stays up to date; Esc goes back."""
    screen = screenful()
    async with screen.app.run_test(size=(80, 24)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("enter")
        await until(lambda: "EVIDENCE" in screen.text(), pilot)
        assert "GPU has fallen off the bus" in screen.text()
        assert "seen          12 times" in screen.text()
        later = make.trouble(incidents=[make.incident(count=13)], time_s=make.now_s + 1)
        screen.source.feed(later)
        await until(lambda: "13 times" in screen.text(), pilot)
        await pilot.press("escape")
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)
        assert "x13" in screen.text()


async def test_tab_and_arrows_choose_what_enter_opens(make: Any, screenful: Any) -> None:
    """Tab goes round the lists, arrows and j, k move; the chosen row is followed, not its place."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        main = screen.app.screen
        assert (main.frame.panel, main.frame.cursors[Panel.INCIDENTS]) == (
            Panel.INCIDENTS,
            "GpuLost-5",
        )
        await pilot.press("tab", "down", "j", "k")
        assert main.frame.cursors[Panel.PROCESSES] == (4002, 1)
        growing = [make.process(4001 + i, i, memory_bytes=(1 + i) << 30) for i in range(8)]
        screen.source.feed(make.trouble(processes=growing, time_s=make.now_s + 1))
        await pilot.pause()
        assert main.frame.cursors[Panel.PROCESSES] == (4002, 1)
        await pilot.press("tab", "end")
        assert main.frame.cursors[Panel.GPUS] == 7
        await pilot.press("enter")
        await until(lambda: "UTILIZATION" in screen.text(), pilot)
        assert "GPU-00000007" in screen.text()


async def test_a_long_list_scrolls_with_the_cursor(make: Any, screenful: Any) -> None:
    """Two hundred processes: End shows the last, Page Up goes back by a page."""
    screen = screenful()
    many = [make.process(1000 + i, memory_bytes=(300 - i) << 30) for i in range(200)]
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.snapshot(processes=many))
        await pilot.press("tab", "end")
        await pilot.pause()
        assert "1199" in screen.text()
        assert "of 200" in screen.text()
        await pilot.press("pageup", "pageup")
        assert "1199" not in screen.text()


async def test_a_click_chooses_and_two_open(make: Any, screenful: Any) -> None:
    """The mouse does what the keys do."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        main = screen.app.screen
        row = main.frame.targets.index((Panel.GPUS, 3))
        await pilot.click(offset=(10, row))
        assert main.frame.panel is Panel.GPUS
        assert main.frame.cursors[Panel.GPUS] == 3
        await pilot.double_click(offset=(10, row))
        await until(lambda: "UTILIZATION" in screen.text(), pilot)


async def test_help_explains_and_closes(make: Any, screenful: Any) -> None:
    """``?`` opens one page of help, however often it is pressed, and Esc closes it."""
    screen = screenful()
    async with screen.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark", "question_mark", "h")
        await until(lambda: "KEYS" in screen.text(), pilot)
        await pilot.press("escape")
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)


@pytest.mark.parametrize("key", ["q", "ctrl+c", "f10"])
async def test_the_screen_can_be_left(make: Any, screenful: Any, key: str) -> None:
    """``q``, its twin and Ctrl-C end the program, from the main screen and from a page."""
    screen = screenful()
    async with screen.app.run_test(size=(80, 24)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        assert screen.app._exit


@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.long)])
async def test_every_size_on_the_way_is_a_whole_screen(
    make: Any, screenful: Any, count: int
) -> None:
    """Sizes from 40x10 to 300x100, keys and snapshots between them: every screen is whole."""
    screen = screenful()
    async with screen.app.run_test(size=(80, 24)) as pilot:
        for step in range(count):
            width, height = 40 + step * 37 % 261, 10 + step * 23 % 91
            await pilot.resize_terminal(width, height)
            if step % 10 == 0:
                screen.source.feed(make.trouble(time_s=make.now_s + step))
            if step % 25 == 0:
                await pilot.press("tab", "down")
            canvas = screen.app.screen.canvas
            await until(lambda: canvas.size == (width, height), pilot)  # noqa: B023
            assert [line.width for line in canvas.lines] == [width] * height
        assert "GpuLost" in screen.text()


async def test_a_gpu_that_appears_or_goes_is_no_surprise(make: Any, screenful: Any) -> None:
    """The number of GPUs may change between snapshots, down to none with an error and back."""
    screen = screenful()
    error = make.snapshot(gpus=[], error="the NVIDIA driver is not loaded")
    async with screen.app.run_test(size=(100, 30)) as pilot:
        for step, snapshot in enumerate(
            [make.snapshot(gpus=2), make.snapshot(gpus=16), error, make.snapshot(gpus=8)]
        ):
            moved = replace(snapshot, sample=replace(snapshot.sample, time_s=make.now_s + step))
            screen.source.feed(moved)
            await pilot.press("down", "enter", "escape")
            await pilot.pause()
            if snapshot is error:
                assert "not loaded" in screen.text()
        await until(lambda: "8x H100" in screen.text(), pilot)


async def test_a_lost_gpu_leaves_a_gap_in_its_history(make: Any, screenful: Any) -> None:
    """The last value of a GPU that fell silent does not go on being drawn."""
    screen = screenful()
    lost = {0: make.status(0, GpuState.LOST, age_s=5.0)}
    async with screen.app.run_test(size=(100, 30)) as pilot:
        for step in range(4):
            screen.source.feed(make.snapshot(gpus=1, time_s=make.now_s + 6 * step))
            await pilot.pause()
        for step in range(4, 8):
            at_s = make.now_s + 6 * step
            screen.source.feed(make.snapshot(gpus=1, states=lost, time_s=at_s))
            await pilot.pause()
        picture = screen.line("LOST").rstrip()
        assert "⣿" in picture
        assert len(picture) < 98


async def test_the_source_is_started_once(screenful: Any) -> None:
    """Listening begins when the screen is up."""
    screen = screenful()
    assert screen.source.on_snapshot is None
    async with screen.app.run_test(size=(80, 24)):
        await asyncio.sleep(0)
        assert screen.source.on_snapshot is not None


async def test_a_acknowledges_the_chosen_incident(make: Any, screenful: Any) -> None:
    """On the main screen and on its page; elsewhere it says what to do first."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("a")
        assert screen.source.acknowledged == ["GpuLost-5"]
        await pilot.press("down", "enter")
        await until(lambda: "EVIDENCE" in screen.text(), pilot)
        await pilot.press("a", "escape")
        assert screen.source.acknowledged == ["GpuLost-5", "GpuThermalThrottle-3"]
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)
        await pilot.press("tab", "a")
        assert "Choose an incident first" in screen.text()
        await pilot.press("j")
        assert "Choose an incident first" not in screen.text()


async def test_z_snoozes_the_chosen_incident_and_wakes_it(make: Any, screenful: Any) -> None:
    """For an hour, or eight; again, and it calls again. The page of the incident does it too."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("z", "Z")
        assert screen.source.snoozed == [("GpuLost-5", 3600.0), ("GpuLost-5", 28800.0)]
        asleep = make.incident(snoozed_until_s=make.now_s + 3270)
        screen.source.feed(make.trouble(incidents=[asleep]))
        await until(lambda: "snoozed 54m" in screen.text(), pilot)
        await pilot.press("enter")
        await until(lambda: "until it gets worse" in screen.text(), pilot)
        await pilot.press("z")
        assert screen.source.snoozed[-1] == ("GpuLost-5", 0.0)


async def test_g_shows_the_graphs_of_the_gpu_that_a_row_is_about(make: Any, screenful: Any) -> None:
    """Of an incident's GPU, and of a process's; of what is about no GPU it says so."""
    screen = screenful()
    node = make.incident("NodeRebooted", gpu=None, subject="node:node-a")
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("g")
        await until(lambda: "UTILIZATION" in screen.text(), pilot)
        assert screen.text().splitlines()[1].startswith(" GPU 5")
        await pilot.press("escape")
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)
        await pilot.press("tab", "down", "down", "g")
        await until(lambda: screen.text().splitlines()[1].startswith(" GPU 2"), pilot)
        await pilot.press("escape")
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)
        screen.source.feed(make.snapshot(incidents=[node], time_s=make.now_s + 1))
        await pilot.pause()
        await pilot.press("tab", "tab", "g")
        assert "about no single GPU" in screen.text()


async def test_n_shows_what_is_around_the_gpus(make: Any, screenful: Any) -> None:
    """Host, links and connections in full."""
    screen = screenful()
    link = LinkSample("mlx5_3/1", "infiniband", "down", counters={"symbol_error": 12})
    snapshot = make.around(make.snapshot(), host_readings=HostSample(load_1m=3.5), links=(link,))
    async with screen.app.run_test(size=(100, 40)) as pilot:
        screen.source.feed(snapshot)
        await pilot.pause()
        await pilot.press("n")
        await until(lambda: "LINKS" in screen.text(), pilot)
        for part in ("3.5", "mlx5_3/1", "down", "symbol_error 12", "not read"):
            assert part in screen.text()


@pytest.mark.parametrize(
    ("keys", "pids"),
    [
        (["s", "comma", "comma"], [10, 20]),
        (["full_stop"], [20, 10]),
        (["plus"], [20, 10]),
        (["plus", "minus"], [10, 20]),
        (["o", "n"], [10, 20]),
        (["o", "s"], [20, 10]),
        (["o", "s", "plus"], [10, 20]),
        (["o", "q"], [10, 20]),
    ],
)
async def test_nvtop_s_and_nvitop_s_keys_sort(
    make: Any, screenful: Any, keys: list[str], pids: list[int]
) -> None:
    """``+`` and ``-`` choose the direction, ``o`` and a letter the column, ``,`` and ``.`` step."""
    screen = screenful()
    processes = [make.process(10, sm_percent=1), make.process(20, memory_bytes=5)]
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.snapshot(processes=processes))
        await pilot.pause()
        await pilot.press(*keys)
        await pilot.pause()
        assert [key[0] for key in screen.app.screen.frame.order[Panel.PROCESSES]] == pids
        assert screen.app.is_running


async def test_space_holds_the_picture(make: Any, screenful: Any) -> None:
    """What comes meanwhile is not shown, but counted; another Space shows it."""
    screen = screenful()
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.snapshot())
        await pilot.pause()
        await pilot.press("space")
        screen.source.feed(make.trouble(time_s=make.now_s + 5))
        await until(lambda: "2 new incidents" in screen.text(), pilot)
        assert "GpuLost" not in screen.text()
        await pilot.press("space")
        await pilot.pause()
        assert "GpuLost" in screen.text()


@dataclass(frozen=True)
class Pretending(Acting):
    """Sends nothing, and remembers what it was asked for."""

    sent: list[tuple[int, str]] = field(default_factory=list)

    def end(self, process: ProcessSample, number: signal.Signals) -> ActionResult:
        if not self.allowed:
            return super().end(process, number)
        self.sent.append((process.pid, number.name))
        return ActionResult(Outcome.SENT, f"Sent {number.name} to {process.pid}.")


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (["T", "y"], [(4002, "SIGTERM")]),
        (["f9", "y"], [(4002, "SIGTERM")]),
        (["K", "y", "y"], [(4002, "SIGKILL")]),
        (["I", "y"], [(4002, "SIGINT")]),
        (["T", "K", "y"], [(4002, "SIGKILL")]),
        (["T", "enter", "x", "escape", "y"], []),
        (["enter", "T", "y"], [(4002, "SIGTERM")]),
    ],
)
async def test_a_process_is_sent_a_signal_only_after_a_yes(
    make: Any, screenful: Any, keys: list[str], sent: list[tuple[int, str]]
) -> None:
    """Nvitop's letters and nvtop's F9 ask; ``y`` alone answers, once; what was done is told."""
    acting = Pretending(allowed=True)
    screen = screenful(acting=acting)
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("tab", "down")
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.1)
        assert acting.sent == sent
        if sent:
            assert f"Sent {sent[0][1]} to 4002." in screen.text()


async def test_ending_is_off_until_allowed(make: Any, screenful: Any) -> None:
    """It says so, and how to allow it; no key sends anything."""
    screen = screenful(acting=Pretending())
    async with screen.app.run_test(size=(100, 30)) as pilot:
        screen.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("K")
        assert "Choose a process first" in screen.text()
        await pilot.press("tab", "K")
        await until(lambda: "--allow-actions" in screen.text(), pilot)
        await pilot.press("y")
        await pilot.pause(0.1)
        assert "Sent" not in screen.text()
        await pilot.press("escape")
        await until(lambda: isinstance(screen.app.screen, MainScreen), pilot)


# ----------------------------------------------------------------------- moving in time


async def test_keys_move_in_time(make: Any, screenful: Any) -> None:
    """Back by readings, forward again, and on; the header says which moment it is."""
    shown = screenful()
    async with shown.app.run_test(size=(120, 30)) as pilot:
        for second in range(100):
            gpu = make.gpu(0, utilization_percent=second)
            shown.source.feed(make.snapshot(gpus=[gpu], time_s=make.now_s + second))
        await pilot.pause()
        assert " 99%" in shown.text()
        await pilot.press("]")
        assert " 99%" in shown.text()
        assert "HELD" not in shown.text()
        await pilot.press("[", "left")
        assert " 97%" in shown.text()
        assert "HELD at" in shown.line("node-a")
        assert "2s ago" in shown.line("node-a")
        assert "Space go on" in shown.text().splitlines()[-1]
        await pilot.press("{")
        assert " 37%" in shown.text()
        await pilot.press("right", "}")
        assert " 98%" in shown.text()
        await pilot.press("space")
        assert " 99%" in shown.text()
        assert "HELD" not in shown.text()


async def test_what_is_past_is_not_acted_upon(make: Any, screenful: Any) -> None:
    """A process of a while ago may have ended, and somebody else have its number."""
    shown = screenful(acting=Acting(allowed=True))
    async with shown.app.run_test(size=(120, 30)) as pilot:
        for second in range(3):
            processes = [make.process(4001)]
            shown.source.feed(make.snapshot(processes=processes, time_s=make.now_s + second))
        await pilot.pause()
        await pilot.press("[", "tab", "T")
        assert "Space goes back to now" in shown.text()


async def test_a_recording_is_told_as_one_and_obeys_keys(make: Any, screenful: Any) -> None:
    """REPLAY, its place and its speed are in the header; keys turn the recording's own knobs."""
    playback = Playback(end_s=600.0)
    shown = screenful(playback=playback)
    async with shown.app.run_test(size=(140, 30)) as pilot:
        for second in range(3):
            shown.source.feed(make.snapshot(time_s=make.now_s + second))
            playback.is_due(float(second), 0.0, is_reading=True)
        await pilot.pause()
        assert "REPLAY" in shown.line("node-a")
        assert "of 10:00  1x" in shown.line("node-a")
        await pilot.press(">", ">")
        assert "4x" in shown.line("node-a")
        await pilot.press("space")
        assert playback.state.is_paused
        assert "paused" in shown.line("node-a")
        await pilot.press("space")
        assert not playback.state.is_paused
        await pilot.press("[")
        assert playback.state.is_paused
        await pilot.press("{")
        assert playback.take_wanted() == 0.0
    for width in (40, 60, 80, 100, 300):
        scene = Scene(make.trouble(), now_s=make.now_s, playback=playback.state)
        assert "REPLAY" in header(scene, width).text


async def test_a_live_screen_has_no_speed(make: Any, screenful: Any) -> None:
    """The key says so."""
    shown = screenful()
    async with shown.app.run_test(size=(100, 30)) as pilot:
        shown.source.feed(make.snapshot())
        await pilot.pause()
        await pilot.press(">")
        assert "Only a recording has a speed" in shown.text()


async def test_a_key_opens_what_is_to_be_done(make: Any, screenful: Any) -> None:
    """About the chosen incident, or the GPU of the chosen row; where there is nothing, that."""
    shown = screenful()
    async with shown.app.run_test(size=(100, 40)) as pilot:
        shown.source.feed(make.trouble())
        await pilot.pause()
        await pilot.press("r")
        assert "what to do    drain the node" in shown.text()
        await pilot.press("escape", "shift+tab", "home", "down", "down", "down", "r")
        assert "what to do    cap its power" in shown.text()
        await pilot.press("escape", "down", "r")
        assert "GPU 4 has no open incident" in shown.text()
