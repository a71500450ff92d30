"""PyTorch's own NVML calls on a fake node, by the real torch where it is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason="torch is not here: make test TORCH=1 installs it",
)

_READ = """
import json, torch
cuda = torch.cuda
print(json.dumps({
    "count": cuda._raw_device_count_nvml(),
    "visible": cuda._device_count_nvml(),
    "uuids": cuda._raw_device_uuid_nvml(),
    "temperature": cuda.temperature(1),
    "power_mw": cuda.power_draw(1),
    "utilization": cuda.utilization(1),
    "clock_mhz": cuda.clock_rate(1),
    "processes": cuda.list_gpu_processes(1),
}))
"""


def read(node: Any, *environment: str) -> Any:
    """What torch says, in a process on the node."""
    done = node.enter("env", *environment, sys.executable, "-W", "ignore", "-c", _READ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def node(fake_node: Callable[..., Any]) -> Any:
    """A fake node with eight busy GPUs."""
    return fake_node("h100-sxm", "--gpus", "8")


def test_torch_counts_names_and_reads_the_gpus(node: Any) -> None:
    """By the unsuffixed nvmlInit, a buffer of 96 for each UUID, and nvidia-ml-py for the rest."""
    seen, ours = read(node), node.reading()
    assert seen["count"] == seen["visible"] == 8
    assert seen["uuids"] == [gpu["uuid"] for gpu in ours["gpus"]]
    assert 40 < seen["temperature"] < 70
    assert 500_000 < seen["power_mw"] <= 700_000
    assert seen["utilization"] > 80
    assert seen["clock_mhz"] == 1980
    (pid,) = [each["pid"] for each in ours["processes"] if each["gpu"] == 1]
    assert f"{pid} uses" in seen["processes"]


def test_torch_takes_the_devices_that_are_visible(node: Any) -> None:
    """By CUDA_VISIBLE_DEVICES, also where that names GPUs by their UUIDs."""
    uuids = [gpu["uuid"] for gpu in node.reading()["gpus"]]
    assert read(node, "CUDA_VISIBLE_DEVICES=6,2")["visible"] == 2
    by_uuid = read(node, f"CUDA_VISIBLE_DEVICES={uuids[3]},{uuids[0]},{uuids[7]}")
    assert (by_uuid["visible"], by_uuid["count"]) == (3, 8)


def test_torch_sees_no_gpus_where_a_look_up_fails(node: Any) -> None:
    """One lost GPU, and torch has no UUIDs at all: its own loop gives up."""
    node.inject("xid", "gpu=n0/5", "code=79")
    done = node.enter(
        sys.executable,
        "-W",
        "ignore",
        "-c",
        "import torch; print(torch.cuda._raw_device_count_nvml(),"
        " torch.cuda._raw_device_uuid_nvml())",
    )
    assert done.stdout.splitlines()[-1] == "8 None", done.stderr
