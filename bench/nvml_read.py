"""What the fake NVML costs: a reading in C, and keeping the page fresh.

::

    python bench/nvml_read.py

Readings: a power reading by ``nvml_read.c``, while the page is refreshed ten times a second, and
while it is published in a loop without pause. Refresh: the processor time of a publication of 8
loaded GPUs with the questions that nvitop and nvtop ask, at ten a second. Three rounds each; the
medians are printed. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fakes.clock import WallClock
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import Call, answer
from fakes.nvml.endpoint import Endpoint
from fakes.nvml.shim.build import compiler
from fakes.nvml.slots import Slots
from fakes.nvml.table import BY_NAME
from fakes.profile import load_profile

GPUS = 8
HZ = 10
SECONDS = 5.0

# What nvitop (its live screen) and nvtop ask of every GPU, tick by tick; inputs after the name.
DEVICE_QUESTIONS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("nvmlDeviceGetName", ()),
    ("nvmlDeviceGetUUID", ()),
    ("nvmlDeviceGetIndex", ()),
    ("nvmlDeviceGetPciInfo_v3", ()),
    ("nvmlDeviceGetMemoryInfo", ()),
    ("nvmlDeviceGetBAR1MemoryInfo", ()),
    ("nvmlDeviceGetUtilizationRates", ()),
    ("nvmlDeviceGetEncoderUtilization", ()),
    ("nvmlDeviceGetDecoderUtilization", ()),
    ("nvmlDeviceGetTemperature", (0,)),
    ("nvmlDeviceGetTemperatureThreshold", (0,)),
    ("nvmlDeviceGetTemperatureThreshold", (1,)),
    ("nvmlDeviceGetFanSpeed", ()),
    ("nvmlDeviceGetPowerUsage", ()),
    ("nvmlDeviceGetPowerManagementLimit", ()),
    ("nvmlDeviceGetEnforcedPowerLimit", ()),
    ("nvmlDeviceGetClockInfo", (0,)),
    ("nvmlDeviceGetClockInfo", (1,)),
    ("nvmlDeviceGetClockInfo", (2,)),
    ("nvmlDeviceGetClockInfo", (3,)),
    ("nvmlDeviceGetMaxClockInfo", (0,)),
    ("nvmlDeviceGetMaxClockInfo", (1,)),
    ("nvmlDeviceGetMaxClockInfo", (2,)),
    ("nvmlDeviceGetMaxClockInfo", (3,)),
    ("nvmlDeviceGetPcieThroughput", (0,)),
    ("nvmlDeviceGetPcieThroughput", (1,)),
    ("nvmlDeviceGetCurrPcieLinkGeneration", ()),
    ("nvmlDeviceGetCurrPcieLinkWidth", ()),
    ("nvmlDeviceGetMaxPcieLinkGeneration", ()),
    ("nvmlDeviceGetMaxPcieLinkWidth", ()),
    ("nvmlDeviceGetPerformanceState", ()),
    ("nvmlDeviceGetPersistenceMode", ()),
    ("nvmlDeviceGetDisplayActive", ()),
    ("nvmlDeviceGetComputeMode", ()),
    ("nvmlDeviceGetMigMode", ()),
    ("nvmlDeviceGetTotalEccErrors", (1, 0)),
    ("nvmlDeviceGetCudaComputeCapability", ()),
    ("nvmlDeviceGetComputeRunningProcesses_v3", ()),
    ("nvmlDeviceGetGraphicsRunningProcesses_v3", ()),
    ("nvmlDeviceGetMPSComputeRunningProcesses_v3", ()),
)
VERSIONED = (
    ("nvmlDeviceGetMemoryInfo_v2", (0x2000028,)),
    ("nvmlDeviceGetTemperatureV", (0x100000C, 0)),
)


class Myself:
    """Stands for every process of the fake's jobs."""

    def spawn(self, spec: object) -> int:
        """The process that a job's process is: this one."""
        return os.getpid()

    def kill(self, pid: int) -> None:
        """Nothing ends before the measurement does."""


def loaded_node(clock: WallClock) -> Node:
    """Eight GPUs under load, warm."""
    node = Node("n0", load_profile("h100-sxm"), GPUS, host=Myself(), epoch=clock.epoch())
    node.start_job(JobSpec("train", tuple(range(GPUS)), memory_bytes=40 << 30), 0)
    node.settle(0)
    return node


def refresh_share(node: Node, clock: WallClock) -> tuple[float, int]:
    """The share of a core that refreshing at ten a second takes, and how many questions it has."""
    slots = Slots(lambda call, at_us: answer(node, call, at_us))
    for gpu in range(GPUS):
        for name, inputs in DEVICE_QUESTIONS:
            call = Call(name, gpu, inputs)
            slots.add(BY_NAME[name], call, answer(node, call, clock.now_us()))
        for name, words in VERSIONED:
            call = Call(name, gpu, (words,))
            slots.add(BY_NAME[name], call, answer(node, call, clock.now_us()))
    page = bytearray(8 << 20)
    slots.refresh(clock.now_us(), steady=True)
    rounds = int(SECONDS * HZ)
    began = time.process_time()
    for tick in range(rounds):
        slots.refresh(clock.now_us() + tick * 1_000_000 // HZ, steady=tick % HZ == 0)
        page[: len(slots.bank)] = slots.bank
    return (time.process_time() - began) / rounds * HZ, len(slots)


def read_times(program: Path, endpoint: Endpoint, pause_s: float) -> list[float]:
    """Serve and publish, with ``pause_s`` between, while the program reads."""
    selector = selectors.DefaultSelector()
    endpoint.register(selector)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(endpoint.directory)}
    process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, env=environment)
    at_us = 0
    while process.poll() is None:
        for key, _ in selector.select(pause_s):
            key.data()
        at_us += 1
        endpoint.publish(at_us, happened=False)
    endpoint.unregister()
    assert process.stdout is not None
    return [float(word) for word in process.stdout.read().split()]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    clock = WallClock()
    node = loaded_node(clock)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "node"
        endpoint = Endpoint(
            directory, lambda call, at_us: answer(node, call, at_us), now_us=clock.now_us
        )
        program = Path(scratch) / "nvml_read"
        source = Path(__file__).with_suffix(".c")
        link = [f"-L{directory}", "-l:libnvidia-ml.so.1"]
        subprocess.run([*compiler(), "-O2", "-o", program, source, *link], check=True)
        calm, storm, shares = [], [], []
        for _ in range(rounds):
            calm.append(read_times(program, endpoint, 1 / HZ))
            storm.append(read_times(program, endpoint, 0))
            share, questions = refresh_share(node, clock)
            shares.append(share)
        endpoint.close()
    for label, rows in (("refreshed 10 times a second", calm), ("published without pause", storm)):
        median, p99, p999 = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"power reading, {label}: {median:.0f} ns (p99 {p99:.0f}, p99.9 {p999:.0f})")
    print(f"refresh, {questions} questions at {HZ} Hz: {statistics.median(shares):.2%} of a core")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
