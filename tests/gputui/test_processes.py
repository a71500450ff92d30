"""Who the processes on a GPU are: from /proc, without mistaking one for another."""

import contextlib
import os
import pwd
import subprocess
import sys
import threading
import time

import pytest

from gputui.model import ProcessSample
from gputui.sources.namespace import HOST_PID, NOT_HERE, UNVERIFIED
from gputui.sources.proc_stat import TICKS_PER_S, read_stat
from gputui.sources.processes import HAS_ENDED, NOT_LOOKED_AT, REUSED, ProcessTable
from gputui.sources.users import Users


@contextlib.contextmanager
def a_process(*arguments, **environment):
    """A process that is up and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            yield child
        finally:
            child.communicate(b"\n")


def test_a_process_is_known_by_user_command_and_age():
    """A live process shows its owner, what it runs, and for how long."""
    with a_process("a b", "\x1b[31m") as child:
        found = ProcessTable().look([child.pid])[child.pid]
    assert found.command is not None
    assert found.command.startswith(sys.executable)
    assert "a b" in found.command
    assert "\x1b" not in found.command
    assert found.user
    assert found.running_s is not None
    assert 0 <= found.running_s < 60
    assert found.host_memory_bytes


def test_a_share_of_the_cpu_needs_two_looks():
    """The first look has nothing to compare with; a busy process shows in the second."""
    table = ProcessTable()
    assert table.look([os.getpid()])[os.getpid()].cpu_percent is None
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    share = table.look([os.getpid()])[os.getpid()].cpu_percent
    assert share is not None
    assert share > 0


def test_a_share_of_the_cpu_is_taken_once_a_second(monkeypatch):
    """A faster interval reads no more of /proc, and shows what was read last."""
    table = ProcessTable()
    now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    moments = iter([now_s + tenth / 10 for tenth in range(1, 31)])
    monkeypatch.setattr(time, "clock_gettime", lambda _: next(moments))
    shown = [table.look([os.getpid()])[os.getpid()].running_s for _ in range(30)]
    assert len(set(shown)) <= 5


def test_its_identity_is_its_number_and_when_it_began():
    """The kernel's own count of ticks since boot, so that it can be compared for equality."""
    found = ProcessTable().look([os.getpid()])[os.getpid()]
    stat = read_stat("/proc", os.getpid())
    assert stat is not None
    assert found.start_ticks == stat.start_ticks
    assert found.unreachable is None
    sample = found.joined(ProcessSample(os.getpid(), 3, memory_bytes=5))
    assert (sample.pid, sample.gpu, sample.memory_bytes) == (os.getpid(), 3, 5)
    assert (sample.start_ticks, sample.command) == (found.start_ticks, found.command)


def test_a_number_that_is_nobody_here_is_labelled():
    """It gets no user, is not passed off as somebody, and cannot be signalled."""
    found = ProcessTable().look([4_194_303])[4_194_303]
    assert (found.user, found.start_ticks) == (None, None)
    assert found.command == f"[{found.unreachable}]"
    assert found.unreachable in (NOT_HERE, HOST_PID)


class Machine:
    """A tree with processes; ``began_s`` is in seconds since boot."""

    def __init__(self, tree):
        self.tree = tree
        self.table = None

    def start(self, pid, began_s=1.0, *, name="python3", state="S", command=b"train", opens=()):
        numbers = ["0"] * 50
        numbers[0] = state
        numbers[19] = str(int(began_s * TICKS_PER_S))
        numbers[21] = "100"
        self.tree.write(
            {
                f"proc/{pid}/stat": f"{pid} ({name}) {' '.join(numbers)}",
                f"proc/{pid}/cmdline": command,
                f"proc/{pid}/cgroup": "0::/",
            }
        )
        files = self.tree.root / f"proc/{pid}/fd"
        files.mkdir(exist_ok=True)
        for number, target in enumerate(("/dev/null", *opens)):
            (files / str(number)).symlink_to(target)

    def end(self, pid):
        self.tree.remove(f"proc/{pid}")

    def contain(self):
        """Make it a container: a PID namespace of its own, with GPUs."""
        folder = self.tree.root / "proc/self/ns"
        folder.mkdir(parents=True)
        (folder / "pid").symlink_to("pid:[4026532999]")
        self.tree.write({"dev/nvidiactl": ""})

    def look(self, *pids):
        root = self.tree.root
        self.table = self.table or ProcessTable(root / "proc", root / "dev")
        found = self.table.look(pids)
        return found[pids[0]] if len(pids) == 1 else found


@pytest.fixture
def machine(tree):
    return Machine(tree)


def test_a_namesake_of_a_hosts_process_is_not_taken_for_it(machine):
    """In a container, whoever has no GPU open only has the same number."""
    machine.contain()
    machine.start(77, name="sshd", command=b"sshd")
    machine.start(78, opens=[f"{machine.tree.root}/dev/nvidia0"])
    found = machine.look(77, 78)
    assert (found[77].command, found[77].unreachable) == (f"[{HOST_PID}]", HOST_PID)
    assert (found[77].user, found[77].start_ticks, found[77].host_memory_bytes) == (None,) * 3
    assert (found[78].command, found[78].unreachable) == ("train", None)


def test_a_hosts_process_that_is_not_here_is_called_so(machine):
    """In a container the number of most of the host's processes is nobody's."""
    machine.contain()
    assert machine.look(77).unreachable == HOST_PID


def test_a_process_that_cannot_be_checked_is_shown_but_not_reachable(machine):
    """In a container, with files that cannot be listed: it may be the one, and is not killed."""
    machine.contain()
    machine.start(77)
    machine.tree.remove("proc/77/fd")
    machine.tree.write({"proc/77/fd": "not to be listed"})
    found = machine.look(77)
    assert (found.command, found.unreachable) == ("train", UNVERIFIED)


def test_without_a_kernels_driver_nobody_is_suspected(machine):
    """No device to have open (as under WSL): a number in this /proc is believed."""
    machine.contain()
    machine.tree.remove("dev/nvidiactl")
    machine.start(77)
    assert machine.look(77).unreachable is None


def test_a_number_that_was_listed_before_its_process_began_is_anothers(machine):
    """The driver lists somebody unseen; who then begins under that number is somebody else."""
    machine.look(77)
    machine.start(77, began_s=4e8, name="sshd", command=b"sshd")
    for _ in range(3):
        found = machine.look(77)
        assert (found.command, found.unreachable) == (f"[{REUSED}]", REUSED)
    machine.look()
    assert machine.look(77).command == "sshd"


def test_a_process_that_was_missed_once_is_itself(machine):
    """One that began long before it was missed was there all the time."""
    machine.look(77)
    machine.start(77, began_s=0.0)
    assert machine.look(77).command == "train"


def test_a_process_that_ended_keeps_its_name_while_the_gpu_still_lists_it(machine):
    """Memory that is still held has an owner to name, but nobody to signal."""
    machine.start(77)
    machine.look(77)
    machine.end(77)
    found = machine.look(77)
    assert (found.command, found.running_s, found.start_ticks) == ("train", None, None)
    assert found.unreachable == HAS_ENDED


def test_who_takes_an_ended_process_number_does_not_get_its_memory(machine):
    """The GPU still lists the one that ended; its name stays, and the other is not to be killed."""
    machine.start(77)
    machine.look(77)
    machine.end(77)
    machine.look(77)
    machine.start(77, began_s=4e8, command=b"sshd")
    for _ in range(2):
        found = machine.look(77)
        assert (found.command, found.unreachable) == ("train", REUSED)


def test_a_restart_under_the_same_number_is_a_new_process(machine):
    """Between two looks one ended and another began: the new one is shown, as itself."""
    machine.start(77)
    machine.look(77)
    machine.end(77)
    machine.start(77, began_s=50.0, command=b"train again")
    found = machine.look(77)
    assert (found.command, found.unreachable) == ("train again", None)
    assert found.start_ticks == 50 * TICKS_PER_S


def test_a_zombie_has_ended(machine):
    """It has a number and a name, and nothing that a signal could end."""
    machine.start(77, state="Z", command=b"")
    found = machine.look(77)
    assert (found.command, found.unreachable) == ("[python3]", HAS_ENDED)


def test_a_zombie_in_a_container_is_known_by_its_number(machine):
    """It has no GPU open any more, and its memory may be held all the same."""
    machine.contain()
    machine.start(77, state="Z", command=b"")
    assert machine.look(77).unreachable == HAS_ENDED


@pytest.mark.parametrize("stat", [b"", b"77", b"77 (x) S 1 2", b"77 (x) S " + b"y " * 50])
def test_a_stat_that_is_cut_short_is_nobody(machine, stat):
    """A process that ends while it is read leaves no traceback."""
    machine.tree.write({"proc/77/stat": stat})
    assert machine.look(77).command.startswith("[not in this /proc")


def test_very_many_processes_have_turns(machine):
    """Of a thousand no more than 256 are looked at in one reading; soon all are known."""
    pids = range(1000, 1600)
    for pid in pids:
        machine.start(pid)
    first = machine.look(*pids)
    assert sum(one.unreachable == NOT_LOOKED_AT for one in first.values()) == 600 - 256
    machine.look(*pids)
    assert {one.unreachable for one in machine.look(*pids).values()} == {None}


def test_a_user_that_nobody_knows_is_a_number(tree):
    """Also when the directory of users does not answer."""
    users = Users()
    assert users.name(os.getuid()) == pwd.getpwuid(os.getuid()).pw_name
    assert users.name(3_999_999_999) == "3999999999"


def test_a_directory_of_users_that_hangs_holds_nobody_up(monkeypatch):
    """A name that does not come in time is a number until it has come."""
    answered = threading.Event()

    def hang(uid):
        answered.wait(30)
        return pwd.struct_passwd(("alice", "x", uid, uid, "", "/", "/bin/sh"))

    monkeypatch.setattr(pwd, "getpwuid", hang)
    users = Users()
    assert users.name(1234) == "1234"
    answered.set()
    until_s = time.monotonic() + 10
    while users.name(1234) != "alice" and time.monotonic() < until_s:
        time.sleep(0.01)
    assert users.name(1234) == "alice"


def test_the_scheduler_names_the_job():
    """Slurm puts its job's id into the environment of what it starts."""
    with a_process(SLURM_JOB_ID="4711") as child:
        found = ProcessTable().look([child.pid])[child.pid]
    assert (found.job, found.job_kind) == ("4711", "slurm")


def test_a_command_line_that_is_not_text_is_shown_without_harm(tmp_path):
    """Bytes that are not UTF-8, and control characters, are replaced."""
    process = tmp_path / "77"
    process.mkdir()
    numbers = " ".join(["0"] * 60)
    (process / "stat").write_bytes(b"77 (we (ird) \xff) S " + numbers.encode())
    (process / "cmdline").write_bytes(b"train\xff\0--name\0\x1b]0;owned\x07\0")
    found = ProcessTable(tmp_path).look([77])[77]
    assert found.command == "train\N{REPLACEMENT CHARACTER} --name " + (
        "\N{REPLACEMENT CHARACTER}]0;owned\N{REPLACEMENT CHARACTER}"
    )
