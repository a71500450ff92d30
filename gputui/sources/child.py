"""The samplers of the machine that the monitor runs on, as child processes.

The driver is asked only there: a thread that is stuck in a driver call keeps its process from ever
ending, so that process must not be the one that people quit.

One sampler is listened to. If a call of its does not return, it is left aside, stuck as it is, and
another one is started that leaves the suspected GPU alone: the others live on. If that one hangs as
well, the driver as a whole is suspected. When the call returns after all, the first sampler goes
on, proves itself by two samples in time, and takes its place again; whoever is then superfluous is
ended. So only one is listened to at a time, and the number of processes is bounded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

from gputui.exit_codes import ANOTHER_PLEASE
from gputui.model import NodeSample
from gputui.recording import Record, SampleRecord
from gputui.silence import DRIVER, Hang
from gputui.sources.left_alone import with_left_alone
from gputui.sources.sampler_process import SamplerProcess, how_it_ended
from gputui.sources.source import Unplayed
from gputui.sources.spawn import Spawned

_RESTARTS_AFTER_S = (1.0, 2.0, 4.0, 8.0)
_PROBES_AFTER_S = (10.0, 20.0, 40.0, 60.0)

MOST_ASIDE = 3
"""How many samplers may be stuck at a time; the next one that hangs says that the driver does."""

_PROOFS = 2
"""So many samples in time show that one which was stuck is well again."""

_REAP_S = 0.05

Start = Callable[[float, frozenset[int]], SamplerProcess]


class ChildSource(Unplayed):
    """``--source local``: readings of this machine. ``spawned`` is a sampler on its way already."""

    is_here = True
    is_live = True
    finite = False
    ended = False

    def __init__(
        self,
        interval_s: float,
        start: Start = SamplerProcess,
        spawned: Spawned | None = None,
    ) -> None:
        self.notice = ""
        self._interval_s = interval_s
        self._start = start
        self._aside: list[SamplerProcess] = []
        self._closed = False
        self._failures = 0
        self._restart_s = 0.0
        self._probes = 0
        self._probe_s: float | None = None
        self._voice: SamplerProcess | None = (
            SamplerProcess(interval_s, spawned=spawned) if spawned else self._launch(frozenset())
        )

    # --- the source -----------------------------------------------------------------------------

    def hang(self, monotonic_s: float) -> Hang | None:
        """The call that does not return, if there is one: the first that was begun."""
        hung = [one for one in self._samplers if one.hang(monotonic_s) is not None]
        asking = hung[0].asking if hung else None
        if asking is None:
            return None
        return Hang(asking.whom, asking.since_s, whole_driver=len(hung) > 1)

    def descriptors(self) -> list[int]:
        """The samplers' outputs."""
        return [one.descriptor for one in self._samplers if not one.ended]

    def due_s(self, monotonic_s: float) -> float | None:
        """When to look again although nobody speaks."""
        waits = [] if self._voice is None else [self._voice.due_s(monotonic_s)]
        if self._voice is None and self._may_launch:
            waits.append(max(self._restart_s - monotonic_s, 0.0))
        if self._aside:
            waits.append(1.0)
        return min(waits, default=None)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come; see to it that somebody speaks."""
        if self._closed:
            return []
        records = self._listen(monotonic_s)
        self._look_aside(monotonic_s)
        self._set_aside(monotonic_s)
        if self._voice is None and self._may_launch and monotonic_s >= self._restart_s:
            self._voice = self._launch(self._suspects(monotonic_s))
        self._probe(monotonic_s)
        return records

    def poke(self) -> None:
        """Ask for a sample now."""
        if self._voice is not None:
            self._voice.poke()

    def close(self) -> None:
        """Kill the samplers, and do not wait for those that are stuck in the driver."""
        self._closed = True
        gone = self._samplers
        self._voice, self._aside = None, []
        for one in gone:
            one.kill()
        until_s = time.monotonic() + _REAP_S
        for one in gone:
            one.reap(max(until_s - time.monotonic(), 0.0))

    # --- who is there ---------------------------------------------------------------------------

    @property
    def _samplers(self) -> list[SamplerProcess]:
        """All of them, the oldest first."""
        return [*self._aside, *([self._voice] if self._voice else [])]

    @property
    def _may_launch(self) -> bool:
        """Whether another one may succeed where those aside hang."""
        if any(_asks_driver(one) for one in self._aside[1:]):
            return False
        return len(self._aside) <= MOST_ASIDE

    def _suspects(self, monotonic_s: float) -> frozenset[int]:
        """The GPUs that those aside are stuck at."""
        hangs = (one.hang(monotonic_s) for one in self._aside)
        return frozenset(hang.whom for hang in hangs if hang is not None and hang.whom != DRIVER)

    def _launch(self, skip: frozenset[int]) -> SamplerProcess:
        one = self._start(self._interval_s, skip)
        if self._closed:
            one.kill()
        return one

    @staticmethod
    def _end(one: SamplerProcess) -> int | None:
        one.kill()
        return one.reap(_REAP_S)

    # --- what happens to them -------------------------------------------------------------------

    def _listen(self, monotonic_s: float) -> list[Record]:
        """What the one that is listened to says; its end, if it ended."""
        voice = self._voice
        if voice is None:
            return []
        records = [_completed(record, voice.skip) for record in voice.read(monotonic_s)]
        if records:
            self._failures = 0
        if voice.ended:
            records += self._bury(voice, monotonic_s)
        return records

    def _bury(self, voice: SamplerProcess, monotonic_s: float) -> list[Record]:
        """It has ended: say so in place of a sample, and have another one started soon."""
        self._voice = None
        status = self._end(voice)
        if status == ANOTHER_PLEASE:
            self._restart_s = monotonic_s
            return []
        wait_s = _RESTARTS_AFTER_S[min(self._failures, len(_RESTARTS_AFTER_S) - 1)]
        self._failures += 1
        self._restart_s = monotonic_s + wait_s
        if self._failures == 1:
            return []
        error = (
            f"The sampler {how_it_ended(status)} {self._failures} times in a row. "
            "Run it by hand to see why: python -m gputui.sampler"
        )
        sample = NodeSample(host=os.uname().nodename, time_s=time.time(), error=error)
        return [SampleRecord(0.0, sample)]

    def _look_aside(self, monotonic_s: float) -> None:
        """Those aside: who ended is gone, who is well again takes its place again."""
        for one in list(self._aside):
            if one not in self._aside:
                continue  # somebody who sees more has just taken its place again
            one.read(monotonic_s)
            if one.ended or one.is_idle(monotonic_s):
                self._aside.remove(one)
                self._end(one)
            elif one.in_time >= _PROOFS and one.hang(monotonic_s) is None:
                self._aside.remove(one)
                self._adopt(one)

    def _adopt(self, one: SamplerProcess) -> None:
        """Listen to one that is well again, if it sees more; end who sees no more than it does."""
        self._probes = 0
        if self._voice is not None and self._voice.has_spoken and one.skip >= self._voice.skip:
            self._end(one)
            return
        others = self._samplers
        self._voice = one
        self._aside = [other for other in others if not other.skip >= one.skip]
        for other in others:
            if other not in self._aside:
                self._end(other)
        one.poke()

    def _set_aside(self, monotonic_s: float) -> None:
        """Whoever does not return from a call is left to its fate; who does not run is replaced."""
        voice = self._voice
        if voice is None:
            return
        if voice.hang(monotonic_s) is not None:
            voice.in_time = 0
            self._aside.append(voice)
            self._voice, self._restart_s = None, monotonic_s
        elif voice.is_idle(monotonic_s):
            self._end(voice)
            self._voice, self._restart_s = None, monotonic_s

    def _probe(self, monotonic_s: float) -> None:
        """A GPU that is left alone, but that nobody is stuck at any more, is tried again."""
        voice = self._voice
        if voice is None or not voice.has_spoken or not voice.skip:
            return
        tried = [other.skip for other in self._aside]
        untried = {gpu for gpu in voice.skip if all(gpu in skip for skip in tried)}
        if not untried or len(self._aside) >= MOST_ASIDE:
            self._probe_s = None
            return
        if self._probe_s is None:
            wait_s = _PROBES_AFTER_S[min(self._probes, len(_PROBES_AFTER_S) - 1)]
            self._probes += 1
            self._probe_s = monotonic_s + wait_s
        elif monotonic_s >= self._probe_s:
            self._probe_s = None
            self._aside.append(self._launch(voice.skip - untried))


def _asks_driver(one: SamplerProcess) -> bool:
    asking = one.asking
    return asking is not None and asking.whom == DRIVER


def _completed(record: Record, skipped: frozenset[int]) -> Record:
    """A sample with a row for each GPU that is left alone because a call to it does not return."""
    if not isinstance(record, SampleRecord):
        return record
    return replace(record, sample=with_left_alone(record.sample, skipped))
