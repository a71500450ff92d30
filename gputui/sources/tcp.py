"""Round-trip times of the connections that the processes on the GPUs hold to other machines.

Which sockets are theirs is seen in /proc/PID/fd, which only root and their own user may read; the
kernel tells the times, but only of this program's own network namespace. Both are asked for seldom
and within bounds, however many there are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gputui.model import TcpSample
from gputui.sources.files import why

if TYPE_CHECKING:
    from gputui.sources.sock_diag import Connection

OTHER_NETWORK = "another network namespace"

_MEASURE_EVERY_S = 10.0
_AT_MOST_EVERY_S = 1.0
_LIST_EVERY_S = 30.0
_LIST_FOR_S = 0.01
"""How long processes' open files may be listed in one reading; the rest have their turn later."""

_MOST_FILES = 4096
_SOCKET = "socket:["
_RTT_FIELDS = ("rtt_median_us", "rtt_worst_us", "worst_peer")

Ask = Callable[[Container[int]], "Iterable[Connection]"]


def _ask_kernel(inodes: Container[int]) -> Iterable[Connection]:
    # Most nodes' processes have no connections: what speaks to the kernel is not loaded for them.
    from gputui.sources.sock_diag import connections

    return connections(inodes)


@dataclass(frozen=True, slots=True)
class _Sockets:
    """What a process had open at ``listed_s``, or why that cannot be told."""

    listed_s: float
    inodes: frozenset[int] = frozenset()
    hidden: str = ""


class TcpReader:
    """Measures now and then. ``root`` is where ``proc`` lies; ``ask`` is the kernel.

    ``local`` counts connections that stay on this machine as well.
    """

    def __init__(
        self, root: Path = Path("/"), *, ask: Ask = _ask_kernel, local: bool = False
    ) -> None:
        self._proc = str(root / "proc")
        self._ask = ask
        self._local = local
        self._sockets: dict[int, _Sockets] = {}
        self._retransmits: dict[int, int] | None = None
        self._measured_s = float("-inf")
        self._news = False
        self._sample: TcpSample | None = None

    def read(self, pids: Iterable[int], now_s: float, time_s: float) -> TcpSample | None:
        """The last measurement; a new one when it is due.

        ``now_s`` is of a clock that never jumps, ``time_s`` is Unix time. None when there are no
        processes to have connections.
        """
        wanted = sorted(set(pids))
        if not wanted:
            self._sockets.clear()
            self._sample = self._retransmits = None
            self._measured_s = float("-inf")
            return None
        self._news |= self._list(wanted, now_s)
        waited_s = now_s - self._measured_s
        if waited_s >= (_AT_MOST_EVERY_S if self._news else _MEASURE_EVERY_S):
            self._measured_s, self._news = now_s, False
            self._sample = self._measure(time_s)
        return self._sample

    @property
    def sockets(self) -> dict[int, int]:
        """The sockets that the processes were last seen to hold: the PID by the socket's inode."""
        return {inode: pid for pid, one in self._sockets.items() for inode in one.inodes}

    def _list(self, pids: list[int], now_s: float) -> bool:
        """See what processes have open: new ones first, then the one seen longest ago.

        Returns whether there are new ones.
        """
        listed = self._sockets
        self._sockets = {pid: listed[pid] for pid in pids if pid in listed}
        new = [pid for pid in pids if pid not in self._sockets]
        until_s = time.monotonic() + _LIST_FOR_S
        for pid in new:
            self._sockets[pid] = self._look(pid, now_s)
            if time.monotonic() >= until_s:
                return True
        if self._sockets:
            oldest = min(self._sockets, key=lambda pid: self._sockets[pid].listed_s)
            if now_s - self._sockets[oldest].listed_s >= _LIST_EVERY_S:
                self._sockets[oldest] = self._look(oldest, now_s)
        return bool(new)

    def _look(self, pid: int, now_s: float) -> _Sockets:
        inodes = set()
        try:
            if self._network("self") != self._network(str(pid)):
                return _Sockets(now_s, hidden=OTHER_NETWORK)
            with os.scandir(f"{self._proc}/{pid}/fd") as files:
                for _, file in zip(range(_MOST_FILES), files, strict=False):
                    target = _link(file.path)
                    if target.startswith(_SOCKET):
                        inodes.add(int(target[len(_SOCKET) : -1]))
        except FileNotFoundError:
            return _Sockets(now_s)  # the process has ended, or is another namespace's
        except OSError as error:
            return _Sockets(now_s, hidden=why(error))
        return _Sockets(now_s, frozenset(inodes))

    def _network(self, process: str) -> str:
        return _link(f"{self._proc}/{process}/ns/net")

    def _measure(self, time_s: float) -> TcpSample:
        hidden = [one.hidden for one in self._sockets.values() if one.hidden]
        if len(hidden) == len(self._sockets):
            return _nothing(time_s, f"what the processes have open cannot be seen ({hidden[0]})")
        missing: dict[str, str] = {}
        if hidden:
            missing["processes"] = f"{len(hidden)} of {len(self._sockets)}: {hidden[0]}"
        inodes = frozenset().union(*(one.inodes for one in self._sockets.values()))
        try:
            asked = self._ask(inodes) if inodes else ()
            held = [one for one in asked if self._local or not one.stays_here]
        except OSError as error:
            return _nothing(time_s, f"the kernel does not tell (sock_diag: {why(error)})")
        retransmits = self._resent(held)
        if retransmits is None:
            missing["retransmits"] = "needs two measurements"
        if not held:
            missing.update(dict.fromkeys(_RTT_FIELDS, "no connections to other machines"))
            return TcpSample(time_s, connections=0, retransmits=retransmits, missing=missing)
        worst = max(held, key=lambda one: one.rtt_us)
        return TcpSample(
            time_s,
            connections=len(held),
            rtt_median_us=sorted(one.rtt_us for one in held)[(len(held) - 1) // 2],
            rtt_worst_us=worst.rtt_us,
            worst_peer=worst.peer,
            retransmits=retransmits,
            missing=missing,
        )

    def _resent(self, held: list[Connection]) -> int | None:
        """Segments sent again since the last measurement; those of a new connection all count."""
        before = self._retransmits
        self._retransmits = {one.inode: one.retransmits for one in held}
        if before is None:
            return None
        return sum(
            max(count - before.get(inode, 0), 0) for inode, count in self._retransmits.items()
        )


def _link(path: str) -> str:
    """Where a link points to; empty when it is not there, or not any more."""
    try:
        return os.readlink(path)  # noqa: PTH115 (many of them)
    except FileNotFoundError:
        return ""


def _nothing(time_s: float, reason: str) -> TcpSample:
    fields = ("connections", *_RTT_FIELDS, "retransmits")
    return TcpSample(time_s, missing=dict.fromkeys(fields, reason))
