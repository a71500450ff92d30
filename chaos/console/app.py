"""The screen itself. It asks the game in a thread, so that keys always answer."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, Input, Static

from chaos.console import words
from chaos.console.link import Link
from chaos.console.progress import Progress
from chaos.console.words import Role, Row
from chaos.errors import UsageError

_PERIOD_S = 0.5

_STYLES = {
    Role.PLAIN: Style(),
    Role.DIM: Style(dim=True),
    Role.TITLE: Style(bold=True),
    Role.GOOD: Style(color="green"),
    Role.BAD: Style(color="red", bold=True),
    Role.SOON: Style(color="yellow", bold=True),
}


class ConsoleApp(App[None]):
    """A game in one picture: timeline, deadlines, what is broken, what people did."""

    CSS = """
    #head { height: 3; padding: 0 1; background: $panel; }
    #upper { height: 1fr; }
    #left, #right { width: 1fr; padding: 0 1; }
    #right { width: 2fr; }
    #lower { height: 1fr; padding: 0 1; border-top: solid $panel; }
    #message { height: auto; max-height: 4; padding: 0 1; color: $warning; }
    Input { border: none; height: 1; padding: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "hold", "Pause/go on", priority=True),
        Binding("i", "inject", "Inject", priority=True),
        Binding("h", "heal", "Heal", priority=True),
        Binding("n", "hint", "Hint", priority=True),
        Binding("e", "decide", "Decide now", priority=True),
        Binding("q", "leave", "Quit", priority=True),
        Binding("escape", "close_input", "Close", show=False),
    ]

    def __init__(self, link: Link, *, ends_with_us: bool) -> None:
        super().__init__()
        self._link = link
        self._ends_with_us = ends_with_us
        self._now: Progress | None = None
        self._asked = ""
        self._sure = ""
        self.title = f"gpuchaos console: {link.name}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are letters while something is typed. (They are looked at before a widget gets them,
        so that what is typed behind ``i`` at once is not lost.)
        """
        return action == "close_input" or not isinstance(self.focused, Input)

    def compose(self) -> ComposeResult:
        """Head, timeline and deadlines, the journal, and a line to type in."""
        yield Static(id="head")
        with Horizontal(id="upper"):
            with VerticalScroll(id="left"):
                yield Static(id="plan")
            with VerticalScroll(id="right"):
                yield Static(id="deadlines")
        with VerticalScroll(id="lower"):
            yield Static(id="journal")
        with Vertical():
            yield Static(id="message")
            yield Input(select_on_focus=False)
        yield Footer()

    def on_mount(self) -> None:
        """Look at once, and then twice a second."""
        self.query_one("#message").parent.styles.height = "auto"  # type: ignore[union-attr]
        self.set_focus(None)
        self._look()
        self.set_interval(_PERIOD_S, self._look)

    # --- looking ---------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        try:
            now = self._link.progress()
        except UsageError as error:
            self.call_from_thread(self._say, str(error))
        else:
            self.call_from_thread(self._show, now)

    def _show(self, now: Progress) -> None:
        self._now = now
        head = [words.head(now), (words.Said(now.why),), words.next_step(now, self._link.name)]
        self._fill("#head", "", head)
        faults = [(), (words.Said("BROKEN NOW", Role.DIM),), *words.faults(now)]
        self._fill("#plan", "TIMELINE", [*words.plan(now), *faults])
        self._fill("#deadlines", "DEADLINES", words.deadlines(now))
        self._fill("#journal", "WHAT HAPPENS, NEWEST FIRST", words.journal(now))
        if now.problems:
            self._say("; ".join(now.problems))

    def _fill(self, where: str, title: str, rows: Iterable[Row]) -> None:
        text = Text(no_wrap=where == "#journal", overflow="ellipsis")
        if title:
            text.append(f"{title}\n", _STYLES[Role.DIM])
        lines = [
            Text.assemble(*((said.text, _STYLES[said.role]) for said in row), end="")
            for row in rows
        ]
        text.append_text(Text("\n").join(lines))
        self.query_one(where, Static).update(text)

    def _say(self, sentence: str) -> None:
        self.query_one("#message", Static).update(Text(sentence))

    # --- doing -----------------------------------------------------------------------------------

    def action_hold(self) -> None:
        """Stop the clock, or let it go on."""
        if self._now is not None:
            self._do("resume" if self._now.paused else "pause")

    def action_hint(self) -> None:
        """Ask what is expected next; it costs points."""
        self._do("hint")

    def action_decide(self) -> None:
        """Decide every expectation as it stands; the second time it is meant."""
        if self._is_sure("e", "e again: everything is decided as it stands now"):
            self._do("end")

    def action_inject(self) -> None:
        """Type a fault."""
        self._ask("inject", "fault and arguments, such as: xid gpu=n0/5 code=79")

    def action_heal(self) -> None:
        """Type which fault is healed."""
        self._ask("heal", "id of the fault, or all")

    def action_leave(self) -> None:
        """Leave; a run that this console began ends with it."""
        if not self._ends_with_us or self._is_sure("q", "q again: the game ends with this console"):
            self.exit()

    def action_close_input(self) -> None:
        """Type nothing after all."""
        self.set_focus(None)
        self.query_one(Input).placeholder = ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do what was typed."""
        self.action_close_input()
        try:
            typed = shlex.split(event.value)
        except ValueError as error:
            self._say(f"{event.value}: {error}.")
            return
        event.input.clear()
        if not typed:
            return
        if self._asked == "heal":
            self._do("heal", id=typed[0])
            return
        pairs = [word.partition("=") for word in typed[1:]]
        wrong = next((name for name, equals, _ in pairs if not equals), None)
        if wrong is not None:
            self._say(f"'{wrong}' is not KEY=VALUE.")
            return
        arguments = {name: value for name, _, value in pairs}
        self._do("inject", fault=typed[0], arguments=arguments)

    def _ask(self, what: str, example: str) -> None:
        self._asked = what
        line = self.query_one(Input)
        line.placeholder = f"{what}: {example}"
        self.set_focus(line)  # now: the next key may be part of what is typed already

    def _is_sure(self, key: str, sentence: str) -> bool:
        sure, self._sure = self._sure == key, key
        self._say("" if sure else sentence)
        return sure

    @work(thread=True, group="do")
    def _do(self, what: str, **more: Any) -> None:
        try:
            reply = self._link.do(what, **more)
        except UsageError as error:
            self.call_from_thread(self._say, str(error))
            return
        said = str(reply.get("hint") or "")
        if "id" in reply:
            said = f"broken: {reply['id']}"
        elif "healed" in reply:
            said = f"healed: {', '.join(reply['healed']) or 'nothing was broken'}"
        self.call_from_thread(self._say, said)
        self.call_from_thread(self._look)
