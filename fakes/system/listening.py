"""Sockets on which a node's processes wait for connections."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listening:
    """A process waits at a port; at ``0.0.0.0`` whoever reaches the node reaches it."""

    pid: int
    port: int
    address: str = "0.0.0.0"
