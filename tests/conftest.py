"""What tests share: a terminal to run programs in, and fake nodes of their own."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyte
import pytest
from hypothesis import settings

# How long an example takes says something of the machine, not of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).parents[1]
GPUCHAOS = (sys.executable, "-m", "chaos")
GPUTUI = (sys.executable, "-m", "gputui")
PROGRAM_FOLDERS = (Path(sys.executable).parent, ROOT / ".cache/nvtop/root/usr/bin")


def wait_until(true: Callable[[], object], what: str, timeout_s: float = 20.0) -> None:
    """Wait for a condition; fail with ``what`` was waited for."""
    deadline = time.monotonic() + timeout_s
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s:g} s for {what}")
        time.sleep(0.05)


class Terminal:
    """A program on a pseudo-terminal, and the screen it draws (an emulated xterm)."""

    def __init__(
        self, argv: Sequence[str], *, columns: int, rows: int, env: Mapping[str, str]
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self.status: int | None = None
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execvpe(argv[0], list(argv), dict(env))
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    def read(self, for_s: float = 0.1) -> None:
        """Take in what the program draws within ``for_s``."""
        deadline = time.monotonic() + for_s
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._fd], [], [], left)[0]:
                return
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                data = b""
            if not data:
                self._reap(os.WNOHANG)
                return
            self._take(data)

    def _take(self, data: bytes) -> None:
        self.raw += data
        self._stream.feed(data)

    def text(self) -> str:
        """The screen as it stands."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, pattern: str, timeout_s: float = 20.0) -> str:
        """Wait until the screen matches a regular expression; the screen."""
        deadline = time.monotonic() + timeout_s
        while True:
            self.read()
            if re.search(pattern, self.text(), re.MULTILINE):
                return self.text()
            if self.status is not None or time.monotonic() > deadline:
                raise AssertionError(
                    f"no {pattern!r} within {timeout_s:g} s (status {self.status}):\n{self.text()}"
                )

    def wait_until(self, true: Callable[[], object], timeout_s: float = 20.0) -> None:
        """Take in what is drawn until a condition holds."""
        deadline = time.monotonic() + timeout_s
        while not true():
            self.read()
            if self.status is not None or time.monotonic() > deadline:
                raise AssertionError(f"waited in vain (status {self.status}):\n{self.text()}")

    def discard(self, for_s: float = 0.0) -> None:
        """Have what the program draws within ``for_s`` go unseen: an emulator is slow."""
        deadline = time.monotonic() + for_s
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            if not select.select([self._fd], [], [], left)[0]:
                return
            os.read(self._fd, 65536)

    def hang_up(self) -> None:
        """The terminal vanishes, as when a connection is cut."""
        os.close(self._fd)
        self._fd = os.open(os.devnull, os.O_RDONLY)

    def draw_over(self, data: bytes) -> None:
        """Another program writes on the same terminal."""
        self._stream.feed(data)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._fd, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Change the terminal's size, as a window manager would."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, timeout_s: float = 10.0) -> int:
        """Wait for the program's end; its exit status (128 + N for signal N)."""
        deadline = time.monotonic() + timeout_s
        while self.status is None:
            self.read(0.05)
            self._reap(os.WNOHANG)
            if time.monotonic() > deadline:
                raise AssertionError(f"still running after {timeout_s:g} s:\n{self.text()}")
        self._drain()
        return self.status

    def _drain(self) -> None:
        """Take in what the program drew last: its end is known before all that it drew is here."""
        while select.select([self._fd], [], [], 0)[0]:
            try:
                data = os.read(self._fd, 65536)
            except OSError:
                return
            if not data:
                return
            self._take(data)

    def close(self) -> None:
        """End the program, if it still runs."""
        if self.status is None:
            os.kill(self.pid, signal.SIGTERM)
            try:
                self.wait(5)
            except AssertionError:
                os.kill(self.pid, signal.SIGKILL)
                self._reap(0)
        os.close(self._fd)

    def _reap(self, flags: int) -> None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, flags)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.status = 128 - code if code < 0 else code


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """An environment of the test's own: no colour settings, and an empty runtime directory whose
    path is short enough for sockets.
    """
    with tempfile.TemporaryDirectory(prefix="gt-") as folder:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GPUTUI", "GPUCHAOS"))}
        for name in ("NO_COLOR", "COLORTERM", "COLUMNS", "LINES", "LD_LIBRARY_PATH"):
            kept.pop(name, None)
        python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        yield {
            **kept,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": python_path,
            "XDG_RUNTIME_DIR": folder,
            "TMPDIR": folder,
            "XDG_STATE_HOME": f"{folder}/state",
            "XDG_CONFIG_HOME": f"{folder}/config",
        }


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Start programs on terminals: ``terminal(argv, columns=100, rows=30)``."""
    started: list[Terminal] = []

    def start(
        argv: Sequence[str],
        *,
        columns: int = 100,
        rows: int = 30,
        env: Mapping[str, str] | None = None,
    ) -> Terminal:
        opened = Terminal(argv, columns=columns, rows=rows, env={**environment, **(env or {})})
        started.append(opened)
        return opened

    yield start
    for opened in started:
        opened.close()


class FakeNode:
    """A running ``gpuchaos node``, and the commands that act on it."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self._process = subprocess.Popen(
            [*GPUCHAOS, *argv, "--", "sleep", "1000"],
            cwd=ROOT,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        wait_until(self._answers, "the fake node to answer")

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            assert self._process.stderr is not None
            raise AssertionError(f"the node ended: {self._process.stderr.read()}")
        return self.gpuchaos("status").returncode == 0

    def gpuchaos(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a ``gpuchaos`` command beside it."""
        return subprocess.run(
            [*GPUCHAOS, *argv],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def enter(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a program on it."""
        return self.gpuchaos("enter", "--", *argv)

    def inject(self, *argv: str) -> str:
        """Inject a fault; its id."""
        done = self.gpuchaos("inject", *argv)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def reading(self) -> dict[str, object]:
        """What ``gputui --once --json`` says of it."""
        done = self.enter(*GPUTUI, "--once", "--json")
        return dict(json.loads(done.stdout))

    def close(self) -> None:
        """End it, and all that runs on it."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


@pytest.fixture
def fake_node(environment: dict[str, str]) -> Iterator[Callable[..., FakeNode]]:
    """Start fake nodes: ``fake_node("h100-sxm", "--gpus", "8")``."""
    started: list[FakeNode] = []

    def start(*argv: str) -> FakeNode:
        node = FakeNode(["node", *(argv or ("h100-sxm", "--gpus", "8"))], environment)
        started.append(node)
        return node

    yield start
    for node in started:
        node.close()


@pytest.fixture
def program() -> Callable[[str, str], str]:
    """The path of a program: ``program("nvtop", "how to get it")``.

    One that is not here is a skip, or a failure where real programs are required.
    """

    def find(name: str, remedy: str) -> str:
        for place in PROGRAM_FOLDERS:
            if (place / name).exists():
                return str(place / name)
        if found := shutil.which(name):
            return found
        message = f"{name} is not here: {remedy}"
        if os.environ.get("GPUTUI_REQUIRE_CLIENTS"):
            pytest.fail(message)
        pytest.skip(message)

    return find
