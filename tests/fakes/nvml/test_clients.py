"""Python programs that nobody here wrote, on the in-process carrier, each in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[3]

_NODE = """
import json, os, sys
from fakes.clock import WallClock
from fakes.hardware.gpu import Lost
from fakes.node import Node
from fakes.nvml.answer import answer
from fakes.nvml.inprocess import installed
from fakes.jobs.process import JobSpec
from fakes.profile import load_profile

class Myself:
    "Whoever runs this stands for every process of the fake's."
    def spawn(self, spec):
        return os.getpid()
    def kill(self, pid):
        pass

clock = WallClock()
node = Node("n0", load_profile("h100-sxm"), 8, host=Myself(), epoch=clock.epoch())
node.start_job(JobSpec("train", tuple(range(8)), memory_bytes=40 << 30), 0)
node.settle(0)
calls = []

def respond(call):
    got = answer(node, call, clock.now_us())
    calls.append([call.function, got.code])
    return got
"""


def run(package: str, program: str) -> Any:
    """Run ``program`` on eight fake GPUs under load; what it prints is JSON."""
    if find_spec(package) is None:  # not imported here: gpustat puts its own functions into pynvml
        pytest.skip(f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, "-c", _NODE + program],
        cwd=_ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nvitop_sees_eight_gpus() -> None:
    """Snapshots of nvitop: every value there, but for the fan; and the very process that runs."""
    seen = run("nvitop", """
with installed(respond):
    import nvitop
    shots = []
    for device in nvitop.Device.all():
        shot = device.as_snapshot()
        processes = device.processes()
        shots.append({
            "index": shot.index, "name": shot.name, "temperature": shot.temperature,
            "power": shot.power_usage, "limit": shot.power_limit, "fan": shot.fan_speed,
            "sm": shot.sm_clock, "memory": shot.memory_used, "gpu": shot.gpu_utilization,
            "ecc": shot.total_volatile_uncorrected_ecc_errors, "mig": shot.mig_mode,
            "pids": list(processes), "own": os.getpid(), "links": device.nvlink_link_count(),
            "busy": [process.gpu_sm_utilization() for process in processes.values()],
            "missing": [name for name, value in vars(shot).items() if value == nvitop.NA],
        })
    print(json.dumps(shots))
""")  # fmt: skip
    assert [shot["index"] for shot in seen] == list(range(8))
    for shot in seen:
        assert shot["name"] == "NVIDIA H100 80GB HBM3"
        assert 40 < shot["temperature"] < 70
        assert 500_000 < shot["power"] < shot["limit"] == 700_000
        assert (shot["fan"], shot["mig"], shot["ecc"], shot["sm"]) == ("N/A", "Disabled", 0, 1980)
        assert shot["memory"] == 40 << 30
        assert shot["pids"] == [shot["own"]]
        assert shot["links"] == 18
        assert shot["gpu"] > 80
        assert shot["busy"][0] > 80
        assert set(shot["missing"]) == {"fan_speed", "current_driver_model"}


def test_nvitop_sees_seven_of_eight_when_one_is_lost() -> None:
    """The others read on; of the lost one, nvitop says that its values are missing."""
    seen = run("nvitop", """
with installed(respond):
    import nvitop
    before = nvitop.Device.all()
    node.gpus[5].lost = Lost(clock.now_us())
    print(json.dumps([
        [device.power_usage() for device in before], nvitop.Device.count(),
    ]))
""")  # fmt: skip
    powers, count = seen
    assert count == 8
    assert [index for index, power in enumerate(powers) if power == "N/A"] == [5]


def test_gpustat_sees_eight_gpus() -> None:
    """A collection of gpustat: memory, processes and power of each."""
    seen = run("gpustat", """
with installed(respond):
    import gpustat
    gpus = gpustat.GPUStatCollection.new_query().jsonify()["gpus"]
    for gpu in gpus:
        gpu["own"] = os.getpid()
    print(json.dumps(gpus))
""")  # fmt: skip
    assert [gpu["index"] for gpu in seen] == list(range(8))
    for gpu in seen:
        assert gpu["memory.used"] == 40 * 1024
        assert gpu["memory.total"] == 81559
        assert gpu["utilization.gpu"] > 80
        assert gpu["enforced.power.limit"] == 700
        assert [process["pid"] for process in gpu["processes"]] == [gpu["own"]]
        assert gpu["processes"][0]["gpu_memory_usage"] == 40 * 1024
