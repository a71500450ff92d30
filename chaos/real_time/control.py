"""The control socket of a running fake: requests and replies as JSON lines.

=====================================================  ==========================================
request                                                reply
=====================================================  ==========================================
``{"do": "inject", "fault", "arguments", "for"?}``     ``{"id": "xid-1"}``
``{"do": "heal", "id": "xid-1"}``, or ``"all"``        ``{"healed": ["xid-1"]}``
``{"do": "status"}``                                   what ``gpuchaos status --json`` prints
``{"do": "pause"}``, ``{"do": "resume"}``              ``{"paused": true}``, or false
``{"do": "progress", "after": 0}``                     how a game stands (chaos/real_time/game.py)
``{"do": "hint"}``                                     ``{"hint": "what is expected next"}``
``{"do": "end"}``                                      its progress: nothing counts from now on
=====================================================  ==========================================

A mistake is answered by ``{"error": "one sentence"}``. Only the run's user (and root) can get at
the socket: its directory is closed to others.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from chaos.errors import UsageError
from chaos.real_time.registry import CONTROL
from chaos.sandbox.lines import LineError, Lines

_PATIENCE_S = 5.0
_CONNECTIONS = 64


class ControlServer:
    """Takes requests in the simulator's loop; ``handle`` answers each."""

    def __init__(self, path: Path, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self._handle = handle
        self._selector: selectors.BaseSelector | None = None
        self._clients: set[Lines] = set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.setblocking(False)
        self._listener.bind(str(path))
        self._listener.listen(_CONNECTIONS)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Be served by ``selector``: the ``data`` of its ready keys is to be called."""
        self._selector = selector
        selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def unregister(self) -> None:
        """Be served no longer; who is connected gets an end of file."""
        for client in tuple(self._clients):
            self._hang_up(client)
        if self._selector is not None:
            self._selector.unregister(self._listener)
            self._selector = None

    def close(self) -> None:
        """End."""
        self.unregister()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection, _ = self._listener.accept()
            if self._selector is None or len(self._clients) >= _CONNECTIONS:
                connection.close()
                return
            connection.setblocking(False)
            client = Lines(connection)
            self._clients.add(client)
            self._selector.register(connection, selectors.EVENT_READ, partial(self._serve, client))

    def _serve(self, client: Lines) -> None:
        """Answer what has come. Whoever does not read, or breaks the form, is hung up on."""
        if client not in self._clients:
            return  # hung up on since it became ready
        try:
            requests = client.receive()
            if requests is None:
                self._hang_up(client)
                return
            for request in requests:
                client.send(self._handle(request))
        except (OSError, LineError):
            self._hang_up(client)

    def _hang_up(self, client: Lines) -> None:
        self._clients.discard(client)
        if self._selector is not None:
            self._selector.unregister(client.connection)
        client.close()


def ask(run: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the run in a directory; its reply. A mistake is a :class:`UsageError`."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_PATIENCE_S)
        lines = Lines(connection)
        replies: list[dict[str, Any]] | None = []
        try:
            connection.connect(str(run / CONTROL))
            lines.send(request)
            while replies == []:
                replies = lines.receive()
        except TimeoutError as error:
            raise UsageError(
                f"the fake node '{run.name}' does not answer: perhaps it was stopped with Ctrl-Z."
            ) from error
        except LineError as error:
            raise UsageError(f"the fake node '{run.name}' answers nonsense: {error}.") from error
        except OSError as error:
            raise UsageError(f"the fake node '{run.name}' has just ended.") from error
    if not replies:
        raise UsageError(f"the fake node '{run.name}' has just ended.")
    if "error" in replies[0]:
        raise UsageError(str(replies[0]["error"]))
    return replies[0]
