"""The screen where people really use it: in tmux, over ssh, on a terminal that goes away."""

from __future__ import annotations

import getpass
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GONE_WITHIN_S = 10.0
"""Two seconds on a machine that has nothing else to do."""


def program(name: str, remedy: str) -> str:
    """The path of a program that a test needs."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        if os.environ.get("GPUTUI_REQUIRE_CLIENTS"):
            pytest.fail(f"{name} is not here: {remedy}")
        pytest.skip(f"{name} is not here: {remedy}")
    return found


# ---------------------------------------------------------------------------- tmux


class Tmux:
    """A tmux server of its own, with one session of 80x24."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._tmux = [
            program("tmux", "install tmux"),
            "-S",
            str(folder / "tmux"),
            "-f",
            "/dev/null",
        ]
        self._environment = environment

    def run(self, *words: str) -> str:
        """A tmux command; what it prints."""
        done = subprocess.run(
            [*self._tmux, *words],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return done.stdout

    def wait_for(self, part: str) -> str:
        """Wait until the pane shows a text; the pane."""
        deadline = time.monotonic() + 30
        while part not in (shown := self.run("capture-pane", "-p")):
            assert time.monotonic() < deadline, f"no {part!r} in:\n{shown}"
            time.sleep(0.1)
        return shown


@pytest.fixture
def tmux(tmp_path: Path, environment: dict[str, str]) -> Iterator[Tmux]:
    """tmux, ended at the end."""
    server = Tmux(tmp_path, environment)
    yield server
    server.run("kill-server")


def test_in_tmux_it_is_usable(make: Any, tmux: Tmux, screen_program: Any) -> None:
    """At 80x24: whole rows, keys, another size, detaching and coming back, and leaving."""
    command = shlex.join(screen_program(make.trouble()))
    tmux.run("new-session", "-d", "-x", "80", "-y", "24", f"{command}; echo left; exec sleep 100")
    lines = tmux.wait_for("GpuLost").splitlines()
    assert len(lines) == 24
    assert all(len(line) <= 80 for line in lines)
    assert "drain the node and power-cycle it" in "\n".join(lines)
    assert lines[-1].rstrip().endswith("quit")
    tmux.run("send-keys", "?")
    tmux.wait_for("KEYS")
    tmux.run("send-keys", "Escape")
    tmux.wait_for("GpuLost")
    tmux.run("resize-window", "-x", "60", "-y", "16")
    tmux.wait_for("GpuThermalThrottle")
    assert len(tmux.run("capture-pane", "-p").splitlines()) == 16
    tmux.run("send-keys", "q")
    shown = tmux.wait_for("left")
    assert "GpuLost" not in shown


# ----------------------------------------------------------------------------- ssh


@pytest.fixture
def ssh(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[[str], list[str]]]:
    """The command that runs another one on a terminal, over a real OpenSSH on loopback."""
    sshd = program("sshd", "install openssh-server")
    program("ssh", "install openssh-client")
    if pwd.getpwuid(os.getuid()).pw_shell.endswith(("nologin", "false")):
        pytest.skip("this user has no shell, so that nobody can log in")
    for name in ("host", "user"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(key, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "user.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "PidFile": "none",
        "PrintMotd": "no",
        "PrintLastLog": "no",
        "SetEnv": f'"PYTHONPATH={environment["PYTHONPATH"]}" "LC_ALL=C.UTF-8"',
    }
    config = tmp_path / "sshd_config"
    config.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    daemon = subprocess.Popen(
        [sshd, "-D", "-e", "-f", str(config)],
        stdin=subprocess.DEVNULL,
        stderr=(tmp_path / "log").open("wb"),
    )
    deadline = time.monotonic() + 20
    while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
        assert daemon.poll() is None, (tmp_path / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client = [
        "ssh", "-F", "none", "-tt", "-q", "-p", str(port), "-i", str(tmp_path / "user"),
        "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no",
        "-o", "UserKnownHostsFile=/dev/null", f"{getpass.getuser()}@127.0.0.1",
    ]  # fmt: skip
    yield lambda command: [*client, command]
    daemon.terminate()
    daemon.wait()


def test_over_ssh_it_is_usable(
    make: Any, terminal: Any, screen_program: Any, ssh: Callable[[str], list[str]]
) -> None:
    """At 80x24: it paints, follows a new size, obeys keys, and its status comes back."""
    command = shlex.join(screen_program(make.trouble()))
    opened = terminal(ssh(command), columns=80, rows=24)
    text = opened.wait_for("GpuLost")
    assert "drain the node and power-cycle it" in text
    opened.resize(100, 30)
    opened.wait_for("PCIe rx/tx")
    opened.send("?")
    opened.wait_for("KEYS")
    opened.send("q")
    assert opened.wait() == 0


def test_a_lost_ssh_connection_ends_it(
    make: Any, terminal: Any, screen_program: Any, ssh: Callable[[str], list[str]]
) -> None:
    """The far program does not stay behind when the near one is killed."""
    words = screen_program(make.trouble())
    opened = terminal(ssh(shlex.join(words)), columns=80, rows=24)
    opened.wait_for("GpuLost")
    (far,) = processes_with(words[-1], but=opened.pid)
    os.kill(opened.pid, signal.SIGKILL)
    opened.wait()
    wait_until_gone([far])


# -------------------------------------------------------------- a terminal that goes away


def processes_with(word: str, *, but: int) -> list[int]:
    """Processes with a word in their command line, shells and ``but`` left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if word in words and int(path.name) != but:
            found.append(int(path.name))
    return found


def descendants(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += descendants(int(child))
    return found


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def wait_until_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + GONE_WITHIN_S
    while left := [pid for pid in pids if is_running(pid)]:
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.05)


@pytest.mark.parametrize("leader", [[], ["setsid", "--wait"]])
def test_the_whole_demo_goes_with_its_terminal(terminal: Any, leader: list[str]) -> None:
    """Monitor, sampler, simulator, sandbox and fake processes: none stays behind.

    With ``setsid``, as under ``su -c``, the terminal is nobody's controlling one: no signal tells
    that it is gone.
    """
    demo = [sys.executable, "-m", "gputui", "--demo"]
    opened = terminal([*leader, *demo], columns=80, rows=24)
    opened.wait_for(r"\d/700W", 60)
    family = descendants(opened.pid)
    assert len(family) > 5
    opened.hang_up()
    wait_until_gone(family)
