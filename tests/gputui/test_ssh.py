"""A node elsewhere, over a real OpenSSH on loopback: what is seen, and what is said."""

import contextlib
import getpass
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gputui
from gputui.errors import SourceError
from gputui.model import GpuState
from gputui.monitor import Monitor, MonitorOptions
from gputui.sources.ssh import COMMAND_VARIABLE, SshSource

ROOT = Path(gputui.__file__).parents[1]
PRIVILEGE_SEPARATION = Path("/run/sshd")


def sshd_program():
    found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None or shutil.which("ssh") is None:
        if os.environ.get("GPUTUI_REQUIRE_CLIENTS"):
            pytest.fail("no OpenSSH server: install openssh-server")
        pytest.skip("no OpenSSH server: install openssh-server")
    if pwd.getpwuid(os.getuid()).pw_shell.endswith(("nologin", "false")):
        pytest.skip("this user has no shell, so that nobody can log in")
    return found


class Server:
    """An sshd with keys, configuration and environment of its own."""

    def __init__(self, folder, environment):
        self._program = sshd_program()
        self.folder = folder
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
                check=True,
            )
        (folder / "bin").mkdir()
        self.tool = folder / "bin/gputui"
        self.tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m gputui "$@"\n')
        self.tool.chmod(0o755)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        path = f"{folder / 'bin'}:/usr/bin:/bin"
        words = " ".join(
            f'"{name}={value}"' for name, value in {**environment, "PATH": path}.items()
        )
        (folder / "sshd_config").write_text(
            f"""
            Port {self.port}
            ListenAddress 127.0.0.1
            HostKey {folder / "host"}
            AuthorizedKeysFile {folder / "user.pub"}
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin prohibit-password
            PidFile none
            SetEnv {words}
            """
        )
        key = (folder / "host.pub").read_text().split()[:2]
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {' '.join(key)}\n")
        (folder / "ssh_config").write_text(
            f"""
            Host node-a
            HostName 127.0.0.1
            Port {self.port}
            User {getpass.getuser()}
            IdentityFile {folder / "user"}
            IdentitiesOnly yes
            UserKnownHostsFile {folder / "known"}
            StrictHostKeyChecking yes
            """
        )
        self.client = f"ssh -F {folder / 'ssh_config'}"
        self._daemon = None
        self.start()

    def start(self):
        if os.getuid() == 0:
            PRIVILEGE_SEPARATION.mkdir(mode=0o755, exist_ok=True)
        self._daemon = subprocess.Popen(
            [self._program, "-D", "-e", "-f", str(self.folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log").open("ab"),
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self._daemon.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def stop(self):
        """End the daemon, and the connections that it serves."""
        if self._daemon is None:
            return
        served = self._served(self._daemon.pid)
        self._daemon.kill()
        self._daemon.wait()
        for pid in served:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._daemon = None

    def _served(self, parent):
        """The processes below one, as /proc lists them."""
        found = []
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                pids = [int(pid) for pid in path.read_text().split()]
            except OSError:
                continue
            for pid in pids:
                found += [*self._served(pid), pid]
        return found


@pytest.fixture
def told(tmp_path):
    path = tmp_path / "told.json"

    def tell(**what):
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(what))
        fresh.replace(path)

    tell(gpus=2)
    return tell


@pytest.fixture
def server(tmp_path, fake_nvml_path, told, monkeypatch):
    """A node with two GPUs, reached as ``node-a``."""
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    log = tmp_path / "kern.log"
    log.write_text("")
    server = Server(
        folder,
        {
            "PYTHONPATH": f"{fake_nvml_path}:{ROOT}",
            "FAKE_NVML": str(tmp_path / "told.json"),
            "GPUTUI_KERNEL_LOG": str(log),
            "XDG_STATE_HOME": str(tmp_path / "remote-state"),
            "XDG_CONFIG_HOME": str(tmp_path / "remote-config"),
        },
    )
    server.kernel_log = log
    monkeypatch.setenv(COMMAND_VARIABLE, server.client)
    yield server
    server.stop()


@pytest.fixture
def watched(server):
    """A monitor of that node, and the snapshots it told."""
    monitor = Monitor(MonitorOptions(source="ssh:node-a", interval_s=0.2))
    snapshots = []

    def wait_for(true, timeout_s=40.0):
        deadline = time.monotonic() + timeout_s
        while True:
            for snapshot in list(snapshots):
                if true(snapshot):
                    return snapshot
            assert time.monotonic() < deadline, snapshots[-1:]
            time.sleep(0.05)

    monitor.wait_for = wait_for
    monitor.snapshots = snapshots
    monitor.start(snapshots.append)
    yield monitor
    monitor.stop()


def healthy(snapshot):
    return [one.state for one in snapshot.statuses] == [GpuState.OK] * 2


def test_what_happens_there_is_seen_here(watched, server, told):
    """Samples, the kernel's words and what they mean; the incidents are found out here."""
    watched.wait_for(healthy)
    told(gpus=2, lost=[1])
    with server.kernel_log.open("a") as log:
        log.write("NVRM: Xid (PCI:0000:11:00): 79, pid=1, name=x, GPU has fallen off the bus.\n")
    snapshot = watched.wait_for(lambda snapshot: len(snapshot.incidents) == 2)
    assert [one.kind for one in snapshot.incidents] == ["GpuLost", "GpuXid"]
    assert snapshot.incidents[0].host == os.uname().nodename


def test_a_lost_connection_is_said_and_made_again(watched, server):
    """The GPUs are stale while it is gone, with the reason; then all is well again."""
    watched.wait_for(healthy)
    server.stop()
    snapshot = watched.wait_for(lambda snapshot: snapshot.sample.error)
    assert "No connection to node-a" in snapshot.sample.error
    assert [one.state for one in snapshot.statuses] == [GpuState.STALE] * 2
    assert any("trying again in" in notice for notice in snapshot.notices)
    server.start()
    watched.snapshots.clear()
    watched.wait_for(healthy)


def test_a_hang_there_is_told_here(watched, server, told):
    """The words come with the stream; here nobody could know them."""
    watched.wait_for(healthy)
    told(gpus=2, hang_driver=True)
    snapshot = watched.wait_for(lambda snapshot: "does not return from a call" in str(snapshot))
    assert [one.state for one in snapshot.statuses] == [GpuState.STALE] * 2


def test_stopping_is_quick_and_leaves_nobody_there(watched, server):
    """What ran on the other side ends with the connection."""
    watched.wait_for(healthy)
    daemon = server._daemon.pid
    assert len(server._served(daemon)) > 2
    before = time.monotonic()
    watched.stop()
    assert time.monotonic() - before < 1
    deadline = time.monotonic() + 20
    while server._served(daemon):
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def run(server):
    def run(*arguments, **more):
        return subprocess.run(
            [sys.executable, "-m", "gputui", *arguments],
            cwd=ROOT,
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_one_reading_of_another_node(run, told):
    """As of this one, with the same exit codes."""
    done = run("--once", "--json", "--source", "ssh:node-a")
    assert (done.returncode, done.stderr) == (0, "")
    assert [gpu["state"] for gpu in json.loads(done.stdout)["gpus"]] == ["ok", "ok"]
    told(gpus=2, lost=[1])
    assert run("--once", "--source", "ssh:node-a").returncode == 1


def test_a_key_that_is_not_accepted_is_told_in_ssh_s_words(run, server):
    """Nobody is asked for a password: the terminal belongs to the screen."""
    (server.folder / "user.pub").write_text("")
    done = run("--once", "--source", "ssh:node-a")
    assert done.returncode == 2
    assert "No connection to node-a" in done.stderr
    assert "Permission denied" in done.stderr


def test_a_node_without_gputui_is_told_what_it_lacks(run, server):
    """The connection works; the program is not there."""
    server.tool.unlink()
    done = run("--once", "--source", "ssh:node-a")
    assert done.returncode == 2
    assert "gputui is not on the PATH of node-a" in done.stderr


def test_a_node_that_does_not_listen_is_told(run, server):
    """Connection refused, in ssh's words."""
    server.stop()
    done = run("--once", "--source", "ssh:node-a")
    assert done.returncode == 2
    assert "Connection refused" in done.stderr


@pytest.mark.parametrize("host", ["", "-oProxyCommand=reboot", "a b"])
def test_what_is_no_host_never_reaches_ssh(host):
    """A name that ssh would take for an option is refused."""
    with pytest.raises(SourceError, match="names no host"):
        SshSource(host, 1.0)
