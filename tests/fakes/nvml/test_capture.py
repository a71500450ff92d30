"""Readings against a real H100: `nvidia-smi -q` of driver 590.48.01, idle and under gpu-burn.

The captures are not part of the project; where their folder is not to be found, this is skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.jobs.process import JobSpec

_NAME = "nvidia-smi-captures/h100-80gb-hbm3__590.48.01.txt"
_BESIDE = Path(__file__).parents[3].parent / "shared" / "data"
_FILE = Path(os.environ.get("GPUTUI_SHARED_DATA", _BESIDE)) / _NAME
MIB = 1 << 20
pytestmark = pytest.mark.skipif(not _FILE.exists(), reason=f"no captures: {_FILE} is not there")

Query = Mapping[str, str]
MakeRig = Callable[..., Any]


def query(state: str) -> Query:
    """The lines of ``nvidia-smi -q``, each by its headings: ``FB Memory Usage/Total``."""
    text = _FILE.read_text(encoding="utf-8")
    section = text.split(f"# {state} :: query (-q)\n")[1].split("\n######")[1].split("\n", 1)[1]
    found: dict[str, str] = {}
    headings: list[str] = []
    for line in section.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        name, colon, value = line.strip().partition(" : ")
        headings[depth:] = [name.strip()]
        if colon:
            found["/".join(headings[1:])] = value
    return found


def number(captured: Query, name: str) -> float:
    match = re.match(r"-?[\d.]+", captured[name])
    assert match, (name, captured[name])
    return float(match[0])


@pytest.fixture
def loaded(make_rig: MakeRig) -> Any:
    """One GPU under a load that keeps every SM busy, with the memory that the capture shows."""
    rig = make_rig(gpus=1, idle=True)
    for held, load in ((2566, 0.0), (1542, 0.0), (15710, 0.95)):
        rig.node.start_job(JobSpec("burn", (0,), load=load, memory_bytes=held * MIB), 0)
    rig.node.settle(0)
    return rig


def check_common(rig: Any, captured: Query) -> None:
    """What no load changes is the same, to the letter and to the unit."""
    nvml, handle = rig.nvml, rig.handle()
    texts = {
        "Product Name": nvml.nvmlDeviceGetName(handle),
        "VBIOS Version": nvml.nvmlDeviceGetVbiosVersion(handle),
        "Board Part Number": nvml.nvmlDeviceGetBoardPartNumber(handle),
        "Inforom Version/Image Version": nvml.nvmlDeviceGetInforomImageVersion(handle),
        "Inforom Version/OEM Object": nvml.nvmlDeviceGetInforomVersion(handle, 0),
        "Inforom Version/ECC Object": nvml.nvmlDeviceGetInforomVersion(handle, 1),
        "PCI/Device Id": f"0x{nvml.nvmlDeviceGetPciInfo(handle).pciDeviceId:X}",
        "PCI/Sub System Id": f"0x{nvml.nvmlDeviceGetPciInfo(handle).pciSubSystemId:X}",
    }
    assert {name: captured[name] for name in texts} == texts
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, nvml.nvmlMemory_v2)
    margins = nvml.nvmlDeviceGetFieldValues(handle, [193, 194, 195, 196])
    lowest, highest = nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle)
    limit = nvml.nvmlDeviceGetPowerManagementLimit(handle)
    numbers = {
        "FB Memory Usage/Total": memory.total / MIB,
        "FB Memory Usage/Reserved": memory.reserved / MIB,
        "BAR1 Memory Usage/Total": nvml.nvmlDeviceGetBAR1MemoryInfo(handle).bar1Total / MIB,
        "Temperature/GPU Shutdown T.Limit Temp": margins[0].value.siVal,
        "Temperature/GPU Slowdown T.Limit Temp": margins[1].value.siVal,
        "Temperature/Memory Max Operating T.Limit Temp": margins[2].value.siVal,
        "Temperature/GPU Max Operating T.Limit Temp": margins[3].value.siVal,
        "GPU Power Readings/Current Power Limit": limit / 1000,
        "GPU Power Readings/Min Power Limit": lowest / 1000,
        "GPU Power Readings/Max Power Limit": highest / 1000,
        "Clocks/Memory": nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
        "Max Clocks/SM": nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM),
        "Max Clocks/Video": nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_VIDEO),
        "PCI/GPU Link Info/PCIe Generation/Current": (
            nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle)
        ),
        "PCI/GPU Link Info/Link Width/Current": nvml.nvmlDeviceGetCurrPcieLinkWidth(handle),
        "Remapped Rows/Bank Remap Availability Histogram/Max": (
            nvml.nvmlDeviceGetRowRemapperHistogram(handle).max
        ),
    }
    assert {name: number(captured, name) for name in numbers} == numbers
    assert captured["Performance State"] == f"P{nvml.nvmlDeviceGetPerformanceState(handle)}"
    assert captured["Fan Speed"] == "N/A"
    assert captured["Retired Pages/Single Bit ECC"] == "N/A"
    assert captured["GPU Recovery Action"] == "None"


def check_readings(rig: Any, captured: Query) -> None:
    """What the sensors say is within what one sensor differs by from one second to the next."""
    nvml, handle = rig.nvml, rig.handle()
    degrees = nvml.nvmlDeviceGetTemperature(handle, 0)
    in_memory = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_MEMORY_TEMP])[0]
    watts = nvml.nvmlDeviceGetPowerUsage(handle) / 1000
    assert degrees == pytest.approx(number(captured, "Temperature/GPU Current Temp"), abs=2)
    assert in_memory.value.uiVal == pytest.approx(
        number(captured, "Temperature/Memory Current Temp"), abs=2
    )
    assert watts == pytest.approx(
        number(captured, "GPU Power Readings/Average Power Draw"), rel=0.03
    )
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) == number(captured, "Clocks/SM")
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_VIDEO) == number(
        captured, "Clocks/Video"
    )
    assert nvml.nvmlDeviceGetMarginTemperature(handle) == 87 - degrees
    idle = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) & 0x1
    assert captured["Clocks Event Reasons/Idle"] == ("Active" if idle else "Not Active")


def test_idle_readings_are_a_real_gpus(make_rig: MakeRig) -> None:
    """Idle: 2 degrees, 3 % of power, clocks and the free memory exactly."""
    rig, captured = make_rig(gpus=1, idle=True), query("idle")
    check_common(rig, captured)
    check_readings(rig, captured)
    nvml, handle = rig.nvml, rig.handle()
    free = nvml.nvmlDeviceGetMemoryInfo(handle, nvml.nvmlMemory_v2).free / MIB
    assert number(captured, "FB Memory Usage/Free") == pytest.approx(free, abs=1)
    assert nvml.nvmlDeviceGetUtilizationRates(handle).gpu == 0
    for counter, name in ((0, "Tx"), (1, "Rx")):
        kib = nvml.nvmlDeviceGetPcieThroughput(handle, counter)
        assert kib == pytest.approx(number(captured, f"PCI/{name} Throughput"), abs=60)


def test_readings_under_load_are_a_real_gpus(loaded: Any) -> None:
    """Under load: the same tolerances, and the memory that its processes hold."""
    captured = query("load")
    check_common(loaded, captured)
    check_readings(loaded, captured)
    nvml, handle = loaded.nvml, loaded.handle()
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, nvml.nvmlMemory_v2)
    bar1 = nvml.nvmlDeviceGetBAR1MemoryInfo(handle)
    assert memory.used / MIB == number(captured, "FB Memory Usage/Used")
    assert memory.free / MIB == pytest.approx(number(captured, "FB Memory Usage/Free"), abs=1)
    assert bar1.bar1Used / MIB == number(captured, "BAR1 Memory Usage/Used")
    assert nvml.nvmlDeviceGetUtilizationRates(handle).gpu > 90
