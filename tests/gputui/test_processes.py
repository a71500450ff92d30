"""Who the processes on a GPU are: from /proc, without mistaking one for another."""

import contextlib
import os
import subprocess
import sys
import time

from gputui.sources.processes import ELSEWHERE, ProcessTable


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


def test_a_process_of_another_namespace_is_labelled():
    """A number that is nobody here gets no user, and is not passed off as somebody."""
    found = ProcessTable().look([4_194_303])[4_194_303]
    assert (found.user, found.command) == (None, ELSEWHERE)


def test_a_process_that_ended_keeps_its_name_while_the_gpu_still_lists_it():
    """Memory that is still held has an owner to name."""
    table = ProcessTable()
    with a_process() as child:
        name = table.look([child.pid])[child.pid].command
    after = table.look([child.pid])[child.pid]
    assert (after.command, after.running_s) == (name, None)


def test_the_scheduler_names_the_job():
    """Slurm puts its job's id into the environment of what it starts."""
    with a_process(SLURM_JOB_ID="4711") as child:
        found = ProcessTable().look([child.pid])[child.pid]
    assert found.job == "4711"


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
