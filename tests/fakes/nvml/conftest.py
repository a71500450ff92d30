"""Tests of the carriers share a simulator to run, the library, and a way to compile C programs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.nvml.shim.build import NoCompilerError, compiler, require

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]


class Simulator:
    """``simulator.py`` in a process of its own, serving a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.library = directory / "libnvidia-ml.so.1"
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "simulator.py"), str(directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._line() == "ready"

    def tell(self, command: str) -> int:
        """Send a command and wait until it is done; the generation then."""
        self.send(command)
        word, generation = self._line().split()
        assert word == "done"
        return int(generation)

    def send(self, command: str) -> None:
        """Send a command without waiting."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """End it without warning."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """End it in an orderly way, if it still runs."""
        if self.process.poll() is None:
            self.send("quit")
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


@pytest.fixture(scope="session")
def library() -> Path:
    """The built library; the test is skipped where there is no C compiler."""
    try:
        return require()
    except NoCompilerError as error:
        pytest.skip(str(error))


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty directory."""
    with tempfile.TemporaryDirectory(prefix="gt-") as name:
        yield Path(name)


@pytest.fixture
def start(library: Path) -> Iterator[Callable[[Path], Simulator]]:
    """Start simulators: ``start(directory)``. They end with the test."""
    started: list[Simulator] = []

    def start_one(directory: Path) -> Simulator:
        started.append(Simulator(directory))
        return started[-1]

    yield start_one
    for each in started:
        each.end()


@pytest.fixture
def simulator(start: Callable[[Path], Simulator], folder: Path) -> Simulator:
    """A running simulator."""
    return start(folder / "node")


@pytest.fixture(scope="session")
def lasting(library: Path) -> Iterator[Simulator]:
    """A running simulator for tests that leave it as they found it: starting one takes a while."""
    with tempfile.TemporaryDirectory(prefix="gt-") as name:
        simulator = Simulator(Path(name) / "node")
        yield simulator
        simulator.end()


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Path:
    """The compiled ``client.c``."""
    program = tmp_path_factory.mktemp("client") / "client"
    command = [
        *compiler(),
        "-O1",
        "-Wall",
        "-Wno-format-zero-length",
        "-o",
        str(program),
        str(HERE / "client.c"),
    ]
    subprocess.run([*command, "-ldl", "-pthread"], check=True)
    return program
