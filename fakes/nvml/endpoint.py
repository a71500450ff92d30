"""A node's NVML for other programs: the library, the page and the socket in one directory.

One thread serves everything: the simulator's loop owns a selector, and calls what it finds in a
ready key's ``data``::

    endpoint = Endpoint(directory, answer, now_us=clock.now_us)
    endpoint.register(selector)
    while running:
        for key, _ in selector.select(0.1):
            key.data()
        endpoint.publish(clock.now_us(), happened=False)

Programs find the library by ``LD_LIBRARY_PATH=directory``, or by whatever binds it over the
system's. What they read is the moment of the last publication, from page and socket alike, so that
two programs at one generation agree. What acts on the node (a setter) happens now, and is published
before it returns.

A client is a process, which the kernel names by its PID. It is gone when the last connection that
it opened is closed everywhere: by itself, and by the children that inherited it. Then what it held
is freed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import selectors
import shutil
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fakes.nvml.answer import FOREVER_US, INIT_CALL, Answer, Call
from fakes.nvml.codes import Code
from fakes.nvml.holdings import Holdings
from fakes.nvml.page import INIT_BLOCKS, Page
from fakes.nvml.pending import Pending
from fakes.nvml.shim.build import require
from fakes.nvml.slots import Slots
from fakes.nvml.wire import MESSAGE_LIMIT, MalformedRequestError, decode, encode

LIBRARY_NAMES = ("libnvidia-ml.so.1", "libnvidia-ml.so")

CONNECTION_LIMIT = 1024
"""Threads that may have a connection at one time; further ones get UNKNOWN."""

_SOCKET = "nvml.sock"
_ONCE_A_SECOND = 1.0
_READS = re.compile(r"Get|Query|Wait|Event|Gpm|IsMig|OnSame|Validate")
_CREDENTIALS = struct.Struct("3i")  # SO_PEERCRED: PID, user, group

_log = logging.getLogger(__name__)


class NodeInUseError(Exception):
    """Another simulator serves this directory."""


@dataclass(frozen=True, slots=True)
class _Deferred:
    """A request whose answer takes its time."""

    connection: socket.socket
    pending: Pending


class Endpoint:
    """NVML for the programs that look into ``directory``.

    ``answer`` says what NVML answers to a call at a moment of the run (microseconds); ``now_us`` is
    the run's clock. The calling thread must be the one that lives as long as the simulator.
    ``later``, if given, gets what is to be done for a program that acts on the node, or waits, and
    does it in its time: a step, which says whether a program goes on by it.
    """

    def __init__(
        self,
        directory: Path,
        answer: Callable[[Call, int], Answer],
        *,
        now_us: Callable[[], int],
        library: Path | None = None,
        later: Callable[[Callable[[], bool]], None] | None = None,
    ) -> None:
        self.directory = directory
        self._answer = answer
        self._now_us = now_us
        self._later = later or _at_once
        self._selector: selectors.BaseSelector | None = None
        self._connections: dict[socket.socket, int] = {}
        self._deferred: list[_Deferred] = []
        self._holdings = Holdings()
        self._slots = Slots(self._ask)
        self._published_us = now_us()
        self._last_full = 0.0
        self._init_code = Code.SUCCESS
        _copy_library(library or require(), directory)
        self._listener = _listen(directory)
        self._page = Page(directory)
        self.publish(self._published_us)

    # -- the simulator's side ---------------------------------------------------------------

    @property
    def generation(self) -> int:
        """How often something was published."""
        return self._page.generation

    def set_init_code(self, code: Code) -> None:
        """What nvmlInit returns from now on to programs that have not called it yet.

        That is where nothing is wrong with the node's NVML: what is wrong says more.
        """
        self._init_code = code
        self._publish_init()

    def publish(self, at_us: int, *, happened: bool = True) -> None:
        """Show the node as it is at ``at_us``.

        ``happened`` False says that nothing but time went by: what only events change (names,
        limits, modes) is then asked again but once a second of real time.
        """
        now = time.monotonic()
        full = now - self._last_full >= _ONCE_A_SECOND
        if full:
            self._last_full = now
            self._slots.retire(self._page.touched)
        self._published_us = at_us
        self._slots.refresh(at_us, steady=happened or full)
        if happened or full:
            self._publish_init()
        self._page.publish(self._slots.bank)
        if self._deferred:
            self._settle(at_us)

    def next_due_us(self) -> int | None:
        """When the next deferred reply is due on the run's clock, or None."""
        due = min((each.pending.due_us for each in self._deferred), default=FOREVER_US)
        return due if due < FOREVER_US else None

    def register(self, selector: selectors.BaseSelector) -> None:
        """Be served by ``selector``: the ``data`` of its ready keys is to be called."""
        self._selector = selector
        selector.register(self._listener, selectors.EVENT_READ, self._accept)
        for connection in self._connections:
            selector.register(connection, selectors.EVENT_READ, partial(self._serve, connection))

    def unregister(self) -> None:
        """Be served no longer; connections stay open, and unanswered."""
        if self._selector is not None:
            for each in (self._listener, *self._connections):
                self._selector.unregister(each)
            self._selector = None

    def close(self) -> None:
        """End: programs get UNKNOWN from now on. Removes the node's files from the directory."""
        self.unregister()
        for each in (self._listener, *self._connections):
            each.close()
        self._connections.clear()
        self._deferred.clear()
        self._page.close()
        for name in (_SOCKET, *LIBRARY_NAMES):
            (self.directory / name).unlink(missing_ok=True)

    # -- the programs' side -----------------------------------------------------------------

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection, _ = self._listener.accept()
            if len(self._connections) >= CONNECTION_LIMIT or self._selector is None:
                connection.close()
                return
            connection.setblocking(False)
            self._connections[connection] = _pid_of(connection)
            self._selector.register(
                connection, selectors.EVENT_READ, partial(self._serve, connection)
            )

    def _serve(self, connection: socket.socket) -> None:
        """Answer one request. Whoever breaks the protocol is hung up on; nobody is waited for."""
        try:
            message = connection.recv(MESSAGE_LIMIT + 1)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if not message or any(each.connection is connection for each in self._deferred):
            self._hang_up(connection)
            return
        try:
            request = decode(message, self._connections[connection])
        except MalformedRequestError as error:
            _log.debug("hung up on a client: %s", error)
            self._hang_up(connection)
            return
        function, call = request.function, request.call
        if function.paged or _READS.search(function.name):
            answer = self._ask(call, self._published_us)
            if function.paged:
                self._slots.add(function, call, answer)
            self._reply(connection, call, answer)
        else:
            self._later(partial(self._act, connection, call))

    def _act(self, connection: socket.socket, call: Call) -> bool:
        if connection not in self._connections:
            return False
        answer = self._ask(call, self._now_us())
        self.publish(self._now_us())
        self._reply(connection, call, answer)
        return True

    def _reply(self, connection: socket.socket, call: Call, answer: Answer) -> None:
        self._holdings.note(call, answer)
        if answer.delay_us > 0:
            pending = Pending(call, answer, self._now_us())
            self._deferred.append(_Deferred(connection, pending))
        else:
            self._send(connection, answer)

    def _settle(self, at_us: int) -> None:
        """Send what is due, and what has become quick: a wait that is over, a hang that healed."""
        waiting, self._deferred = self._deferred, []
        for each in waiting:
            answer = each.pending.settle(self._ask, at_us)
            if answer is None:
                self._deferred.append(each)
            else:
                self._later(partial(self._send, each.connection, answer))

    def _publish_init(self) -> None:
        """Tell those who come whether, and how, they get in."""
        answer = self._ask(INIT_CALL, self._published_us)
        if answer.delay_us >= FOREVER_US:
            self._page.set_init_code(INIT_BLOCKS)
        else:
            fails = answer.code not in (Code.SUCCESS, Code.NOT_SUPPORTED)
            self._page.set_init_code(answer.code if fails else self._init_code)

    def _ask(self, call: Call, at_us: int) -> Answer:
        """The answer; a mistake in an answer function must not end the node."""
        try:
            return self._answer(call, at_us)
        except Exception:
            _log.exception("no answer to %s", call)
            return _UNKNOWN

    def _send(self, connection: socket.socket, answer: Answer) -> bool:
        if connection not in self._connections:
            return False
        try:
            connection.send(encode(answer))
        except OSError:
            # Also where the client does not read: a library of ours reads each reply at once.
            self._hang_up(connection)
        return True

    def _hang_up(self, connection: socket.socket) -> None:
        self._deferred = [each for each in self._deferred if each.connection is not connection]
        client = self._connections.pop(connection, None)
        if client is None:
            return
        if self._selector is not None:
            self._selector.unregister(connection)
        connection.close()
        if client not in self._connections.values():
            for call in self._holdings.frees(client):
                self._ask(call, self._now_us())


_UNKNOWN = Answer(Code.UNKNOWN)


def _at_once(step: Callable[[], bool]) -> None:
    step()


def _pid_of(connection: socket.socket) -> int:
    """Who opened a connection: a child that inherits it has one of its own for its questions."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid: int = _CREDENTIALS.unpack(credentials)[0]
    return pid


def _copy_library(library: Path, directory: Path) -> None:
    """Put the library into the node's directory under NVML's names.

    A copy, since it looks for the page beside itself; and since two nodes in one process must not
    be one library to the loader.
    """
    directory.mkdir(parents=True, exist_ok=True)
    first, second = (directory / name for name in LIBRARY_NAMES)
    scratch = directory / f".{first.name}"
    shutil.copyfile(library, scratch)
    scratch.chmod(0o755)
    scratch.replace(first)
    second.unlink(missing_ok=True)
    second.symlink_to(first.name)


@contextlib.contextmanager
def _short_path(directory: Path) -> Iterator[str]:
    """The socket's address: a socket's path may have 107 bytes, a directory's more."""
    path = directory / _SOCKET
    if len(os.fsencode(path)) < 108:
        yield str(path)
        return
    held = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{held}/{_SOCKET}"
    finally:
        os.close(held)


def _listen(directory: Path) -> socket.socket:
    with _short_path(directory) as address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
            try:
                probe.connect(address)
            except OSError:
                pass
            else:
                raise NodeInUseError(f"{directory} is served by another simulator")
        (directory / _SOCKET).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.setblocking(False)
        listener.bind(address)
    (directory / _SOCKET).chmod(0o666)
    listener.listen(CONNECTION_LIMIT)
    return listener
