"""The main screen: keys in, a new view of the same knowledge out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from gputui.tui.acting import Acting
from gputui.tui.frame import Frame, draw
from gputui.tui.glyphs import Glyphs
from gputui.tui.pages import page_of
from gputui.tui.pages.node import node_page
from gputui.tui.pages.writer import PageSource
from gputui.tui.panels.keys import INCIDENT_KEYS, PAGE_KEYS, PROCESS_KEYS, Keys
from gputui.tui.panels.tree import NO_GPU
from gputui.tui.quiet import SNOOZES_S
from gputui.tui.screens.ending import SIGNAL_KEYS, EndingScreen
from gputui.tui.screens.lines import LineScreen
from gputui.tui.screens.page import PageScreen
from gputui.tui.source import SnapshotSource
from gputui.tui.text import Line, clean
from gputui.tui.themes import Theme
from gputui.tui.view import SORT_LETTERS, Key, Panel, Sort, View
from gputui.tui.watch import Watch

_LONGEST_FILTER = 80


class MainScreen(LineScreen):
    """GPUs, incidents and processes. :mod:`gputui.tui.frame` draws them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "turn(-1)", show=False),
        Binding("pagedown", "turn(1)", show=False),
        Binding("home", "move(-100000)", show=False),
        Binding("end", "move(100000)", show=False),
        Binding("tab", "switch(1)", show=False),
        Binding("shift+tab", "switch(-1)", show=False),
        Binding("enter", "open", show=False),
        Binding("a", "acknowledge", show=False),
        *(Binding(key, f"snooze('{key}')", show=False) for key in SNOOZES_S),
        Binding("r", "remedy", show=False),
        Binding("g", "graphs", show=False),
        Binding("n", "node", show=False),
        Binding("t,f5", "tree", show=False),
        Binding("s,f6,full_stop", "sort(1)", show=False),
        Binding("comma", "sort(-1)", show=False),
        Binding("plus", "direct(True)", show=False),
        Binding("minus", "direct(False)", show=False),
        *(Binding(key, f"end('{key}')", show=False) for key in SIGNAL_KEYS),
        Binding("left", "app.step(-1)", show=False),
        Binding("right", "app.step(1)", show=False),
        Binding("escape", "clear_filter", show=False),
    ]

    def __init__(
        self, heard: Watch, theme: Theme, glyphs: Glyphs, source: SnapshotSource, acting: Acting
    ) -> None:
        super().__init__(heard, theme, glyphs)
        self.view = View()
        self._source = source
        self._acting = acting
        self._frame: Frame | None = None

    @property
    def frame(self) -> Frame:
        """The frame that is shown."""
        if self._frame is None:
            self._frame = draw(self.scene(self.view), *self.size)
        return self._frame

    def draw_lines(self, width: int, height: int) -> Sequence[Line]:
        """The frame for what is known now."""
        self._frame = draw(self.scene(self.view), width, height)
        self.view = replace(self.view, offsets=self._frame.offsets)
        return self._frame.lines

    # ------------------------------------------------------------------ choosing

    def action_move(self, rows: int) -> None:
        """Move the cursor within its list, down when positive."""
        panel = self.frame.panel
        order = self.frame.order.get(panel, ())
        if not order:
            return
        position = order.index(self.frame.cursors[panel]) + rows
        self._choose(panel, order[min(max(position, 0), len(order) - 1)])

    def action_turn(self, pages: int) -> None:
        """Move the cursor by as many rows as its list shows."""
        self.action_move(pages * self.frame.page.get(self.frame.panel, 1))

    def action_switch(self, step: int) -> None:
        """Give the cursor to the next list that has rows on the screen."""
        panels = list(Panel)
        start = panels.index(self.frame.panel)
        for distance in range(1, len(panels)):
            panel = panels[(start + step * distance) % len(panels)]
            if self.frame.order.get(panel):
                self.view = replace(self.view, panel=panel)
                break
        self.redraw()

    def _choose(self, panel: Panel, key: Key) -> None:
        self.view = replace(self.view, panel=panel, cursors={**self.view.cursors, panel: key})
        self.redraw()

    # ------------------------------------------------------------------ opening

    def action_open(self) -> None:
        """Open the page of the chosen row."""
        panel = self.frame.panel
        key = self.frame.cursors.get(panel)
        if key is None:
            return
        keys, acts = PAGE_KEYS, dict[str, Callable[[], None]]()
        if panel is Panel.INCIDENTS:
            keys, acts = INCIDENT_KEYS, self._incident_acts(str(key))
        elif panel is Panel.PROCESSES:
            keys = PROCESS_KEYS
            acts = {letter: partial(self.action_end, letter) for letter in SIGNAL_KEYS}
        self._push(page_of(panel, key), keys, acts)

    def action_graphs(self) -> None:
        """Open the page of the GPU that the chosen row is about."""
        gpu = self._gpu()
        if gpu is not None:
            self._push(page_of(Panel.GPUS, gpu))
        else:
            self.say("This is about no single GPU: choose one (Tab goes to the next list).")

    def action_remedy(self) -> None:
        """Open the chosen incident, or the worst one of the GPU that the chosen row is about."""
        if self.frame.panel is Panel.INCIDENTS:
            self.action_open()
            return
        gpu = self._gpu()
        incidents = self.scene().open_incidents()
        found = next((one for one in incidents if one.gpu == gpu), None)
        if gpu is None or found is None:
            whom = "This row" if gpu is None else f"GPU {gpu}"
            self.say(f"{whom} has no open incident: there is nothing to do about it.")
        else:
            page = page_of(Panel.INCIDENTS, found.id)
            self._push(page, INCIDENT_KEYS, self._incident_acts(found.id))

    def _gpu(self) -> int | None:
        """The GPU that the chosen row is about; None where it is about none, or about several."""
        panel = self.frame.panel
        key = self.frame.cursors.get(panel)
        gpu = key if panel is Panel.GPUS else None
        if panel is Panel.INCIDENTS:
            incidents = self.scene().open_incidents()
            gpu = next((one.gpu for one in incidents if one.id == key), None)
        elif isinstance(key, tuple):
            gpu = key[1]
        return gpu if isinstance(gpu, int) and gpu != NO_GPU else None

    def action_node(self) -> None:
        """Open the page of the node."""
        self._push(node_page)

    def _push(
        self,
        source: PageSource,
        keys: Keys = PAGE_KEYS,
        acts: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        page = PageScreen(source, self.heard, self.look, self.glyphs, keys=keys, acts=acts)
        self.app.push_screen(page)

    # ------------------------------------------------------------------- acting

    def _incident_acts(self, incident_id: str) -> dict[str, Callable[[], None]]:
        """The keys of an incident's page."""
        snoozes = {key: partial(self._snooze, incident_id, key) for key in SNOOZES_S}
        return {"a": partial(self._acknowledge, incident_id), **snoozes}

    def action_acknowledge(self) -> None:
        """Somebody has seen the chosen incident."""
        self._with_incident(self._acknowledge)

    def action_snooze(self, key: str) -> None:
        """Let nobody be called for the chosen incident for a while; if so already, end that."""
        self._with_incident(lambda chosen: self._snooze(chosen, key))

    def _with_incident(self, act: Callable[[str], None]) -> None:
        """Act on the incident under the cursor; where there is none, say what to do first."""
        key = self.frame.cursors.get(Panel.INCIDENTS)
        if self.frame.panel is not Panel.INCIDENTS or not isinstance(key, str):
            self.say("Choose an incident first: Tab goes to the next list.")
        else:
            act(key)

    def _acknowledge(self, incident_id: str) -> None:
        if not self._source.acknowledge(incident_id):
            self.say("That incident is over.")

    def _snooze(self, incident_id: str, key: str) -> None:
        incidents = self.scene().open_incidents()
        snoozed = any(one.id == incident_id and one.snoozed_until_s for one in incidents)
        if not self._source.snooze(incident_id, 0.0 if snoozed else SNOOZES_S[key]):
            self.say("That incident is over.")

    def action_end(self, letter: str) -> None:
        """Ask whether the chosen process is to be sent a signal."""
        key = self.frame.cursors.get(Panel.PROCESSES)
        snapshot = self.scene().snapshot
        known = snapshot.sample.processes if snapshot else ()
        process = next((one for one in known if (one.pid, one.gpu) == key), None)
        if self.frame.panel is not Panel.PROCESSES or key is None:
            self.say("Choose a process first: Tab goes to the next list.")
            return
        if process is None:
            self.say("It holds no GPU: choose one of the processes below it.")
            return
        if self.heard.back_s > 0:
            self.say("What is shown is past: Space goes back to now.")
            return
        number = SIGNAL_KEYS[letter]
        self.app.push_screen(
            EndingScreen(process, number, self._acting, self.heard, self.look, self.glyphs)
        )

    def say(self, text: str) -> None:
        """Answer a key on the last line, until the next key."""
        self.view = replace(self.view, said=text)
        self.redraw()

    # ------------------------------------------------------- sorting and filtering

    def action_sort(self, step: int) -> None:
        """Sort the processes by the next column, or by the one before."""
        self._sort(self.view.sort.stepped(step))

    def _sort(self, sort: Sort) -> None:
        self.view = replace(self.view, sort=sort, ascending=None, ordering=False)
        self.redraw()

    def action_tree(self) -> None:
        """Have processes stand below those that started them, or in one list."""
        self.view = replace(self.view, as_tree=not self.view.as_tree)
        self.redraw()

    def action_direct(self, ascending: bool) -> None:
        """The smallest first, or the largest."""
        self.view = replace(self.view, ascending=ascending)
        self.redraw()

    def action_filter(self) -> None:
        """Begin to type the filter."""
        self.view = replace(self.view, typing=True)
        self.redraw()

    def action_clear_filter(self) -> None:
        """Show all processes again."""
        self._filter("", typing=False)

    def _filter(self, text: str, *, typing: bool) -> None:
        panel = Panel.PROCESSES if text else self.view.panel
        text = text[:_LONGEST_FILTER]
        self.view = replace(self.view, panel=panel, filter_text=text, typing=typing)
        self.redraw()

    def on_key(self, event: events.Key) -> None:
        """While the filter is typed, keys are text.

        Its own key is taken here too, not by a binding: a binding acts only after the keys behind
        it have passed the screen, and ``/train`` may arrive at once. The same holds for ``o`` and
        the letter behind it.
        """
        if self.view.said:
            self.say("")
        if self.view.ordering:
            event.stop()
            self._sort(SORT_LETTERS.get(event.key, self.view.sort))
            return
        if not self.view.typing:
            if event.key in ("slash", "f4"):
                event.stop()
                self.action_filter()
            elif event.key == "o":
                event.stop()
                self.view = replace(self.view, ordering=True)
                self.redraw()
            return
        event.stop()
        text = self.view.filter_text
        if event.key == "enter":
            self._filter(text, typing=False)
        elif event.key == "escape":
            self.action_clear_filter()
        elif event.key in ("backspace", "ctrl+h"):
            self._filter(text[:-1], typing=True)
        elif event.key == "ctrl+u":
            self._filter("", typing=True)
        elif event.is_printable and event.character:
            self._filter(text + event.character, typing=True)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text goes into the filter while that is typed."""
        if self.view.typing:
            self._filter(self.view.filter_text + clean(event.text.strip()), typing=True)

    # ------------------------------------------------------------------- mouse

    def on_click(self, event: events.Click) -> None:
        """A click chooses a row; a double click opens it."""
        targets = self.frame.targets
        target = targets[event.y] if 0 <= event.y < len(targets) else None
        if target is None:
            return
        self._choose(*target)
        if event.chain == 2:
            self.action_open()

    def on_mouse_scroll_up(self) -> None:
        """The wheel moves the cursor."""
        self.action_move(-1)

    def on_mouse_scroll_down(self) -> None:
        """The wheel moves the cursor."""
        self.action_move(1)
