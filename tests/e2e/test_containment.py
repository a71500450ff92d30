from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READ_POWER = (
    "import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(1);"
    "print(n.nvmlDeviceGetCount(), n.nvmlDeviceGetPowerUsage(h) > 500_000)"
)
READ_PIDS = (
    "import pynvml as n; n.nvmlInit();"
    "print([p.pid for i in range(n.nvmlDeviceGetCount())"
    " for p in n.nvmlDeviceGetComputeRunningProcesses(n.nvmlDeviceGetHandleByIndex(i))])"
)


OWN_LOGS = {
    "dmesg", "fabricmanager.log", "healthchecks", "kern.log", "messages", "nvidia-dcgm",
    "nvidia-imex.log", "slurm", "slurm-1001.out", "syslog",
}  # fmt: skip


def test_a_program_can_reach_no_process_of_the_machine(who):
    """The machine's PIDs name nobody on the node."""
    outside = os.getpid()
    done = who.on_node(
        f"kill -0 {outside} 2>/dev/null && echo reached; test -e /proc/{outside}; echo $?"
    )
    assert done.stdout == "1\n"


def test_the_machines_kernel_log_is_hidden(who):
    """/dev/kmsg cannot be opened; /var/log has what the node's programs print, no more."""
    done = who.on_node(
        "test ! -e /dev/kmsg || ! head -c1 /dev/kmsg 2>/dev/null; echo $?; hostname;"
        " echo $GPUTUI_KERNEL_LOG; test -r $GPUTUI_KERNEL_LOG; echo $?; ls /var/log"
    )
    first, logs = "0\nn0\n/var/log/kern.log\n0\n", set(done.stdout.splitlines()[4:])
    assert done.stdout.startswith(first)
    assert {"kern.log", "slurm-1001.out"} <= logs
    assert logs <= OWN_LOGS
    assert socket.gethostname() != "n0"


def test_when_the_nodes_first_process_is_ended_all_ends(me, processes_in):
    """Somebody outside ends the node's PID 1: the program dies with it, and the run says why."""
    node = me.start_node()
    home = me.status()["homes"]["n0"]
    running = processes_in(home["pid_namespace"])
    os.kill(home["init_pid"], signal.SIGKILL)
    assert node.wait(20) == 128 + signal.SIGKILL
    assert node.stderr is not None
    assert "the first process of node n0 was ended." in node.stderr.read()
    assert running.alive() == []


def test_programs_that_are_entered_end_with_the_node(me, processes_in):
    """When the node's own program ends, so does everything that was entered, and all is removed."""
    node = me.start_node()
    entered = me.start("enter", "--", "sh", "-c", "echo in; exec tail -f /dev/null")
    assert entered.stdout is not None
    assert entered.stdout.readline() == "in\n"
    running = processes_in(me.status()["homes"]["n0"]["pid_namespace"])
    assert len(running) >= 5  # the first process, two jobs, two programs, and its services

    node.send_signal(signal.SIGTERM)

    assert node.wait(20) == 128 + signal.SIGTERM
    assert entered.wait(20) == 128 + signal.SIGTERM
    assert running.alive() == []
    assert list(Path(me.env["XDG_RUNTIME_DIR"], "gputui").iterdir()) == []


def test_a_killed_simulator_leaves_no_process(who, processes_in, wait_until):
    """Kill -9 of the simulator ends its programs and jobs; the next start is clean."""
    node = who.start_node()
    status = who.status()
    running = processes_in(status["homes"]["n0"]["pid_namespace"])
    assert len(running) >= 4
    os.kill(status["pid"], signal.SIGKILL)
    node.wait(20)

    wait_until(lambda: running.alive() == [], "the node's processes to end")
    assert who.on_node("echo again").stdout == "again\n"


WITHOUT_NAMESPACES = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces"
    ' && exec setpriv --inh-caps=-all --bounding-set=-all "$@"', "sh",
)  # fmt: skip


def test_where_namespaces_are_refused_the_tier_is_printed(me):
    """By environment alone: the reason is told, NVML works, and all processes end."""
    me.prefix = WITHOUT_NAMESPACES
    done = me.on_node(f"{me.python} -c '{READ_POWER}'; {me.python} -c '{READ_PIDS}'")

    assert (
        "not contained, by environment variables only (namespaces are refused here: " in done.stderr
    )
    counted, pids = done.stdout.splitlines()
    assert counted == "2 True"
    for pid in pids.strip("[]").split(","):
        assert not Path(f"/proc/{int(pid)}").exists()


def test_a_killed_simulator_leaves_no_process_without_namespaces(me, processes, wait_until):
    """The same without namespaces: job processes and the program itself end."""
    node = me.start_node("--no-sandbox")
    status = me.status()
    pids = [process["pid"] for process in status["nodes"][0]["processes"]]
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(status["pid"])],
        capture_output=True,
        text=True,
        check=True,
    )
    pids += [int(pid) for pid in children.stdout.split()]
    assert len(pids) >= 4
    running = processes(pids)
    os.kill(status["pid"], signal.SIGKILL)
    node.wait(20)
    wait_until(lambda: running.alive() == [], "the node's processes to end")


WITH_A_GPU = (
    "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
    'mount -t tmpfs none /dev && touch /dev/nvidia0 /dev/null && exec "$@"', "sh",
)  # fmt: skip


def test_without_namespaces_nothing_runs_beside_a_real_gpu(me):
    """--no-sandbox is refused where /dev/nvidia0 exists."""
    me.prefix = WITH_A_GPU
    done = me.on_node("echo ran", "--no-sandbox")
    assert (done.returncode, done.stdout) == (254, "")
    assert "/dev/nvidia0 exists, and without namespaces a program could act on" in done.stderr


def test_without_namespaces_what_monitors_remember_is_not_the_users(me):
    """A fake node's GPUs and incidents never land in the user's own state."""
    script = "test -w $XDG_STATE_HOME && echo $XDG_STATE_HOME"
    done = me.on_node(script, "--no-sandbox")
    assert done.returncode == 0, done.stderr
    kept = Path(done.stdout.strip())
    assert kept.name == "state"
    assert kept.parent.name == "n0"
    assert not kept.exists()


def test_real_gpu_devices_are_hidden(me):
    """With namespaces there are device files, which cannot be opened and are not the machine's."""
    me.prefix = WITH_A_GPU
    done = me.on_node(
        "cat /dev/nvidia0; echo $?; cd /dev; ls -d nvidia[0-9]*; stat -c %F,%t,%T nvidia* | sort -u"
    )
    assert done.stdout.startswith("1\nnvidia0\nnvidia1\ncharacter special file,0,0\n")
    assert set(done.stdout.splitlines()[3:]) <= {"character special file,0,0", "directory,0,0"}


def test_the_machines_own_nvml_is_covered(me, tmp_path):
    """A program that names the machine's library by its path gets the node's instead."""
    place = next(Path("/usr/lib").glob("*-linux-gnu"), None)
    if place is None:
        pytest.skip("no multiarch library directory here")
    real = place / "libnvidia-ml.so.1"
    (tmp_path / real.name).write_text("the machine's own")
    overlay = f"lowerdir={tmp_path}:{place}"
    me.prefix = (
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        f'mount -t overlay -o {overlay} none {place} && exec "$@"', "sh",
    )  # fmt: skip
    if subprocess.run([*me.prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("overlay mounts are refused here")
    program = f"import ctypes; print(ctypes.CDLL('{real}').nvmlInit_v2())"
    done = me.on_node(f'{me.python} -c "{program}"; {me.python} -c "{READ_POWER}"')
    assert done.stdout == "0\n2 True\n", done.stderr


WITH_SERVICES = (
    "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
    "mount -t tmpfs none /run; mount -t tmpfs none /var/lib; mkdir -p /run/dbus /run/munge"
    " /var/lib/docker; for at in /run/docker.sock /run/dbus/system_bus_socket"
    " /run/munge/munge.socket.2 /var/lib/docker/d.sock;"
    ' do touch $at; mount --bind $SOCKET $at; done; exec "$@"', "sh",
)  # fmt: skip
CONNECT_ALL = """
import socket
for path in {paths!r}:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected")
    except OSError as error:
        print(error.strerror)
"""


def test_the_sockets_of_services_are_out_of_reach(me):
    """Docker, D-Bus and munge answer outside; on a node nothing is there to ask."""
    me.env["SOCKET"] = f"{me.env['XDG_RUNTIME_DIR']}/service"
    paths = ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"]
    paths += ["/run/munge/munge.socket.2", "/var/lib/docker/d.sock"]
    ask = (me.python, "-c", CONNECT_ALL.format(paths=paths))
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(me.env["SOCKET"])
        service.listen()
        outside = subprocess.run(
            [*WITH_SERVICES, *ask], env=me.env, capture_output=True, text=True, check=False
        )
        assert outside.stdout == "connected\n" * 5, outside.stderr
        me.prefix = WITH_SERVICES
        done = me.gpuchaos("node", "h100-sxm", "--", *ask)
    assert done.stdout == "No such file or directory\n" * 5, done.stderr


def test_a_socket_that_lies_anywhere_is_out_of_reach(me):
    """Whatever somebody listens on when the program starts: also in a directory that is shown."""
    folder = ROOT / ".cache"
    folder.mkdir(exist_ok=True)
    path = folder / f"gt-{os.getpid()}.sock"
    try:
        with socket.socket(socket.AF_UNIX) as service:
            service.bind(str(path))
            service.listen()
            done = me.gpuchaos(
                "node", "h100-sxm", "--", me.python, "-c", CONNECT_ALL.format(paths=[str(path)])
            )
    finally:
        path.unlink(missing_ok=True)
    assert done.stdout == "Connection refused\n", done.stderr


def test_signals_to_everybody_reach_nobody_outside(me):
    """``kill 0`` and ``kill -9 -1`` end what runs on the node, and nothing beside the command."""
    me.start_node()
    beside = 'sleep 1000 & bystander=$!; "$@"; echo $?; kill $bystander && echo lives'
    me.prefix = ("sh", "-c", beside, "sh")
    for script, status in (("kill -9 0; exit 9", 137), ("kill -9 -1; exit 9", 9)):
        done = me.gpuchaos("enter", "--", "sh", "-c", script)
        assert done.stdout == f"{status}\nlives\n", done.stderr


def test_files_that_the_caller_opened_are_passed_on_but_no_directory(me, tmp_path):
    """A file on descriptor 3 is the caller's wish; a directory would lead around everything."""
    me.prefix = ("sh", "-c", f'exec 3>{tmp_path}/reason 4</; exec "$@"', "sh")
    done = me.on_node("echo drained >&3; ls /proc/self/fd/4/ 2>&1")
    assert (tmp_path / "reason").read_text() == "drained\n"
    assert "No such file" in done.stdout


def test_nothing_can_be_typed_into_the_callers_terminal(me, terminal):
    """TIOCSTI is refused: it would put words into the mouth of whoever called."""
    code = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')"
    opened = terminal(me.argv("node", "h100-sxm", "--", me.python, "-c", code), env=me.env)
    opened.wait_for("PermissionError")


def test_only_what_is_said_to_be_writable_can_be_written(me, tmp_path):
    """``--writable .``: the current directory, and nothing else of the machine's."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "other").mkdir()
    me.cwd = tmp_path / "mine"
    script = f"touch made; touch {tmp_path}/other/made 2>/dev/null; touch /usr/made 2>&1"
    me.start_node()
    me.gpuchaos("enter", "--", "sh", "-c", script)
    assert list(me.cwd.iterdir()) == []
    done = me.gpuchaos("enter", "--writable", ".", "--", "sh", "-c", script)
    assert [path.name for path in me.cwd.iterdir()] == ["made"]
    assert list((tmp_path / "other").iterdir()) == []
    assert "Read-only file system" in done.stdout


def test_a_home_cannot_be_made_writable(me, tmp_path):
    """Nor any other place that a node has of its own; the remedy is named."""
    me.env["HOME"] = str(tmp_path)
    me.cwd = tmp_path
    done = me.on_node("echo ran", "--writable", ".")
    assert (done.returncode, done.stdout) == (254, "")
    assert f"--writable .: a node has a {tmp_path} of its own" in done.stderr


def test_a_program_of_the_home_can_be_run(who):
    """The program, by its name, and what lies beside it; not what else is in the home."""
    home = Path(who.env["XDG_RUNTIME_DIR"], "home")
    (home / "tools/bin").mkdir(parents=True)
    (home / "tools/lib").mkdir()
    (home / "tools/lib/words").write_text("well\n")
    (home / "secret").write_text("no\n")
    tool = home / "tools/bin/tool"
    tool.write_text('#!/bin/sh\ncat "${0%/*}/../lib/words"; cat ~/secret 2>/dev/null; ls ~\n')
    tool.chmod(0o755)
    link = home / "link"
    link.symlink_to(tool)
    who.env["HOME"] = str(home)
    who.start_node()
    done = who.gpuchaos("enter", "--", str(tool))
    assert done.stdout == "well\ntools\n", done.stderr
    assert who.gpuchaos("enter", "--", str(link)).stdout == "link\ntools\n"
    who.env["PATH"] = f"{home}/tools/bin:{who.env['PATH']}"
    assert who.gpuchaos("enter", "--", "tool").stdout == "well\nlink\ntools\n"


def test_a_program_enters_with_its_own_directory(me, tmp_path):
    """What the second program brings along is there for it, though the first had none of it."""
    me.start_node()
    me.cwd = tmp_path
    (tmp_path / "word").write_text("here\n")
    assert me.gpuchaos("enter", "--", "cat", "word").stdout == "here\n"
    done = me.gpuchaos("enter", "--writable", ".", "--", "sh", "-c", "echo there > word")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "word").read_text() == "there\n"


def test_programs_of_a_node_share_its_temporary_files(me):
    """What one writes to /tmp the next one reads, and nobody outside."""
    me.start_node()
    me.gpuchaos("enter", "--", "sh", "-c", "echo kept > /tmp/gt-note")
    assert me.gpuchaos("enter", "--", "cat", "/tmp/gt-note").stdout == "kept\n"
    assert not Path("/tmp/gt-note").exists()


def test_jobs_run_as_their_users(me):
    """Root's node has the jobs' users: ps and id know them, and their processes hold their GPU."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    me.start_node()
    script = (
        "ps -o user= -p 4001; id -un alice; ls -ld ~alice | cut -c1-10; readlink /proc/4002/fd/*"
    )
    lines = me.gpuchaos("enter", "--", "sh", "-c", script).stdout.splitlines()
    assert lines[:3] == ["alice", "alice", "drwxr-xr-x"]
    assert {"/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"} < set(lines[3:])
    if shutil.which("fuser"):
        held = me.gpuchaos("enter", "--", "fuser", "/dev/nvidia1", "/dev/nvidiactl").stdout
        assert held.split() == ["4002", "4001", "4002"]


WITHOUT_USERS = (
    "unshare", "--user", "--map-root-user", "sh", "-c",
    'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh",
)  # fmt: skip


def test_where_user_namespaces_are_switched_off_root_is_contained_without(me, tmp_path):
    """The capabilities that could undo the other namespaces are gone instead."""
    me.cwd = tmp_path
    (tmp_path / "file").write_text("as it was")
    me.prefix = WITHOUT_USERS
    done = me.on_node(
        f"{me.python} -c '{READ_POWER}'; umount /tmp; touch file /usr/gt-x;"
        " mknod /tmp/d b 254 0; ls /proc/1/root/; kill -9 1; echo $(id -u)"
    )
    assert "contained by namespaces" in done.stderr
    lines = done.stdout.splitlines()
    assert lines == ["2 True", "0"], done.stderr
    refusals = ["umount: ", "'file': Read-only", "gt-x': Read-only", "mknod: ", "Perm"]
    assert [each for each in refusals if each not in done.stderr] == []


def test_where_overlays_are_refused_links_do(me, tmp_path):
    """Something mounted in the library directory is in an overlay's way; the fake is there yet."""
    place = next(Path("/usr/lib").glob("*-linux-gnu"), None)
    if place is None:
        pytest.skip("no multiarch library directory here")
    some = next(
        path for path in place.glob("lib*.so.*") if path.is_file() and "libc" not in path.name
    )
    (tmp_path / "other").write_text("mounted over")
    me.prefix = (
        "unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
        f'mount --bind {tmp_path}/other {some} && exec "$@"', "sh",
    )  # fmt: skip
    program = f"import ctypes; print(ctypes.CDLL('{place}/libnvidia-ml.so.1').nvmlInit_v2())"
    script = f'grep -c "^overlay {place}" /proc/mounts; cat {some}; {me.python} -c "{program}"'
    done = me.on_node(script)
    assert done.stdout == "0\nmounted over0\n", done.stderr
