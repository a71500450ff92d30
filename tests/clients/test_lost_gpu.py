"""A GPU is lost while programs that nobody here wrote are looking at it."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import Any

GPUCHAOS = (sys.executable, "-m", "chaos")
GPUTUI = (sys.executable, "-m", "gputui")
Find = Callable[[str, str], str]


def test_the_monitor_says_lost_and_the_others_keep_running(
    fake_node: Callable[..., Any], program: Find, terminal: Callable[..., Any]
) -> None:
    """After Xid 79 gputui shows LOST with its age and one GpuLost with what to do at once, while
    nvtop and nvitop run on and a later gpustat still shows the seven others.
    """
    node = fake_node("h100-sxm", "--gpus", "8")
    nvtop = program("nvtop", "make clients fetches it on Debian")
    nvitop = program("nvitop", "make test installs it")
    enter = [*GPUCHAOS, "enter", "--"]
    ours = terminal([*enter, *GPUTUI], columns=100, rows=30, env=node.env)
    peers = {
        "nvtop": terminal([*enter, nvtop, "--no-plot"], columns=160, rows=50, env=node.env),
        "nvitop": terminal([*enter, nvitop, "--ascii"], columns=130, rows=60, env=node.env),
    }
    ours.wait_for(r"^. +7 +ok")
    peers["nvtop"].wait_for(r"Device 7")
    peers["nvitop"].wait_for(r"^\W+7\W.*H100")

    node.inject("xid", "gpu=n0/5", "code=79")
    injected = time.monotonic()
    text = ours.wait_for(r"5 .* LOST \d+s", timeout_s=10)
    text = ours.wait_for(r"GpuLost +GPU 5", timeout_s=10)
    took_s = time.monotonic() - injected
    text = ours.wait_for(r"> drain, power-cycle", timeout_s=5)
    assert took_s < 5.0  # two seconds on a quiet machine; the tests share theirs
    assert len(re.findall("GpuLost", text)) == 1

    time.sleep(3)
    for peer in peers.values():
        peer.read(0.5)
        assert peer.status is None, peer.text()
        peer.send("q")
    for name, peer in peers.items():
        assert peer.wait() == 0, f"{name}:\n{peer.text()}"
    done = node.enter(program("gpustat", "make test installs it"), "--no-color")
    assert len(re.findall(r"^\[\d\] NVIDIA H100", done.stdout, re.MULTILINE)) == 7
    ours.send("q")
    assert ours.wait() == 0
