"""What a program on a node tries in order to get at the machine, and what comes of it.

All attempts of one user are made by one program on one node, each in a shell of its own; a test is
one of them. ``$PLACE`` is a directory in the machine's /tmp: the caller's home and current
directory lie in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOBODY = 65534
SECRET = f"a secret of the machine's: {secrets.token_hex(8)}"
OWN_PLACE = r"(home\n)?runtime\nwork\n"
READ_ONLY = r"(.*Read-only file system\n)+"

RUN_ATTEMPTS = """
import json, subprocess, sys
said = {}
for name, script in json.loads(sys.argv[1]).items():
    done = subprocess.run(["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    said[name] = done.stdout.decode(errors="replace")
print(json.dumps(said))
"""

CONNECT = """
import errno, socket, sys
for text in sys.argv[1:]:
    family, _, address = text.partition(":")
    if family == "tcp":
        host, _, port = address.partition(":")
        asked, where = socket.socket(), (host, int(port))
    else:
        asked, where = socket.socket(socket.AF_UNIX), address.replace("@", chr(0), 1)
    asked.settimeout(5)
    try:
        asked.connect(where)
        print("connected")
    except OSError as error:
        print(errno.errorcode.get(error.errno, error))
"""

OWN_LOGS = (
    "dmesg", "fabricmanager.log", "healthchecks", "kern.log", "messages", "nvidia-dcgm",
    "nvidia-imex.log", "slurm", "slurm-1001.out", "syslog",
)  # fmt: skip

MOUNT = """
import ctypes, sys
source, target, kind, flags = sys.argv[1:5]
ctypes.CDLL(None).mount(source.encode(), target.encode(), kind.encode(), int(flags), None)
"""

TRACE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, 1, 0, 0), os.strerror(ctypes.get_errno()))  # PTRACE_ATTACH
"""

OPEN_BY_HANDLE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_uint32 * 4)(8, 1, 2, 0)  # 8 bytes of type 1: inode 2, of any generation
for path in sys.argv[1:]:
    print(libc.open_by_handle_at(os.open(path, os.O_RDONLY), handle, os.O_RDONLY))
"""

LEAVE_ROOT = """
import os
os.mkdir("/tmp/cell")
os.chroot("/tmp/cell")
for _ in range(64):
    os.chdir("..")
os.chroot(".")
print(os.path.exists(os.environ["PLACE"] + "/home/marker"))
"""

LOAD_NVML = """
import ctypes, glob
for folder in ("/usr/lib/*-linux-gnu", "/usr/lib64"):
    for path in glob.glob(folder + "/libnvidia-ml.so*"):
        nvml, count = ctypes.CDLL(path), ctypes.c_uint()
        print(nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), count.value)
"""


@dataclass(frozen=True)
class Attempt:
    """A script, and a pattern of all that it may say. ``by``: only "root" or "plain" users try."""

    script: str
    says: str
    by: str = ""


ATTEMPTS = {
    # --- files ---------------------------------------------------------------------------------
    "read the home": Attempt("cat $HOME/marker", r".*No such file.*\n"),
    "find what is secret": Attempt(
        "find /home /root /tmp /var/tmp /run /dev/shm $PLACE -xdev -name marker 2>/dev/null", ""
    ),
    "write to the home": Attempt("echo x > $HOME/new && ls $HOME/new", r"/.*/new\n"),
    "remove the home": Attempt("rm -rf ~; ls -A ~", ".*\n?"),
    "write to the current directory": Attempt("touch new; rm file; mv file other", READ_ONLY),
    "change a file's mode": Attempt("chmod 777 $PLACE/work/file /etc/passwd", READ_ONLY),
    "write to the system": Attempt(
        "for at in / /usr /usr/bin /usr/lib /var /var/lib /opt; do touch $at/gt-escape; done",
        r"(.*(Read-only file system|Permission denied)\n){7}",
    ),
    "write to the node's own /etc": Attempt(
        "touch /etc/gt-escape 2>/dev/null; ls /etc/hostname", "/etc/hostname\n"
    ),
    "find the temporary files of others": Attempt("ls -A $PLACE", OWN_PLACE),
    "see logs and spools": Attempt(
        "ls -A /var/log; ls -A /var/spool", rf"(({'|'.join(OWN_LOGS)})\n)+"
    ),
    # --- devices and kernel --------------------------------------------------------------------
    "find devices": Attempt(
        "cd /dev; echo $(ls | grep -vE '^(nvidia|std|fd$)')",
        r"console full infiniband null ptmx pts random shm tty urandom zero\n",
    ),
    "open a GPU": Attempt(
        "cat /dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm; ls /proc/driver/nvidia/gpus",
        r"(.*Permission denied\n){3}0000:1b:00.0\n0000:43:00.0\n",
    ),
    "make a disk": Attempt("mknod /tmp/d b 254 0; mknod /tmp/m c 1 1", r"(.*not permitted\n){2}"),
    "read the kernel's memory and log": Attempt(
        "for at in /proc/kcore /proc/kmsg /dev/kmsg /dev/mem; do head -c1 $at; done",
        r"(.*(No such|Permission denied).*\n){4}",
    ),
    "pull the emergency brake": Attempt(
        "echo b > /proc/sysrq-trigger", r".*(nonexistent|No such|Permission denied).*\n"
    ),
    "set what the kernel runs": Attempt(
        "for at in core_pattern sysrq modprobe hotplug; do echo x > /proc/sys/kernel/$at; done",
        r"(.*(Read-only file system|nonexistent|Permission denied)\n){4}",
    ),
    "write to /sys": Attempt(
        "find /sys -maxdepth 3 -not -type l -writable 2>/dev/null; mkdir /sys/fs/cgroup/gt-escape",
        r".*(Read-only file system|Permission denied|not permitted|No such.*)\n",
    ),
    "set the clock and the machine's name": Attempt(
        "date -s 2001-01-01 >/dev/null; hostname evil; hostname", r".*\n.*\nn0\n"
    ),
    # --- sockets and networks ------------------------------------------------------------------
    "reach a socket in a temporary directory": Attempt(
        f"$PYTHON -c '{CONNECT}' unix:$PLACE/docker.sock", "ENOENT\n"
    ),
    "reach a socket in the current directory": Attempt(
        f"$PYTHON -c '{CONNECT}' unix:$PLACE/work/munge.sock", "ECONNREFUSED\n"
    ),
    "reach an abstract socket": Attempt(
        f"$PYTHON -c '{CONNECT}' unix:@$ABSTRACT", "ECONNREFUSED\n"
    ),
    "reach the system's sockets": Attempt(
        f"$PYTHON -c '{CONNECT}' unix:/run/docker.sock unix:/var/run/docker.sock"
        " unix:/run/dbus/system_bus_socket unix:/run/munge/munge.socket.2 unix:/dev/log",
        r"(ENOENT\n){5}",
    ),
    "reach the machine's loopback": Attempt(
        f"$PYTHON -c '{CONNECT}' tcp:127.0.0.1:$PORT", "ECONNREFUSED\n"
    ),
    "reach a network": Attempt(f"$PYTHON -c '{CONNECT}' tcp:192.0.2.1:80", "ENETUNREACH\n"),
    # --- processes -----------------------------------------------------------------------------
    "see other processes": Attempt("ls -d /proc/[0-9]* | wc -l", r"[1-4]?[0-9]\n"),
    "end the first process": Attempt("kill -9 1; kill 1; sleep 0.1; ls -d /proc/1", "/proc/1\n"),
    "look into the first process": Attempt(
        "cd /proc/1; ls root/; ls cwd/; cat environ; echo x > mem; cat fd/3",
        r"(.*[Pp]ermission denied\n){5}",
    ),
    "trace the first process": Attempt(f"$PYTHON -c '{TRACE}'", "-1 Operation not permitted\n"),
    "join its namespaces": Attempt(
        "for kind in mnt user net pid; do cat </proc/1/ns/$kind; done",
        r"(.*Permission denied\n){4}",
    ),
    # --- users ---------------------------------------------------------------------------------
    "become root": Attempt(
        "sudo -n id -u; su root -c 'id -u'; id -u", rf"((?!0\n).*\n)*{NOBODY}\n", by="plain"
    ),
    "be more by a set-user-ID program": Attempt("$PLACE/work/id -u; id -u", r"(\d+)\n\1\n"),
    # --- mounts --------------------------------------------------------------------------------
    "take away what hides": Attempt(
        "for at in /tmp /root /run /dev /proc/sys /; do umount -l $at; done 2>&1 | grep -c umount;"
        " ls -A $PLACE",
        rf"6\n{OWN_PLACE}",
        by="root",
    ),
    "make mounts writable": Attempt(
        f"for at in / /usr /proc/sys $PLACE/work; do $PYTHON -c '{MOUNT}' none $at none 4128; done;"
        " touch $PLACE/work/new /usr/gt-escape /proc/sys/kernel/core_pattern",
        r"(.*Read-only file system\n){3}",
        by="root",
    ),
    "look beneath mounts": Attempt(
        f"mkdir /tmp/m; for how in 4096 20480; do $PYTHON -c '{MOUNT}' / /tmp/m none $how; done;"
        " cd /tmp/m; cat .$HOME/marker .$PLACE/docker.sock; touch usr/gt-escape",
        r"(.*No such file.*\n){2}.*Read-only file system\n",
        by="root",
    ),
    "mount the kernel's file systems anew": Attempt(
        "mkdir /tmp/n; for kind in proc sysfs devtmpfs cgroup2 debugfs securityfs bpf tracefs;"
        f" do $PYTHON -c '{MOUNT}' none /tmp/n $kind 0; done; ls /tmp/n",
        "",
        by="root",
    ),
    "do so in namespaces of its own": Attempt(
        "unshare -Urmpf sh -c 'mkdir /tmp/o; mount -t proc none /tmp/o; mount -t sysfs none /tmp/o;"
        " umount -l /tmp; umount -l /run; mount -o remount,bind,rw /; touch /etc/gt-escape;"
        " ls /tmp/o' 2>/dev/null; ls -A $PLACE",
        OWN_PLACE,
    ),
    "leave a changed root": Attempt(f"$PYTHON -c '{LEAVE_ROOT}'", r"False\n", by="root"),
    "open files by their handles": Attempt(
        f"$PYTHON -c '{OPEN_BY_HANDLE}' / /usr /usr/bin $PLACE/work", r"(-1\n){4}"
    ),
    # --- by system calls alone, from a static program ------------------------------------------
    "reach the network from a static program": Attempt(
        '"$REACH" network $PORT', r"network: Connection refused\nnetwork: Network is unreachable\n"
    ),
    "reach the machine's sockets from a static program": Attempt(
        '"$REACH" socket $PLACE/docker.sock $PLACE/work/munge.sock @$ABSTRACT',
        r"(socket: (No such file or directory|Connection refused)\n){3}",
    ),
    "write to the system from a static program": Attempt(
        'cd /; "$REACH" write /gt-escape /usr/bin/gt-escape /var/lib/gt-escape $PLACE/work/file',
        r"(write: (Read-only file system|Permission denied)\n){4}",
    ),
    "ask the kernel from a static program": Attempt(
        '"$REACH" kernel', r"(\w+: (Operation not permitted|Permission denied)\n){3}"
    ),
    # --- the fake, in whatever environment -----------------------------------------------------
    "load NVML by its path with an empty environment": Attempt(
        f"env -i $PYTHON -IS -c '{LOAD_NVML}'", r"(0 0 2\n)+"
    ),
}  # fmt: skip


STATIC = tuple(name for name in ATTEMPTS if name.endswith("static program"))


@dataclass(frozen=True)
class Tried:
    """What was said to each attempt of a user, and the machine before and after."""

    user: str
    said: dict[str, str]
    before: str
    after: str


def digest(*folders: Path) -> str:
    """A hash over the names, modes, times and contents of all that lies in some directories."""
    hashed = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (folder, *folder.rglob("*"))):
        facts = path.lstat()
        hashed.update(f"{path} {facts.st_mode} {facts.st_uid} {facts.st_mtime_ns}\n".encode())
        if path.is_file():
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def listening(path: str) -> socket.socket:
    """A socket that somebody of the machine listens on; "@" begins the name of an abstract one."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path.replace("@", "\0", 1))
    listener.listen()
    return listener


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The program reach.c, linked statically; None where nothing can link so."""
    program = tmp_path_factory.mktemp("static") / "reach"
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source = str(Path(__file__).with_name("reach.c"))
    linked = subprocess.run(
        [compiler, "-static", "-O1", "-o", str(program), source], capture_output=True, check=False
    )
    return program if linked.returncode == 0 else None


@pytest.fixture(scope="module", params=["me", "nobody"])
def tried(
    request: pytest.FixtureRequest, commands_of: Callable[..., Any], static: Path | None
) -> Iterator[Tried]:
    """Everything that one user tries."""
    with tempfile.TemporaryDirectory(prefix="gt-") as name, socket.socket() as tcp:
        place, runtime = Path(name), Path(name, "runtime")
        for folder in (place / "home", place / "work", runtime):
            folder.mkdir()
        (place / "home/marker").write_text(SECRET)
        (place / "work/file").write_text("of the machine's")
        shutil.copy("/usr/bin/id", place / "work/id")
        if static is not None:
            shutil.copy(static, place / "work/reach")
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GPUTUI", "GPUCHAOS"))}
        env = {**kept, "XDG_RUNTIME_DIR": str(runtime), "TMPDIR": str(runtime)}
        who = commands_of(request.param, env)
        who.cwd = place / "work"
        who.env.update(
            HOME=f"{place}/home",
            PLACE=name,
            PYTHON=who.python,
            PYTHONPATH=os.pathsep.join([str(ROOT), *(p for p in sys.path if "site-packages" in p)]),
            ABSTRACT=f"{name}/abstract",
            REACH=f"{place}/work/reach",
            PORT=str(tcp.getsockname()[1]),
        )
        sockets = [f"{name}/docker.sock", f"{name}/work/munge.sock", f"@{name}/abstract"]
        listeners = [listening(path) for path in sockets]
        user = "root" if os.geteuid() == 0 and request.param == "me" else "plain"
        _hand_over(place, user)
        watched = (place / "home", place / "work")
        before = digest(*watched)
        made = {n: a.script for n, a in ATTEMPTS.items() if a.by in ("", user)}
        if static is None:
            made = {n: script for n, script in made.items() if n not in STATIC}
        done = who.gpuchaos(
            "node",
            "h100-sxm",
            "--gpus",
            "2",
            "--",
            who.python,
            "-c",
            RUN_ATTEMPTS,
            json.dumps(made),
        )
        assert done.returncode == 0, done.stderr
        yield Tried(user, json.loads(done.stdout), before, digest(*watched))
        for listener in listeners:
            listener.close()


def _hand_over(place: Path, user: str) -> None:
    """Give the place to a user, and let a program there be set-user-ID of somebody else."""
    if os.geteuid() == 0:
        if user == "plain":
            for path in (place, *place.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        other = 0 if user == "plain" else NOBODY
        os.chown(place / "work/id", other, other)
    (place / "work/id").chmod(0o4755)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_to_get_out_comes_to_nothing(tried: Tried, name: str) -> None:
    """Each says no more than that it was refused, or that there is nothing."""
    if name not in tried.said:
        pytest.skip(f"not for a {tried.user} user, or no static program could be linked")
    assert re.fullmatch(ATTEMPTS[name].says, tried.said[name]), tried.said[name]


def test_the_machine_is_as_it_was(tried: Tried) -> None:
    """No file was changed, made or removed, nor one of the system's."""
    assert tried.after == tried.before
    for folder in ("/", "/etc", "/usr", "/usr/bin", "/usr/lib", "/var", "/var/lib", "/opt"):
        assert not Path(folder, "gt-escape").exists()


def test_a_static_program_that_kills_everybody_ends_the_node_alone(
    who: Any, static: Path | None
) -> None:
    """``kill(-1, SIGKILL)`` by a system call ends what is on the node, and nobody of the machine's:
    another process of the same user lives on, and so does the harness, to say how it ended.
    """
    if static is None:
        pytest.skip("no static program can be linked here")
    who.env["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *(p for p in sys.path if "site-packages" in p)]
    )
    with (
        tempfile.TemporaryDirectory(prefix="gt-") as name,
        subprocess.Popen([*who.prefix, "sleep", "300"]) as witness,
    ):
        who.cwd = Path(name)
        who.cwd.chmod(0o755)
        shutil.copy(static, who.cwd / "reach")
        try:
            killed = who.on_node("sleep 300 & ./reach kill; echo lived")
            assert witness.poll() is None
        finally:
            witness.kill()
    assert killed.returncode in (0, 137), killed.stderr
    assert "our own fault" not in killed.stderr
