"""Real commands, as whoever runs the tests and as a plain user."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


class Commands:
    """``gpuchaos`` as one user, in an environment of the test's own."""

    def __init__(self, prefix: Sequence[str], python: str, env: dict[str, str]) -> None:
        self.prefix = tuple(prefix)
        self.python = python
        self.env = env
        self.cwd = ROOT
        self._started: list[subprocess.Popen[str]] = []

    def argv(self, *words: str) -> list[str]:
        """The command line of a gpuchaos command."""
        return [*self.prefix, self.python, "-m", "chaos", *words]

    def gpuchaos(self, *words: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a gpuchaos command to its end."""
        return subprocess.run(
            self.argv(*words),
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def on_node(self, script: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run a shell script as the program of a fake node."""
        words = ("node", "h100-sxm", "--gpus", "2", *options)
        return self.gpuchaos(*words, "--", "sh", "-c", script)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a gpuchaos command; what still runs at the test's end is ended."""
        started = subprocess.Popen(
            self.argv(*words),
            cwd=self.cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(started)
        return started

    def start_node(self, *options: str) -> subprocess.Popen[str]:
        """Start a node of two GPUs, and wait until it serves its program."""
        script = ("sh", "-c", "echo ready; exec sleep 1000")
        node = self.start("node", "h100-sxm", "--gpus", "2", *options, "--", *script)
        assert node.stdout is not None
        if node.stdout.readline() != "ready\n":
            assert node.stderr is not None
            raise AssertionError(node.stderr.read())
        return node

    def status(self, *options: str) -> dict[str, Any]:
        """What ``gpuchaos status --json`` says."""
        done = self.gpuchaos("status", "--json", *options)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def close(self) -> None:
        """End what still runs."""
        for started in self._started:
            if started.poll() is None:
                started.send_signal(signal.SIGTERM)
                try:
                    started.wait(10)
                except subprocess.TimeoutExpired:
                    started.kill()
                    started.wait()
            for pipe in (started.stdout, started.stderr):
                if pipe is not None:
                    pipe.close()


@pytest.fixture(scope="session")
def cache() -> Iterator[Path]:
    """A cache with what is compiled on first use, that every user may read."""
    with tempfile.TemporaryDirectory(prefix="gt-cache-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "gputui").mkdir(mode=0o755)
        program = (
            "import fakes.nvml.shim.build as nvml, chaos.sandbox.compiled as own;"
            "print(nvml.require().parent, *map(own.compiled, own.NAMES), sep='\\n')"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        for path in map(Path, done.stdout.splitlines()):
            if path.is_file():
                shutil.copy(path, folder / "gputui")
            elif path.name.startswith("fakenvml-"):  # else it came compiled, beside its sources
                shutil.copytree(path, folder / "gputui" / path.name)
        yield folder


@pytest.fixture(scope="session")
def commands_of(cache: Path) -> Callable[[str, dict[str, str]], Commands]:
    """``gpuchaos`` as "me" or "nobody", in an environment: ``commands_of(user, environment)``.

    The runtime directory becomes nobody's, and is their home.
    """

    def make(user: str, environment: dict[str, str]) -> Commands:
        env = {**environment, "XDG_CACHE_HOME": str(cache)}
        if user == "me":
            return Commands((), sys.executable, env)
        if os.geteuid() != 0:
            pytest.skip("the tests run as a plain user anyway")
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not here")
        runtime = env["XDG_RUNTIME_DIR"]
        os.chown(runtime, NOBODY, NOBODY)
        packages = [str(ROOT), *(path for path in sys.path if "site-packages" in path)]
        env.update(HOME=runtime, PYTHONPATH=os.pathsep.join(packages))
        return Commands(AS_NOBODY, _python_for_nobody(env), env)

    return make


@pytest.fixture
def me(
    environment: dict[str, str], commands_of: Callable[[str, dict[str, str]], Commands]
) -> Iterator[Commands]:
    """``gpuchaos`` as whoever runs the tests."""
    commands = commands_of("me", environment)
    yield commands
    commands.close()


@pytest.fixture
def nobody(
    environment: dict[str, str], commands_of: Callable[[str, dict[str, str]], Commands]
) -> Iterator[Commands]:
    """``gpuchaos`` as a plain user, when the tests run as root."""
    commands = commands_of("nobody", environment)
    yield commands
    commands.close()


@pytest.fixture(params=["me", "nobody"])
def who(request: pytest.FixtureRequest) -> Commands:
    """Both, one after the other."""
    found: Commands = request.getfixturevalue(request.param)
    return found


def _python_for_nobody(env: dict[str, str]) -> str:
    """A Python of this version that a plain user can run: ours may lie in root's home."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        program = "import chaos.real_time.stage, os; os.stat(os.sys.executable)"
        tried = subprocess.run(
            [*AS_NOBODY, python, "-c", program], cwd=ROOT, env=env, capture_output=True, check=False
        )
        again = subprocess.run(
            [*AS_NOBODY, "test", "-x", python], cwd=ROOT, env=env, capture_output=True, check=False
        )
        if tried.returncode == 0 and again.returncode == 0:
            return python
    pytest.skip("no Python of this version, or not this checkout, is open to a plain user")


class Processes:
    """Some processes, told from later ones with the same PIDs by when they started."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._started = {pid: self._start(pid) for pid in pids}

    def __len__(self) -> int:
        return len(self._started)

    def alive(self) -> list[int]:
        """Those that still run."""
        return [pid for pid, start in self._started.items() if start == self._start(pid)]

    @staticmethod
    def _start(pid: int) -> str | None:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return f"{pid} is gone"
        state, *rest = stat.rpartition(")")[2].split()
        return None if state in "ZX" else rest[18]


@pytest.fixture
def processes() -> Callable[[Iterable[int]], Processes]:
    """Some processes, to see whether they end: ``processes(pids)``."""
    return Processes


@pytest.fixture
def processes_in() -> Callable[[int], Processes]:
    """The processes in a PID namespace, by its inode, as far as this user may know."""

    def find(namespace: int) -> Processes:
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "ns/pid").stat().st_ino == namespace:
                    found.append(int(path.name))
        return Processes(found)

    return find


@pytest.fixture
def wait_until() -> Callable[..., None]:
    """Wait for a condition: ``wait_until(lambda: ..., "what is waited for")``."""

    def wait(true: Callable[[], object], what: str, timeout_s: float = 20.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not true():
            assert time.monotonic() < deadline, f"waited {timeout_s:g} s for {what}"
            time.sleep(0.02)

    return wait


HEAT = """\
scenario: drill
why: A blocked airway heats one GPU; its power is capped.
given:
  jobs: [{id: train, gpus: "n0/*"}]
timeline:
  - {at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
runbook: {run: ./runbook, args: ["{gpu}", "{node}"], when: GpuThermalThrottle, RUNBOOK}
expect:
  - {incident: GpuThermalThrottle, gpu: n0/3, within: 2m}
allow: [GpuPowerCapped]
stop: STOP
"""


class Rehearsed:
    """What came of a run: how it ended, what it printed, its journal."""

    def __init__(self, done: Any, journal: Path, real_s: float) -> None:
        self.status: int = done.returncode
        self.printed: str = done.stdout + done.stderr
        self.real_s = real_s
        self.bytes = journal.read_bytes() if journal.exists() else b""
        self.records = [json.loads(line) for line in self.bytes.splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["event"] == event]

    @property
    def calls(self) -> list[str]:
        return [" ".join(record["argv"]) for record in self.of("call")]

    @property
    def ended(self) -> list[tuple[float, int]]:
        """When the runbook ended, and how."""
        return [(one["t"], one["exit"]) for one in self.of("runbook") if "exit" in one]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may read."""
    with tempfile.TemporaryDirectory(prefix="gt-drill-") as name:
        path = Path(name)
        path.chmod(0o777)
        yield path


@pytest.fixture
def rehearse(folder: Path) -> Callable[..., Rehearsed]:
    """Run a shell script as the runbook of a scenario: ``rehearse(who, script, expect)``."""

    def run(
        who: Any,
        script: str,
        expect: str = "",
        *,
        runbook: str = "exit: 0",
        program: str = "./runbook",
        when: str = "GpuThermalThrottle",
        stop: str = "{}",
        timeline: str = "timeline:\n",
        allow: str = "JobFailed",
    ) -> Rehearsed:
        (folder / "runbook").write_text(f"#!/bin/bash\n{script}\n", encoding="utf-8")
        (folder / "runbook").chmod(0o755)
        text = HEAT.replace("RUNBOOK", runbook).replace("./runbook", program)
        text = text.replace("when: GpuThermalThrottle", f"when: {when}")
        if "args:" in runbook:
            text = text.replace(' args: ["{gpu}", "{node}"],', "")
        text = text.replace("STOP", stop).replace("timeline:\n", timeline)
        text = text.replace("GpuPowerCapped", f"GpuPowerCapped, {allow}")
        head, allow = text.split("allow:")
        (folder / "drill.yaml").write_text(f"{head}{expect}allow:{allow}", encoding="utf-8")
        journal = folder / f"{time.monotonic_ns()}.jsonl"
        began_s = time.monotonic()
        done = who.gpuchaos("test", str(folder / "drill.yaml"), "--journal", str(journal))
        return Rehearsed(done, journal, time.monotonic() - began_s)

    return run
