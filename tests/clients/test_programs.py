"""Programs that nobody here wrote, unmodified, on a fake node."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

GPUCHAOS = (sys.executable, "-m", "chaos")
Find = Callable[[str, str], str]

F9, DOWN = "\x1b[20~", "\x1bOB"  # as an xterm sends them to a program in keypad mode

FROM_PYPI = "make test installs it"
FROM_DEBIAN = "make clients fetches it on Debian; elsewhere install nvtop"


def job_pids(node: Any) -> set[int]:
    """The PIDs that the node's own ps shows for the training job."""
    listing = node.enter("ps", "-eo", "pid=,args=").stdout
    return {int(pid) for pid in re.findall(r"^\s*(\d+) python3 train\.py", listing, re.MULTILINE)}


@pytest.fixture
def node(fake_node: Callable[..., Any]) -> Any:
    """A fake node with eight busy GPUs."""
    return fake_node("h100-sxm", "--gpus", "8")


def test_gpustat_shows_eight_gpus_and_the_living_processes(node: Any, program: Find) -> None:
    """Gpustat exits 0 and names every GPU and every process that ps shows."""
    done = node.enter(program("gpustat", FROM_PYPI), "--no-color", "-p")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^\[\d\] NVIDIA H100", done.stdout, re.MULTILINE)) == 8
    assert {int(pid) for pid in re.findall(r"/(\d+)\(", done.stdout)} == job_pids(node)
    assert len(job_pids(node)) == 8


def test_nvitop_shows_eight_gpus_and_the_living_processes(node: Any, program: Find) -> None:
    """``nvitop -1`` exits 0 and lists every process that ps shows, with its command line."""
    done = node.enter(program("nvitop", FROM_PYPI), "-1", "--colorful", "--ascii")
    assert done.returncode == 0, done.stderr
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert len(re.findall(r"^\| +\d +H100 80GB HBM3", text, re.MULTILINE)) == 8 or (
        len(re.findall(r"H100", text)) >= 8
    )
    listed = {int(pid) for pid in re.findall(r"^\| +\d+ +(\d+) C ", text, re.MULTILINE)}
    assert listed == job_pids(node)


def test_nvtop_shows_eight_gpus_and_the_living_processes(
    node: Any, program: Find, terminal: Callable[..., Any]
) -> None:
    """Nvtop draws every GPU and process, and ends by ``q`` with status 0."""
    nvtop = program("nvtop", FROM_DEBIAN)
    screen = terminal(
        [*GPUCHAOS, "enter", "--", nvtop, "--no-plot"], columns=160, rows=50, env=node.env
    )
    pids = job_pids(node)
    text = screen.wait_for(r"Device 7 +\[NVIDIA H100")
    assert len(re.findall(r"Device \d +\[NVIDIA H100 80GB HBM3\]", text)) == 8
    for pid in pids:
        screen.wait_for(rf"^ *{pid} ")
    screen.send("q")
    assert screen.wait() == 0


def test_nvtops_kill_key_ends_a_process_and_frees_its_memory(
    fake_node: Callable[..., Any], program: Find, terminal: Callable[..., Any]
) -> None:
    """F9 and a signal from its list: the selected process is gone for nvtop, NVML and ps."""
    node = fake_node("h100-sxm", "--gpus", "2")
    nvtop = program("nvtop", FROM_DEBIAN)
    screen = terminal(
        [*GPUCHAOS, "enter", "--", nvtop, "--no-plot"], columns=160, rows=50, env=node.env
    )
    first, second = sorted(job_pids(node))
    screen.wait_for(rf"^ *{second} ")
    screen.send(F9)
    screen.wait_for("9 SIGKILL")
    for _ in range(9):  # from "0 Cancel"
        screen.send(DOWN)
        screen.read()
    screen.send("\n")
    screen.wait_for(r"MEM\[ +0\.\d+Gi")
    assert not re.search(rf"^ *{first} ", screen.text(), re.MULTILINE)
    assert job_pids(node) == {second}
