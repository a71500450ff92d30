"""Who of the processes on the GPUs can be reached from other machines.

The kernel tells of this program's own network namespace; whose a socket is,
:mod:`gputui.sources.tcp` has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from gputui.model import ListenerSample

if TYPE_CHECKING:
    from gputui.sources.sock_diag import Listener

_LOOK_EVERY_S = 60.0
_MOST_LISTENERS = 64

Ask = Callable[[Container[int]], "Iterable[Listener]"]


def _ask_kernel(inodes: Container[int]) -> Iterable[Listener]:
    from gputui.sources.sock_diag import listeners

    return listeners(inodes)


class ListenerReader:
    """Looks once a minute. ``ask`` is the kernel."""

    def __init__(self, ask: Ask = _ask_kernel) -> None:
        self._ask = ask
        self._looked_s = float("-inf")
        self._found: tuple[ListenerSample, ...] = ()

    def read(self, sockets: Mapping[int, int], now_s: float) -> tuple[ListenerSample, ...]:
        """What listens for other machines, as last seen; where the kernel does not tell, nothing.

        ``sockets`` are the processes' own: the PID by the socket's inode; ``now_s`` is of a clock
        that never jumps.
        """
        if not sockets:
            self._found = ()
            self._looked_s = float("-inf")
        elif now_s - self._looked_s >= _LOOK_EVERY_S:
            self._looked_s = now_s
            try:
                held = [one for one in self._ask(sockets) if one.is_open]
            except OSError:
                held = []
            found = {
                ListenerSample(sockets[one.inode], one.port, one.text): None
                for one in sorted(held, key=lambda one: (one.port, one.text))
            }
            self._found = tuple(found)[:_MOST_LISTENERS]
        return self._found
