from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

READ_POWER = (
    "import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(1);"
    "print(n.nvmlDeviceGetCount(), n.nvmlDeviceGetPowerUsage(h) > 500_000)"
)
READ_PIDS = (
    "import pynvml as n; n.nvmlInit();"
    "print([p.pid for i in range(n.nvmlDeviceGetCount())"
    " for p in n.nvmlDeviceGetComputeRunningProcesses(n.nvmlDeviceGetHandleByIndex(i))])"
)


def test_a_program_can_reach_no_process_of_the_machine(who):
    """The machine's PIDs name nobody on the node."""
    outside = os.getpid()
    done = who.on_node(
        f"kill -0 {outside} 2>/dev/null && echo reached; test -e /proc/{outside}; echo $?"
    )
    assert done.stdout == "1\n"


def test_the_machines_kernel_log_is_hidden(who):
    """/dev/kmsg cannot be opened; /var/log has the node's kernel log and nothing else."""
    done = who.on_node(
        "test ! -e /dev/kmsg || ! head -c1 /dev/kmsg 2>/dev/null; echo $?; ls /var/log; hostname;"
        " echo $GPUTUI_KERNEL_LOG; test -r $GPUTUI_KERNEL_LOG; echo $?"
    )
    assert done.stdout == "0\nkern.log\nn0\n/var/log/kern.log\n0\n"
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
    entered = me.start("enter", "--", "sh", "-c", "echo in; exec sleep 1000")
    assert entered.stdout is not None
    assert entered.stdout.readline() == "in\n"
    running = processes_in(me.status()["homes"]["n0"]["pid_namespace"])
    assert len(running) == 5

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
    assert len(running) == 4
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


def test_real_gpu_devices_are_hidden(me):
    """With namespaces, the machine's GPU cannot be opened on the node."""
    me.prefix = WITH_A_GPU
    done = me.on_node("cat /dev/nvidia0 2>&1; echo $?")
    assert "No such device or address" in done.stdout
    assert done.stdout.endswith("\n1\n")


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
