"""kill -9 of a simulator at any moment: its clients soon get an error, the next start is clean."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.nvml.codes import Code

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
BAR_S = 0.5
"""How soon a client gets its error; at the latest, on a machine that is busy with other tests,
within ``LATEST_S``."""
LATEST_S = 10.0
BROKEN = (Code.GPU_IS_LOST, Code.RESET_REQUIRED)


class Nursery:
    """``nursery.py``: starts simulators quickly."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def start(self, directory: Path, seed: int) -> int:
        """The PID of a simulator that serves ``directory``."""
        return self._ask(f"start {directory} 4 {seed}")

    def kill(self, pid: int) -> None:
        """End a simulator without warning."""
        os.kill(pid, signal.SIGKILL)
        assert self._ask(f"bury {pid}") == signal.SIGKILL

    def close(self) -> None:
        self._process.communicate(timeout=30)

    def _ask(self, line: str) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture
def nursery(library: Path) -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


class Client:
    """A thread that calls a function until it fails for good."""

    def __init__(self, call: Callable[[], int]) -> None:
        self._call = call
        self.code = 0
        self.ended_s = 0.0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while (code := self._call()) in (Code.SUCCESS, Code.TIMEOUT, *BROKEN):
            time.sleep(0.0005)
        self.code, self.ended_s = code, time.monotonic()

    def join(self) -> None:
        self._thread.join(LATEST_S)
        assert not self._thread.is_alive()


def clients_of(nvml: ctypes.CDLL) -> list[Client]:
    """One that reads the page, one that asks over the socket, one that waits for a long time."""
    handle, event_set = ctypes.c_void_p(), ctypes.c_void_p()
    value, count = ctypes.c_uint64(), ctypes.c_uint(0)
    data = (ctypes.c_char * 32)()
    since = ctypes.c_uint64(1 << 62)
    while nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) in BROKEN:
        time.sleep(0.01)  # until it heals
    assert nvml.nvmlEventSetCreate(ctypes.byref(event_set)) == 0

    def ask() -> int:
        code = nvml.nvmlDeviceGetProcessUtilization(handle, None, ctypes.byref(count), since)
        return int(Code.SUCCESS if code == Code.NOT_FOUND else code)

    calls: list[Callable[[], Any]] = [
        lambda: nvml.nvmlDeviceGetPowerUsage(handle, ctypes.byref(value)),
        ask,
        lambda: nvml.nvmlEventSetWait_v2(event_set, data, 60_000),
    ]
    return [Client(call) for call in calls]


@pytest.mark.parametrize(
    "times",
    [20, pytest.param(200, marks=pytest.mark.long)],
)
def test_a_simulator_may_be_killed_at_any_moment(
    nursery: Nursery, folder: Path, times: int
) -> None:
    """Who reads, asks or waits gets UNKNOWN within half a second; then there is no driver, until a
    new simulator serves the same directory, from which the same handles read again.
    """
    noise = random.Random(times)
    nvml, took_s = None, []
    for attempt in range(times):
        pid = nursery.start(folder / "node", attempt)
        nvml = nvml or ctypes.CDLL(str(folder / "node" / "libnvidia-ml.so.1"))
        assert nvml.nvmlInit_v2() == 0
        clients = clients_of(nvml)
        time.sleep(noise.uniform(0, 0.1))
        killed_s = time.monotonic()
        nursery.kill(pid)
        for client in clients:
            client.join()
            assert client.code == Code.UNKNOWN
            took_s.append(client.ended_s - killed_s)
        assert nvml.nvmlShutdown() == 0
        assert nvml.nvmlInit_v2() == Code.DRIVER_NOT_LOADED
    assert statistics.median(took_s) < BAR_S
    assert sorted(took_s)[len(took_s) * 9 // 10] < 2 * BAR_S
