"""JSON lines over a socket: one object a line, bounded. Imports little: PID 1 uses it."""

from __future__ import annotations

import json
import socket
from typing import Any

LIMIT = 1 << 20


class LineError(Exception):
    """What came is no JSON object, or has no end."""


class Lines:
    """Cuts what a socket receives into objects, and sends some."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._rest = b""

    def fileno(self) -> int:
        """The socket's descriptor, for selectors."""
        return self.connection.fileno()

    def send(self, message: dict[str, Any]) -> None:
        """Send an object."""
        self.connection.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def receive(self) -> list[dict[str, Any]] | None:
        """Wait for something, and return the objects that are complete; None at the end."""
        try:
            received = self.connection.recv(65536)
        except ConnectionError:
            received = b""
        if not received:
            return None
        *complete, self._rest = (self._rest + received).split(b"\n")
        if len(self._rest) > LIMIT:
            raise LineError(f"a line of more than {LIMIT} bytes")
        return [_object(line) for line in complete if line.strip()]

    def close(self) -> None:
        """Close the socket."""
        self.connection.close()


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise LineError(f"not JSON: {line[:40]!r}") from error
    if not isinstance(value, dict):
        raise LineError(f"not an object: {line[:40]!r}")
    return value
