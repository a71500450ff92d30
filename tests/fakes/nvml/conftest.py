"""Tests of the carriers share a rig on either of them, a simulator to run, and C programs."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pynvml
import pytest

from fakes.nvml.endpoint import Endpoint
from fakes.nvml.shim.build import NoCompilerError, compiler, require

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
IN_PROCESS, LIBRARY = "in process", "library"


class Service:
    """A rig's node behind the C library: an endpoint in a thread, which the library asks.

    The thread touches the node only while the test's own thread waits for it: in a call of the
    library, or for a publication.
    """

    def __init__(self, rig: Any, directory: Path, library: Path) -> None:
        self._rig = rig
        self.directory = directory
        self._library = library
        self._wanted: queue.Queue[bool] = queue.Queue()
        self._done: queue.Queue[BaseException | None] = queue.Queue()
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._wait()

    def publish(self) -> None:
        """Show the node as it is now."""
        self._tell(True)

    def close(self) -> None:
        self._tell(False)
        self._thread.join()
        os.close(self._woken)
        os.close(self._wake)

    def _tell(self, go_on: bool) -> None:
        self._wanted.put(go_on)
        os.write(self._wake, b"x")
        self._wait()

    def _wait(self) -> None:
        if error := self._done.get(timeout=30):
            raise error

    def _run(self) -> None:
        try:
            rig = self._rig
            endpoint = Endpoint(
                self.directory, rig.ask, now_us=lambda: rig.at_us, library=self._library
            )
            with selectors.DefaultSelector() as selector, contextlib.closing(endpoint):
                endpoint.register(selector)
                selector.register(self._woken, selectors.EVENT_READ, lambda: None)
                self._done.put(None)
                while self._serve(endpoint, selector):
                    pass
            self._done.put(None)
        except BaseException as error:
            self._done.put(error)

    def _serve(self, endpoint: Endpoint, selector: selectors.BaseSelector) -> bool:
        for key, _ in selector.select():
            if key.fd != self._woken:
                key.data()
                continue
            os.read(self._woken, 1)
            if not self._wanted.get():
                return False
            endpoint.publish(self._rig.at_us)
            self._done.put(None)
        while due_us := endpoint.next_due_us():
            self._rig.park(due_us)
            endpoint.publish(self._rig.at_us)
        return True


class Served:
    """The C library as nvidia-ml-py takes it; each call sees the node as it is at that moment."""

    def __init__(self, library: ctypes.CDLL, service: Service) -> None:
        self._library = library
        self._service = service
        self.directory = service.directory

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._library, name)
        if name == "nvmlErrorString":  # of which the binding sets the type of its result
            return function

        def call(*arguments: Any) -> int:
            self._service.publish()
            return function(*arguments)

        setattr(self, name, call)
        return call


@contextlib.contextmanager
def bound_to(library: Served) -> Iterator[None]:
    """Let nvidia-ml-py use a library."""
    before = pynvml.nvmlLib, pynvml._nvmlLib_refcount
    known = dict(pynvml._nvmlGetFunctionPointer_cache)
    pynvml.nvmlLib, pynvml._nvmlLib_refcount = library, 0
    pynvml._nvmlGetFunctionPointer_cache.clear()
    try:
        yield
    finally:
        pynvml.nvmlLib, pynvml._nvmlLib_refcount = before
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml._nvmlGetFunctionPointer_cache.update(known)


@pytest.fixture(scope="session")
def places(library: Path) -> Iterator[list[tuple[Path, ctypes.CDLL]]]:
    """Directories that no node is in, each with its library opened: it cannot be closed again."""
    free: list[tuple[Path, ctypes.CDLL]] = []
    yield free
    for directory, _ in free:
        with contextlib.suppress(OSError):
            directory.rmdir()


@pytest.fixture(params=[IN_PROCESS, LIBRARY])
def carrier(request: pytest.FixtureRequest) -> str:
    """How answers reach the test: each test that asks for a rig runs on both."""
    return request.param


@pytest.fixture
def start_serving(
    library: Path, places: list[tuple[Path, ctypes.CDLL]]
) -> Iterator[Callable[[Any], Served]]:
    """Put a rig's node behind the C library, which it returns, for the rest of the test."""
    with contextlib.ExitStack() as stack:

        def serve(rig: Any) -> Served:
            directory, opened = places.pop() if places else open_library(library)
            stack.callback(places.append, (directory, opened))
            service = Service(rig, directory, library)
            stack.callback(service.close)
            stack.callback(shut_down, opened)
            return Served(opened, service)

        yield serve


@pytest.fixture
def make_rig(
    carrier: str,
    make_rig: Callable[..., Any],
    new_rig: Callable[..., Any],
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., Any]]:
    """Make a world, and let nvidia-ml-py's own code read its node over the carrier."""
    if carrier == IN_PROCESS:
        yield make_rig
        return
    start_serving = request.getfixturevalue("start_serving")
    with contextlib.ExitStack() as stack:

        def make(**kinds: Any) -> Any:
            rig = new_rig(**kinds)
            rig.library = start_serving(rig)
            stack.enter_context(bound_to(rig.library))
            pynvml.nvmlInit()
            return rig

        yield make


def shut_down(library: ctypes.CDLL) -> None:
    """Leave NVML, however often it was begun."""
    while library.nvmlShutdown() == 0:
        pass


def open_library(library: Path) -> tuple[Path, ctypes.CDLL]:
    """A directory for a node, and the library opened there: it looks for a page beside itself."""
    directory = Path(tempfile.mkdtemp(prefix="gt-"))
    copy = directory / "libnvidia-ml.so.1"
    copy.write_bytes(library.read_bytes())
    return directory, ctypes.CDLL(str(copy))


class Simulator:
    """``simulator.py`` or another program in a process of its own, serving a directory."""

    def __init__(self, directory: Path, program: str = "simulator.py", *arguments: str) -> None:
        self.directory = directory
        self.library = directory / "libnvidia-ml.so.1"
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / program), str(directory), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._line() == "ready"

    def tell(self, command: str) -> str:
        """Send a command and wait until it is done; what it found."""
        self.send(command)
        word, _, found = self._line().partition(" ")
        assert word == "done"
        return found

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
def start(library: Path) -> Iterator[Callable[..., Simulator]]:
    """Start simulators: ``start(directory)``. They end with the test."""
    started: list[Simulator] = []

    def start_one(directory: Path, program: str = "simulator.py", *arguments: str) -> Simulator:
        started.append(Simulator(directory, program, *arguments))
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
def compiled(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Callable[[str], Path]:
    """Compile a C program that lies here: ``compiled("client")``."""

    @cache
    def compile_one(name: str) -> Path:
        program = tmp_path_factory.mktemp("programs") / name
        command = [*compiler(), "-O1", "-Wall", "-Wno-format-zero-length", "-o", str(program)]
        subprocess.run([*command, str(HERE / f"{name}.c"), "-ldl", "-pthread"], check=True)
        return program

    return compile_one


@pytest.fixture(scope="session")
def client(compiled: Callable[[str], Path]) -> Path:
    """The compiled ``client.c``."""
    return compiled("client")
