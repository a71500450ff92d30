"""What a day of readings costs in a campaign: 8 GPUs, 20 readings each a minute, in virtual time.

::

    python bench/nvml_day.py

230,400 readings through nvidia-ml-py's own code on the in-process carrier, the clock jumping from
minute to minute; then the same calls on a library whose functions return at once, which is what the
binding costs by itself. And a jump of 30 days between two rounds of readings, beside one of a
minute. Processor time, of each hour the best of several days: others use the machine too.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pynvml

from fakes.clock import VirtualClock
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import NodeNow
from fakes.nvml.inprocess import installed
from fakes.profile import load_profile
from fakes.world import World

GPUS = 8
HOURS = 24
MINUTES = HOURS * 60
MINUTE_US = 60_000_000
DAY_US = MINUTES * MINUTE_US

READINGS: tuple[Callable[[Any], Any], ...] = (
    lambda gpu: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU),
    pynvml.nvmlDeviceGetPowerUsage,
    pynvml.nvmlDeviceGetEnforcedPowerLimit,
    pynvml.nvmlDeviceGetTotalEnergyConsumption,
    pynvml.nvmlDeviceGetUtilizationRates,
    pynvml.nvmlDeviceGetEncoderUtilization,
    pynvml.nvmlDeviceGetDecoderUtilization,
    pynvml.nvmlDeviceGetMemoryInfo,
    lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_GRAPHICS),
    lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM),
    lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_MEM),
    lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_VIDEO),
    pynvml.nvmlDeviceGetPerformanceState,
    pynvml.nvmlDeviceGetCurrentClocksEventReasons,
    lambda gpu: pynvml.nvmlDeviceGetPcieThroughput(gpu, pynvml.NVML_PCIE_UTIL_TX_BYTES),
    lambda gpu: pynvml.nvmlDeviceGetPcieThroughput(gpu, pynvml.NVML_PCIE_UTIL_RX_BYTES),
    lambda gpu: pynvml.nvmlDeviceGetTotalEccErrors(gpu, 0, 0),
    lambda gpu: pynvml.nvmlDeviceGetTotalEccErrors(gpu, 1, 0),
    pynvml.nvmlDeviceGetRemappedRows,
    pynvml.nvmlDeviceGetComputeRunningProcesses,
)


class Bare:
    """A library whose every function succeeds at once, and writes nothing."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        def function(*arguments: Any) -> int:
            return 0

        setattr(self, name, function)
        return function


def busy_world() -> World:
    """A node of eight busy GPUs, warm."""
    node = Node("n0", load_profile("h100-sxm"), GPUS)
    world = World([node])
    node.start_job(JobSpec("train", tuple(range(GPUS))), 0)
    node.settle(0)
    return world


def read_all(handles: list[Any]) -> None:
    """One round: every reading of every GPU."""
    for handle in handles:
        for read in READINGS:
            read(handle)


def hour(world: World, clock: VirtualClock, handles: list[Any]) -> float:
    """Seconds of processor time for an hour of readings."""
    began = time.process_time()
    for _ in range(60):
        clock.jump(clock.now_us() + MINUTE_US)
        world.advance(clock.now_us())
        read_all(handles)
    return time.process_time() - began


def day(world: World, clock: VirtualClock, handles: list[Any], rounds: int) -> float:
    """Seconds of processor time for a day of readings, each hour at its best."""
    days = [[hour(world, clock, handles) for _ in range(HOURS)] for _ in range(rounds)]
    return sum(map(min, zip(*days, strict=True)))


def round_after(world: World, clock: VirtualClock, handles: list[Any], gap_us: int) -> float:
    """Seconds of processor time for a jump and one round of readings."""
    began = time.process_time()
    clock.jump(clock.now_us() + gap_us)
    world.advance(clock.now_us())
    read_all(handles)
    return time.process_time() - began


def handles_of_all() -> list[Any]:
    """Begin to use NVML; the GPUs' handles."""
    pynvml.nvmlInit()
    return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(GPUS)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    world, clock = busy_world(), VirtualClock()
    with installed(NodeNow(world.nodes["n0"], clock.now_us)) as library:
        handles = handles_of_all()
        read_all(handles)
        ours = day(world, clock, handles, rounds)
        after = partial(round_after, world, clock, handles)
        minute = min(after(MINUTE_US) for _ in range(50))
        month = min(after(30 * DAY_US) for _ in range(50))
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml.nvmlLib = Bare()
        bare = day(world, clock, handles, rounds)
        pynvml.nvmlLib = library
    count = MINUTES * GPUS * len(READINGS)
    print(f"{count} readings of a day: {ours:.2f} s ({ours / count * 1e6:.1f} us each)")
    print(f"the binding alone: {bare:.2f} s; with answers {ours / bare:.1f} times as much")
    print(f"{GPUS * len(READINGS)} readings after a minute: {minute * 1e3:.2f} ms, ", end="")
    print(f"after 30 days: {month * 1e3:.2f} ms")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
