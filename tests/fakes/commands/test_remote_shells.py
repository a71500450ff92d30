"""Command lines on other nodes: what reaches them, what cannot run, how failures are told."""

import io
import subprocess

import pytest

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.commands.remote_shell import Task, gathered, together, unreached
from fakes.hardware.recovery import power_off
from fakes.network.remote import ON_NODE, what_is_local
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

LOOK_ALIKES = frozenset({"nvidia-smi", "dmesg", "hostname"})


class Fleet:
    """Three nodes, and programs on the first."""

    def __init__(self):
        profile = load_profile("l4")
        self.world = World([Node(f"n{i}", profile, 1) for i in range(3)], schedules=True)
        self.spawned = []
        self.paused_us = 0
        self.status = 0
        self.err = ""
        self.files = {}

    def _read_file(self, path):
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def __call__(self, name, *argv):
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv, out=out, err=err, node=self.world.nodes["n0"], world=self.world, nvml=None,
            clock=lambda: 0.0, pause=self._pause, spawn=self._spawn, env={}, user="root",
            program=name, read_file=self._read_file,
        )  # fmt: skip
        status = commands()[name](call)
        self.err = err.getvalue()
        return status

    def _pause(self, us):
        self.paused_us += us

    def _spawn(self, words, for_us):
        self.spawned.append(list(words))
        return self.status


@pytest.fixture
def fleet():
    return Fleet()


def run(words):
    """What a program of this machine prints, and its exit status."""
    found = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi -L | wc -l",
        "test $(hostname) = n1",
        'x="$(hostname)"; echo $x',
        "for i in 0 1; do nvidia-smi -i $i; done",
        "if dmesg 2>/dev/null | grep -q Xid; then echo bad; fi",
        "/usr/bin/nvidia-smi -L && exit 3",
    ],
)
def test_look_alikes_and_filters_run_on_another_node(line):
    """Whatever the shell makes of them."""
    assert what_is_local(line, LOOK_ALIKES) == ""


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("cat /proc/driver/nvidia/version", "/proc"),
        ("grep Xid /var/log/syslog", "/var"),
        ("nvidia-smi > /tmp/x", "/tmp"),
        ("./check.sh", "./check.sh"),
        ("nvidia-smi; ibdiagnet", "ibdiagnet"),
        ('echo "$(lsblk)"', "lsblk"),
        ("true && if lsblk; then true; fi", "lsblk"),
    ],
)
def test_what_needs_the_other_node_itself_is_named(line, word):
    """Its files, and programs that nobody answers for it."""
    assert what_is_local(line, LOOK_ALIKES) == word


def test_a_command_runs_for_the_other_node(fleet):
    """Its look-alikes are told which node they answer for; its exit status comes back."""
    fleet.status = 3
    assert fleet("ssh", "-o", "BatchMode=yes", "n1", "nvidia-smi", "-L") == 3
    assert f"{ON_NODE}=n1" in fleet.spawned[0]
    assert fleet.spawned[0][-3:] == ["/bin/sh", "-c", "nvidia-smi -L"]


def test_a_node_is_its_own_other(fleet):
    """Everything runs there."""
    assert fleet("ssh", "root@n0", "cat /proc/version") == 0
    assert fleet.spawned == [["/bin/sh", "-c", "cat /proc/version"]]


def test_what_cannot_run_there_is_not_understood(fleet):
    """The run takes note of it."""
    assert fleet("ssh", "n1", "cat /proc/version") == NOT_UNDERSTOOD
    assert "'/proc' of n1" in fleet.err
    assert fleet("pdsh", "-w", "n[0-1]", "cat /proc/version") == NOT_UNDERSTOOD
    assert not fleet.spawned


@pytest.mark.parametrize(
    ("options", "said", "after_s"),
    [
        (("-o", "ConnectTimeout=2"), "Connection timed out", 2),
        (("-o", "ConnectTimeout=10"), "No route to host", 3),
        ((), "No route to host", 3),
    ],
)
def test_a_node_that_is_down_is_not_reached(fleet, options, said, after_s):
    """After as long as ssh would try; with its words and its status."""
    power_off(fleet.world, fleet.world.nodes["n1"])
    assert fleet("ssh", *options, "n1", "true") == 255
    assert fleet.err == f"ssh: connect to host n1 port 22: {said}\n"
    assert fleet.paused_us == after_s * SECOND_US


def test_a_name_that_nobody_has_and_a_daemon_that_does_not_run(fleet):
    """Each as ssh says it."""
    assert fleet("ssh", "nosuch", "true") == 255
    assert fleet.err == "ssh: Could not resolve hostname nosuch: Name or service not known\n"
    fleet.world.nodes["n2"].services.stop("ssh.service", fleet.world)
    assert fleet("ssh", "n2", "true") == 255
    assert "Connection refused" in fleet.err


def test_several_at_a_time_are_shown_one_after_the_other():
    """Each line with its node before it, errors apart; the highest status is the result."""
    tasks = [
        Task(["/bin/sh", "-c", "echo a; echo b"], "n0: "),
        Task(["/bin/sh", "-c", "echo c >&2; exit 4"], "n1: ", "n1 failed with $s"),
        Task(["/bin/sh", "-c", "kill -9 $$"], "", "failed", "n2 was killed"),
        Task(unreached("no way\n", 0), "n3: "),
    ]
    status, out, err = run(together(tasks))
    assert status == 255
    assert out == "n0: a\nn0: b\n"
    assert err == "n1: c\nn1 failed with 4\nn2 was killed\nn3: no way\n"


def test_pdsh_tells_the_status_of_each_node(fleet):
    """0 unless -S asks for the highest."""
    fleet.status = 7
    assert fleet("pdsh", "-w", "n[0-2],-n1", "hostname") == 0
    assert fleet("pdsh", "-S", "-w", "n0,n2", "hostname") == 7
    script = fleet.spawned[0][-1]
    assert "pdsh@n0: n2: ssh exited with exit code $s" in script
    assert "n1" not in script


@pytest.mark.parametrize("options", [("-bw", "n[0-2]"), ("-ab",), ("-S", "-b", "-w", "n[0-2]")])
def test_clush_gathers(fleet, options):
    """What it runs has the output of all nodes gathered by clubak."""
    fleet("clush", *options, "nvidia-smi -L")
    words = fleet.spawned[0]
    assert "clubak -b" in words[-1]
    assert words[-1].count("nvidia-smi -L") == 3


def test_gathered_output_and_exit_statuses_are_told_once(tmp_path):
    """Each line comes to clubak with its node's name; each exit status has one line."""
    for name, line in (("clubak", "cat"), ("nodeset", 'shift; echo "$*"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    tasks = [
        Task(["/bin/sh", "-c", f"echo ok; echo bad >&2; exit {status}"], f"n{at}: ")
        for at, status in enumerate((0, 3, 3, 1))
    ]
    words = ["/usr/bin/env", f"PATH={tmp_path}:/usr/bin:/bin"]
    status, out, err = run([*words, *gathered(tasks)])
    assert (status, out) == (3, "n0: ok\nn1: ok\nn2: ok\nn3: ok\n")
    assert err.splitlines() == [
        "n0: bad", "n1: bad", "n2: bad", "n3: bad",
        "clush: n3: exited with exit code 1", "clush: n1 n2: exited with exit code 3",
    ]  # fmt: skip
    assert "n0: bad" in run([*words, *gathered(tasks, errors=True)])[1]


GROUPS = "# racks\nrack1: n[0-1]\nrack2: n2\n"


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (("clush", "-g", "rack1"), ["n0", "n1"]),
        (("clush", "-w", "@rack2,n0"), ["n2", "n0"]),
        (("clush", "-a", "-X", "rack1"), ["n2"]),
        (("clush", "-w", "@all", "-x", "@rack2"), ["n0", "n1"]),
        (("clush", "-w", "@sp:batch"), ["n0", "n1", "n2"]),
        (("clush", "-w", "@slurmstate:idle"), ["n0", "n1", "n2"]),
        (("pdsh", "-g", "rack2"), ["n2"]),
    ],
)
def test_groups_of_nodes_are_those_of_the_nodes_file_and_of_slurm(fleet, argv, names):
    """Written by the operator in ClusterShell's own place, or known to Slurm."""
    fleet.files["/etc/clustershell/groups.d/local.cfg"] = GROUPS
    assert fleet(*argv, "hostname") == 0
    script = fleet.spawned[-1][-1]
    assert [f"s/^/{name}: /" in script for name in ("n0", "n1", "n2")] == [
        name in names for name in ("n0", "n1", "n2")
    ]


def test_a_group_that_nobody_wrote_proves_nothing(fleet):
    """Who would be meant by it is not known."""
    assert fleet("clush", "-g", "rack9", "date") == NOT_UNDERSTOOD
    assert fleet.err == "clush: group 'rack9' is not known here\n"
    assert fleet.spawned == []
