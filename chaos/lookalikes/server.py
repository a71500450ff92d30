"""The socket that a node's look-alikes call: each connection is one call.

Served by the simulator's loop, as the control socket is. A call whose program has gone (it was
killed, or its output is not wanted any more) is ended where it waits.

Where there is a line to wait in (waiting_line.py), nobody goes on by what comes in: a call begins
when all is at rest, and whatever lets a program go on, its answer, the end of its sleep, is a step
of the line.
"""

from __future__ import annotations

import contextlib
import pwd
import selectors
import shlex
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from chaos.lookalikes.clock_page import ClockPage
from chaos.lookalikes.sleepers import Sleepers, sleep_of
from chaos.lookalikes.under_way import Scene, UnderWay
from chaos.lookalikes.waiting_line import Place, Step, WaitingLine, in_order
from chaos.lookalikes.wire import (
    Inbox,
    WireError,
    exit_message,
    message,
    request_of,
    status_of,
    thread_of,
)
from fakes.commands.registry import NOT_UNDERSTOOD, commands
from fakes.nvml.answer import FOREVER_US

SOCKET = "commands.sock"

_CONNECTIONS = 512
_CREDENTIALS = struct.Struct("3i")  # SO_PEERCRED: PID, user, group
_CHUNK = 65536


@dataclass(eq=False, slots=True)
class _Caller:
    """A connection, what it has sent of its call, and the call once it is complete."""

    connection: socket.socket
    inbox: Inbox = field(default_factory=Inbox)
    parts: dict[bytes, bytes] = field(default_factory=dict)
    call: UnderWay | None = None
    pid: int = 0
    thread: int = 0
    shown: bool = False
    """Whether what the call changed can be seen by others, so that it may return."""
    is_in_line: bool = False
    """Whether what it has to say is a step of the line by now."""

    @property
    def place(self) -> Place:
        """Who it is."""
        return Place(self.pid, self.thread, self.call.words if self.call else ())


class CommandServer:
    """Takes the calls of one node.

    ``directory`` is the node's; ``users`` are names by number, where the system's are not meant.
    ``note`` gets a sentence on each call that was not understood; ``told`` every call, when it
    begins and when it returns. Where there is a ``line``, each waits until :meth:`begin_held`, and
    then for as long as its command takes on the run's clock; ``page`` shows programs that clock.
    """

    def __init__(
        self,
        directory: Path,
        scene: Scene,
        users: Mapping[int, str],
        note: Callable[[str], None],
        *,
        told: Callable[[UnderWay], None] | None = None,
        line: WaitingLine | None = None,
        page: ClockPage | None = None,
    ) -> None:
        self._scene = scene
        self._users = users
        self._note = note
        self._told = told
        self._line = line
        self._held: list[_Caller] = []
        self._page = page
        self._sleepers = Sleepers[_Caller]()
        self._callers: set[_Caller] = set()
        self._changed = False
        self._selector: selectors.BaseSelector | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.setblocking(False)
        self._listener.bind(str(directory / SOCKET))
        (directory / SOCKET).chmod(0o666)  # the directory lets in whom it concerns
        self._listener.listen(_CONNECTIONS)

    # --- the loop's side -------------------------------------------------------------------------

    def register(self, selector: selectors.BaseSelector) -> None:
        """Be served by ``selector``: the ``data`` of its ready keys is to be called."""
        self._selector = selector
        self._sleepers.serve(selector)
        selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def unregister(self) -> None:
        """Be served no longer: every call ends."""
        for caller in tuple(self._callers):
            self._hang_up(caller)
        if self._selector is not None:
            self._sleepers.serve(None)
            self._selector.unregister(self._listener)
            self._selector = None

    def close(self) -> None:
        """End."""
        self.unregister()
        self._listener.close()
        if self._page is not None:
            self._page.close()

    def next_due_us(self) -> int:
        """When, on the run's clock, a waiting call goes on, or somebody who sleeps."""
        calls = (caller.call for caller in self._callers)
        calls_us = (call.until_us for call in calls if call and not call.ended)
        return min(self._sleepers.next_due_us(), *calls_us, FOREVER_US)

    @property
    def parked(self) -> int:
        """How many calls are under way, or sleep: each waits for the run's clock, or for what
        happens.
        """
        calls = sum(1 for one in self._callers if one.call and not one.call.ended)
        return calls + self._sleepers.waiting

    @property
    def has_changed(self) -> bool:
        """Whether a call has changed the world since :meth:`advance` last told so."""
        return self._changed

    def begin_held(self, at_us: int) -> bool:
        """Let the calls that came since the last time begin, in order; whether any did."""
        if not self._held:
            return False
        came, self._held = [one for one in self._held if one in self._callers], []
        for caller in _sorted(came):
            call = caller.call
            if call is None:
                continue
            if self._told is not None:
                self._told(call)
            call.until_us = at_us + call.latency_us
        return True

    def advance(self, at_us: int, *, happened: bool) -> bool:
        """Let every call go on that can; whether one has changed the world since this was asked."""
        if self._page is not None:
            self._page.show(at_us)
        for alarm in self._sleepers.alarms_due(at_us):
            self._soon(alarm)
        for sleeper in _sorted(self._sleepers.woken(at_us)):
            self._soon(partial(self._wake, sleeper, b"z"))
        due = [
            one
            for one in self._callers
            if one.call and not one.call.ended and one.call.is_due(at_us, happened=happened)
        ]
        for caller in _sorted(due):
            if caller.call and not caller.call.ended:
                self._go_on(caller, caller.call)
        changed, self._changed = self._changed, False
        return changed

    def settle(self) -> None:
        """What was changed can be seen now: let the calls that did it return."""
        shown = [one for one in self._callers if one.call and one.call.ended and not one.shown]
        for caller in _sorted(shown):
            caller.shown = True
            self._report(caller)

    # --- the callers' side -----------------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection, _ = self._listener.accept()
            if self._selector is None or len(self._callers) >= _CONNECTIONS:
                connection.close()
                return
            connection.setblocking(False)
            caller = _Caller(connection, pid=_peer(connection)[0])
            self._callers.add(caller)
            self._selector.register(connection, selectors.EVENT_READ, partial(self._serve, caller))

    def _serve(self, caller: _Caller) -> None:
        """A connection is ready: for what has come, and for what is still to be sent."""
        if caller not in self._callers:
            return  # hung up on since it became ready
        try:
            received = caller.connection.recv(_CHUNK)
        except BlockingIOError:
            self._send(caller)
            return
        except ConnectionError:
            received = b""
        if not received:
            self._hang_up(caller)
            return
        try:
            for letter, content in caller.inbox.feed(received):
                self._take(caller, letter, content)
        except WireError:
            self._hang_up(caller)

    def _take(self, caller: _Caller, letter: bytes, content: bytes) -> None:
        if letter in (b"i", b"c") and caller.call:
            bring = partial(self._bring, caller, caller.call, letter, content)
            if self._line is None:
                bring()
            else:
                self._line.come(caller.place, bring)
        elif letter == b"g" and caller.call is None:
            self._begin(caller)
        elif letter in (b"z", b"t", b"n") and self._page is not None:
            self._park(caller, letter, content)
        else:
            caller.parts[letter] = content

    def _bring(self, caller: _Caller, call: UnderWay, letter: bytes, content: bytes) -> bool:
        """A call gets what it asked for; whether its program goes on at once."""
        if call.ended:
            return False
        if letter == b"i":
            call.take_input(content)
        else:
            call.take_end(status_of(content))
        self._go_on(caller, call)
        return self._line is None

    def _begin(self, caller: _Caller) -> None:
        request = request_of(caller.parts)
        names = (Path(request.program).name, Path(request.file).name)
        command = next((commands()[name] for name in names if name in commands()), None)
        if command is None:
            words = shlex.join([request.program, *request.argv])
            self._note(f"a call was not understood: {words} (no look-alike is known by this name).")
            said = message(b"p", f"{request.program}: there is no such look-alike\n".encode())
            with contextlib.suppress(OSError):
                caller.connection.send(said + exit_message(NOT_UNDERSTOOD))
            self._hang_up(caller)
            return
        user = self._user_of(caller.connection)
        caller.call = UnderWay(command, request, user, self._scene, caller.pid)
        if self._line is not None:
            caller.call.until_us = FOREVER_US
            self._held.append(caller)
            return
        if self._told is not None:
            self._told(caller.call)
        self._go_on(caller, caller.call)

    def _park(self, caller: _Caller, letter: bytes, content: bytes) -> None:
        """A program waits without calling a command."""
        now_us = self._scene.now_us()
        try:
            if letter == b"n":
                caller.thread = thread_of(content)
                wake = partial(self._wake, caller, letter)
                if self._line is None:
                    wake()
                else:
                    self._line.be_born(caller.place, wake)
                return
            if letter == b"z":
                for_us, caller.thread = sleep_of(content)
                self._sleepers.sleep(caller, caller.pid, now_us, for_us)
                return
            before = self._sleepers.set_alarm(caller.pid, now_us, content)
        except struct.error as error:
            raise WireError(f"no time: {error}") from error
        with contextlib.suppress(OSError):
            caller.connection.send(message(b"t", before))

    def _soon(self, step: Step) -> None:
        """Let somebody go on: now, or when it is their turn."""
        if self._line is None:
            step()
        else:
            self._line.add(step)

    def _wake(self, caller: _Caller, letter: bytes) -> bool:
        if caller not in self._callers:
            return False
        with contextlib.suppress(OSError):  # it was killed; its end is read next
            caller.connection.send(message(letter))
        return True

    def _user_of(self, connection: socket.socket) -> str:
        """Whose process is at the other end."""
        _, uid = _peer(connection)
        return self._users.get(uid) or _name_of(uid)

    def _go_on(self, caller: _Caller, call: UnderWay) -> None:
        call.go_on()
        while self._line is not None and not call.ended and call.until_us <= self._scene.now_us():
            call.go_on()  # it let others have their turn: in virtual time that would be luck
        if call.ended:
            self._changed = self._changed or call.changed
            caller.shown = not call.changed
            if call.problem:
                self._note(call.problem)
            if self._told is not None:
                self._told(call)
        self._report(caller)

    def _report(self, caller: _Caller) -> None:
        """Send what a call has to say, now or when it is its turn."""
        call = caller.call
        if self._line is None:
            self._send(caller)
        elif not caller.is_in_line and call and (call.unsent or (call.ended and caller.shown)):
            caller.is_in_line = True
            self._line.add(partial(self._speak, caller))

    def _speak(self, caller: _Caller) -> bool:
        """It is a call's turn to send what it has to say; whether it had anything."""
        caller.is_in_line = False
        call = caller.call
        if caller not in self._callers or call is None or (call.ended and not caller.shown):
            return False
        self._send(caller)
        return True

    def _send(self, caller: _Caller) -> None:
        """Send what can be sent; a call that has ended says its last word when it can be shown."""
        call = caller.call
        if call is None or (call.ended and not caller.shown):
            return
        try:
            with contextlib.suppress(BlockingIOError):
                while call.unsent:
                    del call.unsent[: caller.connection.send(call.unsent)]
        except OSError:
            self._hang_up(caller)
            return
        if call.ended and not call.unsent:
            self._hang_up(caller)
        elif self._selector is not None:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if call.unsent else 0)
            key = self._selector.get_key(caller.connection)
            if key.events != events:
                self._selector.modify(caller.connection, events, key.data)

    def _hang_up(self, caller: _Caller) -> None:
        if caller not in self._callers:
            return
        self._callers.discard(caller)
        self._sleepers.forget(caller)
        if caller.call is not None and not caller.call.ended:
            caller.call.end()
        if self._selector is not None:
            self._selector.unregister(caller.connection)
        caller.connection.close()


def _sorted(callers: Iterable[_Caller]) -> list[_Caller]:
    """Those that go on at one moment, in the same order at every run."""
    return in_order([(caller.place, caller) for caller in callers])


def _peer(connection: socket.socket) -> tuple[int, int]:
    """The PID, as we see it, and the user of the process at the other end."""
    facts = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(facts)
    return int(pid), int(uid)


@cache
def _name_of(uid: int) -> str:
    """A user's name on this machine, which takes long to find out; the number, if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
