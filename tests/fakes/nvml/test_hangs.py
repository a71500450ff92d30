"""Calls that do not return, in the C library: they cost nothing, and end when they can."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.nvml.codes import Code

PROGRAM = """
import ctypes, signal, sys
nvml = ctypes.CDLL(sys.argv[1])
what, index = sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGUSR1, lambda *_: None)
handle, power = ctypes.c_void_p(), ctypes.c_uint()
if what == "init":
    print("asking", flush=True)
    print(nvml.nvmlInit_v2(), flush=True)
else:
    assert nvml.nvmlInit_v2() == 0
    assert nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0
    print("ready", flush=True)
    sys.stdin.readline()
    print("asking", flush=True)
    print(nvml.nvmlDeviceGetPowerUsage(handle, ctypes.byref(power)), flush=True)
"""
SECOND = 1.0


class Client:
    """A program that makes one call."""

    def __init__(self, library: Path, what: str, index: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(library), what, str(index)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.said() == ("asking" if what == "init" else "ready")

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.said() == "asking"

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def cpu_s(self) -> float:
        """Processor time so far (proc(5): utime and stime)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def hangs(self) -> bool:
        """Whether it waits, and spends next to nothing on it."""
        time.sleep(0.1)
        before_s = self.cpu_s()
        time.sleep(SECOND)
        return self.process.poll() is None and self.cpu_s() - before_s < 0.05 * SECOND

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def make_client() -> Iterator[Callable[..., Client]]:
    made: list[Client] = []

    def make(*arguments: Any) -> Client:
        made.append(Client(*arguments))
        return made[-1]

    yield make
    for client in made:
        client.end()


@pytest.fixture
def node(start: Callable[..., Any], folder: Path) -> Any:
    return start(folder / "node", "node_simulator.py", "2")


def test_a_call_to_a_hung_gpu_waits_quietly_until_it_heals(
    node: Any, make_client: Callable[..., Client]
) -> None:
    """No processor time, whatever signal comes; its neighbour answers; healed, it does too."""
    hung, neighbour = (make_client(node.library, "read", index) for index in (0, 1))
    node.tell("hang 0")
    hung.go_on()
    neighbour.go_on()
    assert neighbour.said() == "0"
    hung.process.send_signal(signal.SIGUSR1)
    assert hung.hangs()
    node.tell("calm")
    assert hung.said() == "0"


def test_nvml_that_lets_nobody_in_waits_quietly_until_it_does(
    node: Any, make_client: Callable[..., Client]
) -> None:
    """Who was in before goes on reading; who begins waits."""
    inside = make_client(node.library, "read")
    node.tell("shut")
    outside = make_client(node.library, "init")
    inside.go_on()
    assert inside.said() == "0"
    assert outside.hangs()
    node.tell("calm")
    assert outside.said() == "0"


@pytest.mark.parametrize("what", ["read", "init"])
def test_a_hung_program_can_be_interrupted(
    node: Any, make_client: Callable[..., Client], what: str
) -> None:
    """The keyboard's interrupt ends it: it sleeps as a process does, not as a stuck driver's."""
    if what == "init":
        node.tell("shut")
        client = make_client(node.library, what)
    else:
        client = make_client(node.library, what)
        node.tell("hang 0")
        client.go_on()
    time.sleep(0.1)
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(10) == -signal.SIGINT


def test_a_hang_ends_with_the_simulator(node: Any, make_client: Callable[..., Client]) -> None:
    """Nobody waits for a node that is gone: a reading fails, and there is no driver."""
    reading = make_client(node.library, "read")
    node.tell("hang 0")
    reading.go_on()
    node.tell("shut")
    beginning = make_client(node.library, "init")
    killed_s = time.monotonic()
    node.kill()
    assert reading.said() == str(int(Code.UNKNOWN))
    assert beginning.said() == str(int(Code.DRIVER_NOT_LOADED))
    assert time.monotonic() - killed_s < 10
