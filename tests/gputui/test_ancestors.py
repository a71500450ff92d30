"""Who started the processes on the GPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from gputui.model import Ancestor
from gputui.sources.ancestors import ancestors_of
from gputui.sources.nvml import NvmlReader
from gputui.sources.processes import HostProcess, ProcessTable
from gputui.sources.users import Users

CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"


def stat(pid: int, parent: int, name: str = "x") -> str:
    return f"{pid} ({name}) S {parent} " + "0 " * 15 + "100 0 10 " + "0 " * 20


def test_a_real_family_is_told() -> None:
    """From the process's parent up, with their commands and users."""
    program = "import time; print('here', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", CHILD, program], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        (pid,) = map(int, Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split())
        one = ProcessTable().look([pid])[pid]
        assert one.parent_pid == child.pid
        assert [above.pid for above in one.ancestors[:2]] == [child.pid, os.getpid()]
        assert sys.executable in (one.ancestors[0].command or "")
        assert one.ancestors[0].user == one.user
    finally:
        os.kill(pid, 9)
        child.wait()


def test_the_first_process_and_what_is_not_to_be_seen_are_left_out(tree: Any) -> None:
    """In a container a parent may be outside; above all stands the first process."""
    tree.write({"proc/5/stat": stat(5, 1), "proc/6/stat": stat(6, 99)})
    proc = str(tree.root / "proc")
    assert [one.pid for one in ancestors_of(proc, 5, Users())] == [5]
    assert [one.pid for one in ancestors_of(proc, 6, Users())] == [6]
    assert ancestors_of(proc, 1, Users()) == ancestors_of(proc, 0, Users()) == ()


def test_a_long_line_of_ancestors_is_cut(tree: Any) -> None:
    """Eight are enough, also where somebody is said to be above himself."""
    tree.write({f"proc/{pid}/stat": stat(pid, pid + 1) for pid in range(100, 200)})
    tree.write({"proc/7/stat": stat(7, 7)})
    proc = str(tree.root / "proc")
    assert len(ancestors_of(proc, 100, Users())) == 8
    assert len(ancestors_of(proc, 7, Users())) == 8


def test_the_reading_names_each_of_them_once(nvml: Any) -> None:
    """Without those that hold a GPU themselves."""
    above = (Ancestor(10, 9, "a", "torchrun"), Ancestor(9, 1, "a", "bash"))

    class Table:
        def look(self, pids: Any) -> dict[int, HostProcess]:
            wanted = sorted(set(pids))
            known = {pid: HostProcess(user="a", parent_pid=10, ancestors=above) for pid in wanted}
            first = wanted[0]
            known[first] = replace(known[first], parent_pid=9, ancestors=above[1:])
            return known

    nvml.gpus[0].compute = [(10, 1 << 30), (11, 1 << 30)]
    nvml.gpus[1].compute = [(12, 1 << 30)]
    sample = NvmlReader(nvml, processes=Table()).read(1.0)
    assert {one.pid for one in sample.ancestors} == {9}
    assert {process.parent_pid for process in sample.processes} == {9, 10}
