"""gputui's sampler in virtual time: one reading at a moment, and what becomes of one that hangs.

The reader is the real one; what :class:`gputui.sources.child.ChildSource` does with processes is
told here in the run's time. A call that does not return keeps the sampler from saying anything.
After gputui's patience another sampler leaves that GPU alone; if it hangs as well, the driver is
suspected. When the call returns after all, the first one takes its place again, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pynvml

from chaos.real_time.host_view import host_of, links_of, listeners_of
from fakes.clock import SECOND_US
from fakes.node import Node
from fakes.nvml.answer import Answer, Call, answer
from gputui.model import LogLine, NodeSample
from gputui.silence import DRIVER, Silence, patience_s
from gputui.sources.child import MOST_ASIDE
from gputui.sources.left_alone import with_left_alone
from gputui.sources.nvml import NvmlReader
from gputui.sources.processes import ENDED, HAS_ENDED, HostProcess

_NO_FILES = Path("/nonexistent")
"""A node of a run in virtual time has no /proc and no /sys."""


class _NotReturningError(BaseException):
    """A call that does not return. No ``Exception``: nobody on its way is to make sense of it."""

    def __init__(self, call: Call) -> None:
        super().__init__(call.function)
        self.call = call


@dataclass(frozen=True, slots=True)
class _Stuck:
    """A sampler that waits for a call to return, since when."""

    call: Call
    since_us: int

    @property
    def whom(self) -> int:
        """Whom it asked: a GPU's index, or the driver."""
        return DRIVER if self.call.device is None else self.call.device


class VirtualSampler:
    """The sampler of one node. ``select`` is told whom nvidia-ml-py is to ask.

    ``in_turn`` reads what changes seldom as the live sampler does, between samples; otherwise every
    reading has everything, for calls take no time here.
    """

    def __init__(
        self,
        node: Node,
        interval_us: int,
        select: Callable[[VirtualSampler], None],
        *,
        in_turn: bool = False,
    ) -> None:
        self._node = node
        self._patience_us = round(patience_s(interval_us / SECOND_US) * SECOND_US)
        self._select = select
        self._in_turn = in_turn
        self._rows = _Rows(node)
        self._now_us = 0
        self._sampled_us = 0
        self._stuck: tuple[_Stuck, ...] = ()
        self._waiting: _Stuck | None = None
        self._skip: frozenset[int] = frozenset()
        self._reader = self._new_reader()

    @property
    def is_waiting(self) -> bool:
        """Whether time alone will show whether a call returns."""
        waiting = self._waiting
        return waiting is not None and self._now_us - waiting.since_us < self._patience_us

    def respond(self, call: Call) -> Answer:
        """What NVML answers to a call now; it does not come back if the call does not."""
        given = answer(self._node, call, self._now_us)
        if given.delay_us >= self._patience_us:
            raise _NotReturningError(call)
        return given

    def read(self, at_us: int, still: Collection[int] = ()) -> NodeSample | Silence | None:
        """A reading; or that none comes, once it is late; None while nobody can tell.

        GPUs that are ``still`` are as they were at the last one.
        """
        self._now_us = at_us
        self._select(self)
        self._look_aside()
        while self._waiting is None or self._is_replaced:
            if self._waiting is not None:
                self._start_another()
            sample = self._try(still)
            if sample is not None:
                self._sampled_us = at_us
                return with_left_alone(sample, self._skip)
        late = [one for one in self._stuck if at_us - one.since_us >= self._patience_us]
        if not late:
            return None
        waited_s = (at_us - self._sampled_us) / SECOND_US
        return Silence(waited_s, late[0].whom, whole_driver=len(late) > 1)

    def hasten(self) -> None:
        """Something happened that the GPUs' health should show."""
        self._reader.hasten()

    def read_events(self, time_s: float) -> list[LogLine]:
        """The Xids that NVML told of since the last call."""
        return self._reader.read_events(time_s)

    @property
    def _is_replaced(self) -> bool:
        """Whether the one that waits is given up, and another one may succeed."""
        if self.is_waiting or len(self._stuck) > MOST_ASIDE:
            return False
        return not any(one.whom == DRIVER for one in self._stuck[1:])

    def _start_another(self) -> None:
        self._waiting = None
        self._skip = frozenset(one.whom for one in self._stuck if one.whom != DRIVER)
        self._reader = self._new_reader()

    def _look_aside(self) -> None:
        """Whose call has returned goes on."""
        still = tuple(one for one in self._stuck if self._hangs(one.call))
        if still != self._stuck:
            self._stuck = still
            self._start_another()

    def _hangs(self, call: Call) -> bool:
        return answer(self._node, call, self._now_us).delay_us >= self._patience_us

    def _try(self, still: Collection[int]) -> NodeSample | None:
        unix_s = self._node.epoch.unix_us(self._now_us) / SECOND_US
        try:
            sample = self._reader.read(unix_s, still)
            while self._reader.read_slow():
                pass  # what is due is shown by the next reading
            if self._reader.is_outdated:
                # Only another process can have the driver's new library.
                self._reader = self._new_reader()
        except _NotReturningError as error:
            self._waiting = _Stuck(error.call, self._now_us)
            self._stuck = (*self._stuck, self._waiting)
            return None
        time_s = self._now_us / SECOND_US
        return replace(
            sample,
            time_s=time_s,
            host_readings=host_of(self._node),
            links=links_of(self._node, self._now_us),
            listeners=listeners_of(self._node),
        )

    def _new_reader(self) -> NvmlReader:
        return NvmlReader(
            pynvml,
            host=self._node.name,
            processes=self._rows,
            skip=self._skip,
            root=_NO_FILES,
            thorough=not self._in_turn,
        )


class _Rows:
    """The processes of a node in virtual time: they are rows, and have no /proc."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._known: dict[int, HostProcess] = {}

    def look(self, pids: Iterable[int], /) -> dict[int, HostProcess]:
        """Whose they are and what they run; one that is not the node's any more has ended."""
        return {pid: self._row(pid) for pid in pids}

    def _row(self, pid: int) -> HostProcess:
        known = self._known.get(pid)
        process = self._node.processes.get(pid)
        if process is None:
            before = known or HostProcess(command=ENDED)
            return replace(before, unreachable=HAS_ENDED)
        if known is None:
            spec = process.spec
            job_kind = "slurm" if spec.job else None
            known = HostProcess(
                spec.user, " ".join(spec.command), job=spec.job or None, job_kind=job_kind
            )
            self._known[pid] = known
        return known
