"""A simulator for tests: a real world of one node, in trouble on request, steered by stdin.

Not collected by pytest; run as ``node_simulator.py DIRECTORY GPUS``. Every line is answered by
``done`` and what it found: ``xid GPU CODE``, ``process GPU`` (one more), ``trouble SECONDS SEED``
(random faults and heals, and the answer when they are over), ``hang GPU`` and ``shut`` (calls to
it, and nvmlInit, do not return), ``calm`` (they do again), ``sets`` (how many event sets there
are), ``events`` (all Xids so far, as GPU:CODE), ``quit``.
"""

from __future__ import annotations

import random
import selectors
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fakes.clock import WallClock
from fakes.driver.disturbance import Hang, NoWayIn, disturb
from fakes.driver.events import EventType
from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Gpu, Lookup, Lost
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import answer
from fakes.nvml.endpoint import Endpoint
from fakes.profile import load_profile
from fakes.world import World

PERIOD_S = 0.1
CODES = (13, 31, 43, 45, 48, 63, 64, 74, 79, 92, 94, 95, 119, 120)


class Trouble:
    """Faults and heals, at random moments, a few dozen a second however busy the simulator is.

    A lost GPU's look-up says so: clients tell it from a simulator that is gone.
    """

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._node = world.nodes["n0"]
        self._next_s = time.monotonic()
        self._acts: tuple[Callable[[Gpu], None], ...] = (
            self._xid, self._xid, self._lose, self._heal, self._heal, self._heal,
            self._air, self._cap, self._start, self._end,
        )  # fmt: skip

    def strike(self) -> bool:
        """Do something to some GPU, if it is time; whether it was."""
        if not self.rest_s():
            self._random.choice(self._acts)(self._random.choice(self._node.gpus))
            self._next_s = time.monotonic() + self._random.uniform(0, 0.05)
            return True
        return False

    def rest_s(self) -> float:
        """Seconds until it is time."""
        return max(0.0, self._next_s - time.monotonic())

    def _xid(self, gpu: Gpu) -> None:
        code = self._random.choice(CODES)
        raise_xid(self._node, gpu, code, self._world.now_us, lookup=Lookup.LOST)

    def _lose(self, gpu: Gpu) -> None:
        gpu.lost = Lost(self._world.now_us, Lookup.LOST)

    def _heal(self, gpu: Gpu) -> None:
        gpu.lost = None
        gpu.reset_required = False

    def _air(self, gpu: Gpu) -> None:
        gpu.set_airflow(self._random.uniform(0.1, 1), self._world.now_us)

    def _cap(self, gpu: Gpu) -> None:
        power = gpu.profile.power
        gpu.set_power_limit(
            self._random.randint(power.limit_min_mw, power.limit_max_mw), self._world.now_us
        )

    def _start(self, gpu: Gpu) -> None:
        if len(gpu.uses) < 4:
            job = JobSpec("more", (gpu.index,), load=0.2, memory_bytes=1 << 30)
            self._node.start_job(job, self._world.now_us)

    def _end(self, gpu: Gpu) -> None:
        for pid in list(gpu.uses)[:1]:
            self._node.end_process(pid, self._world.now_us)


class Simulator:
    """One node, its endpoint, and the commands."""

    def __init__(self, directory: Path, gpus: int) -> None:
        self._clock = WallClock()
        self._node = Node("n0", load_profile("h100-sxm"), gpus, epoch=self._clock.epoch())
        self._world = World([self._node])
        self._node.start_job(JobSpec("train", tuple(range(gpus))), 0)
        self._codes: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._endpoint = Endpoint(directory, partial(answer, self._node), now_us=self._clock.now_us)
        self._endpoint.register(self._selector)
        self._selector.register(sys.stdin, selectors.EVENT_READ, self._command)
        self._note_events()

    def run(self) -> None:
        """Serve until told to quit, or until stdin ends."""
        print("ready", flush=True)
        try:
            while True:
                self._turn(PERIOD_S)
        finally:
            self._endpoint.close()

    def run_in_trouble(self, seed: int) -> None:
        """Serve, and let things break and heal, for ever."""
        self._selector.unregister(sys.stdin)
        trouble = Trouble(self._world, seed)
        while True:
            happened = trouble.strike()
            self._turn(trouble.rest_s(), happened=happened)

    def _turn(self, idle_s: float, *, happened: bool = False) -> None:
        self._world.advance(self._clock.now_us())
        self._endpoint.publish(self._clock.now_us(), happened=happened)
        for key, _ in self._selector.select(idle_s):
            key.data()

    def _note_events(self) -> None:
        """Note every Xid as it is announced, apart from what the driver keeps."""
        announce = self._node.driver_events.announce

        def noted(at_us: int, gpu: int, type_: EventType, data: int = 0) -> None:
            announce(at_us, gpu, type_, data)
            if type_ is EventType.XID:
                self._codes.append(f"{gpu}:{data}")

        self._node.driver_events.announce = noted  # type: ignore[method-assign]

    def _command(self) -> None:
        # Unbuffered, so that no second line hides from the selector.
        words = sys.stdin.buffer.raw.readline().split()  # type: ignore[union-attr]
        if not words or words[0] == b"quit":
            raise SystemExit
        verb, numbers = words[0].decode(), [int(word) for word in words[1:]]
        found: object = 0
        if verb == "xid":
            index, code = numbers
            raise_xid(self._node, self._node.gpus[index], code, self._clock.now_us())
        elif verb == "process":
            job = JobSpec("more", tuple(numbers), load=0.1, memory_bytes=1 << 30)
            self._node.start_job(job, self._clock.now_us())
        elif verb == "hang":
            disturb(self._node, Hang(*numbers))
        elif verb == "shut":
            disturb(self._node, NoWayIn())
        elif verb == "calm":
            self._node.disturbances = ()
        elif verb == "trouble":
            self._trouble(*numbers)
        elif verb == "sets":
            found = self._node.driver_events.set_count
        elif verb == "events":
            found = ",".join(self._codes)
        self._endpoint.publish(self._clock.now_us())
        print("done", found, flush=True)

    def _trouble(self, seconds: int, seed: int) -> None:
        # Meanwhile stdin has nothing to say but that it has ended, and so has this.
        trouble = Trouble(self._world, seed)
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            happened = trouble.strike()
            self._turn(trouble.rest_s(), happened=happened)


if __name__ == "__main__":
    Simulator(Path(sys.argv[1]), int(sys.argv[2])).run()
