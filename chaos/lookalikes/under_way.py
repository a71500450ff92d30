"""One call of a look-alike: what its function is given, and how it waits.

The function takes turns with the simulator's loop (turns.py). It gives the turn back when it waits
for the run's clock, for input, or for its output to be read; and when it has been at it for a
while, so that nobody else waits for it.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from chaos.lookalikes.binding import Bindings
from chaos.lookalikes.files import read_as_seen
from chaos.lookalikes.streams import output, standard_input
from chaos.lookalikes.turns import Turns
from chaos.lookalikes.wire import (
    Request,
    exit_message,
    message,
    signal_message,
    user_message,
    words_message,
)
from fakes.commands.registry import NOT_UNDERSTOOD, Command, Meant
from fakes.commands.registry import Call as CommandCall
from fakes.network.remote import ON_NODE
from fakes.node import Node
from fakes.nvml.answer import FOREVER_US, Answer, Call, answer, entries
from fakes.nvml.pending import in_its_time
from fakes.world import World

_SLICE_S = 0.005
_MOST_UNSENT = 256 << 10


@dataclass(frozen=True, slots=True)
class Scene:
    """Where calls happen: a node, its world, the run's clock, and NVML for those who ask it.

    ``look`` lets the world see what programs have done to the node's files.
    """

    node: Node
    world: World
    now_us: Callable[[], int]
    bindings: Bindings
    look: Callable[[], None] = lambda: None


def _elsewhere(scene: Scene, node: str) -> Scene:
    """The scene at another node of the run, if the caller is there by way of a remote shell."""
    if node in scene.world.nodes:
        return replace(scene, node=scene.world.nodes[node])
    return scene


class _Became(Exception):  # noqa: N818
    """The caller is another program now."""


class UnderWay:
    """A call from its beginning to its end.

    ``unsent`` is what it has to say, as messages, its exit status among them when it has ended.
    ``changed`` says that it may have changed the world; ``problem`` is a sentence on a call that
    was not understood. While it waits, ``until_us`` is when it goes on by itself; ``status`` is its
    exit status, None until it has ended.
    """

    def __init__(
        self, command: Command, request: Request, user: str, scene: Scene, pid: int = 0
    ) -> None:
        self.unsent = bytearray()
        self.changed = bool({"node", "world"} & set(command.takes))
        self.problem = ""
        self.until_us = 0
        self.status: int | None = None
        self._on_events = False
        self._on_room = False
        self._command = command
        self._request = request
        self._user = user
        self._pid = pid
        self._scene = _elsewhere(scene, request.env.get(ON_NODE, ""))
        self._input: list[bytes] = []
        self._other: int | None = None
        self._last_error = ""
        self._began_s = 0.0
        self._is_over = False
        self._streams = (output(self._say), output(self._say_error))
        self._in_its_time = in_its_time(self._ask, scene.now_us, self._park)
        self._turns = Turns(self._run)

    @property
    def words(self) -> tuple[str, ...]:
        """The program's name and its arguments, as they were given."""
        return (self._request.program, *self._request.argv)

    @property
    def latency_us(self) -> int:
        """How long a call like this takes on the run's clock."""
        return self._command.latency_us(self._request.argv)

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._turns.ended

    def is_due(self, at_us: int, *, happened: bool) -> bool:
        """Whether it can go on; ``happened``: something may have, that it waits for."""
        return (
            at_us >= self.until_us
            or (happened and self._on_events)
            or (self._on_room and not self._is_full)
        )

    def go_on(self) -> None:
        """Let it go on until it waits again, or ends."""
        self._began_s = time.perf_counter()
        self._turns.resume()

    def take_input(self, content: bytes) -> None:
        """What it asked for; nothing at the end of the input."""
        self._input.append(content)
        self.until_us = 0

    def take_end(self, status: int) -> None:
        """The other program that it had started ended."""
        self._other = status
        self.until_us = 0

    def end(self) -> None:
        """Nobody wants it any more."""
        self._is_over = True
        self._turns.end()

    @property
    def _is_full(self) -> bool:
        return len(self.unsent) >= _MOST_UNSENT

    # --- in the function's thread ----------------------------------------------------------------

    def _run(self) -> None:
        self._scene.look()
        acted = self._scene.node.actions.count
        binding = self._scene.bindings.borrow(self._respond)
        call = self._call(binding.nvml)
        try:
            status = self._command(call)
        except _Became:
            self._is_over, self.status = True, 0
            return
        except Exception as error:
            self._say_error(f"{self._request.program}: our own fault: {error!r}\n".encode())
            status = NOT_UNDERSTOOD
        finally:
            self._scene.bindings.give_back(binding)
        self._flush()
        self.changed = self.changed or self._scene.node.actions.count != acted
        if status == NOT_UNDERSTOOD and not isinstance(status, Meant):
            words = shlex.join([self._request.program, *self._request.argv])
            self.problem = f"a call was not understood: {words} ({self._last_error})."
        self.status = status & 0xFF
        self.unsent += exit_message(self.status)
        self._is_over = True

    def _call(self, nvml: object) -> CommandCall:
        request, scene = self._request, self._scene
        return CommandCall(
            argv=request.argv,
            out=self._streams[0],
            err=self._streams[1],
            node=scene.node,
            world=scene.world,
            nvml=nvml,
            clock=lambda: scene.node.epoch.unix_us(scene.now_us()) / 1e6,
            pause=self._pause,
            become=self._become,
            spawn=self._spawn,
            signal=self._signal,
            change_user=self._change_user,
            program=request.program,
            stdin=standard_input(self._ask_input),
            cwd=request.cwd,
            env=request.env,
            user=self._user,
            columns=request.columns,
            read_file=self._read_file,
        )

    def _read_file(self, path: str) -> str:
        return read_as_seen(self._pid, self._request.cwd, path)

    def _say(self, content: bytes) -> None:
        """Send output. It comes from within a stream, which cannot be flushed meanwhile."""
        if self._is_over:
            return  # a stream that is thrown away with something in it
        self.unsent += message(b"o", content)
        if self._is_full:
            self._on_room = True
            self._wait(FOREVER_US)
            self._on_room = False

    def _say_error(self, content: bytes) -> None:
        if self._is_over:
            return
        self.unsent += message(b"p", content)
        lines = content.decode(errors="replace").splitlines()
        self._last_error = lines[-1] if lines else self._last_error

    def _flush(self) -> None:
        for stream in self._streams:
            stream.flush()

    def _ask_input(self) -> bytes:
        self._flush()
        self.unsent += message(b"r")
        while not self._input:
            self._wait(FOREVER_US)
        return self._input.pop(0)

    def _pause(self, us: int) -> None:
        self._flush()
        until_us = self._scene.now_us() + us
        while self._scene.now_us() < until_us:
            self._wait(until_us)

    def _become(self, words: Sequence[str]) -> NoReturn:
        """The caller becomes another program: that is the end of this call."""
        self._flush()
        self.unsent += words_message(b"b", words)
        raise _Became

    def _spawn(self, words: Sequence[str], for_us: int | None) -> int | None:
        """Run another program, at most for so long; its exit status, None if it still runs.

        Without words, wait on for the one that was started before.
        """
        self._flush()
        if words:
            self._other = None
            self.unsent += words_message(b"s", words)
        until_us = FOREVER_US if for_us is None else self._scene.now_us() + for_us
        while self._other is None and self._scene.now_us() < until_us:
            self._wait(until_us)
        return self._other

    def _signal(self, number: int) -> None:
        """Send the other program a signal."""
        self.unsent += signal_message(number)

    def _change_user(self, user: int, group: int) -> None:
        """Let the caller be another user; only one who is root on this machine too can be."""
        if self._user == "root":
            self.unsent += user_message(user, group)

    def _park(self, until_us: int) -> None:
        """Wait for a moment, or for whatever happens before."""
        self._flush()
        self._on_events = True
        self._wait(until_us)
        self._on_events = False

    def _wait(self, until_us: int) -> None:
        self.until_us = until_us
        self._turns.pause()

    def _respond(self, call: Call) -> Answer:
        """What NVML answers, in its time; in between others get their turn."""
        entry = entries().get(call.function)
        self.changed = self.changed or (entry is not None and entry.changes)
        if time.perf_counter() - self._began_s > _SLICE_S:
            self._wait(0)
        return self._in_its_time(call)

    def _ask(self, call: Call, at_us: int) -> Answer:
        return answer(self._scene.node, call, at_us)
