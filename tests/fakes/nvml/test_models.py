"""What nvidia-ml-py reads of each model, idle and at work, on both carriers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MakeRig = Callable[..., Any]


def state(rig: Any) -> tuple[int, int, int, int]:
    """Performance state, memory clock, SM clock and the link's generation."""
    nvml, handle = rig.nvml, rig.handle()
    return (
        nvml.nvmlDeviceGetPerformanceState(handle),
        nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
        nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle),
    )


@pytest.mark.parametrize(
    ("model", "idle", "busy"),
    [
        ("h100-sxm", (0, 2619, 345, 5), (0, 2619, 1980, 5)),
        ("a100-sxm", (0, 1593, 210, 4), (0, 1593, 1410, 4)),
        ("l4", (8, 405, 210, 1), (0, 6251, 1965, 4)),
    ],
)
def test_modules_stay_in_p0_and_cards_rest(
    make_rig: MakeRig, model: str, idle: tuple[int, ...], busy: tuple[int, ...]
) -> None:
    """An idle L4 is in P8, its memory at 405 MHz, its link lowered; at work it is in P0."""
    assert state(make_rig(model=model, idle=True)) == idle
    assert state(make_rig(model=model)) == busy


@pytest.mark.parametrize(
    ("model", "name", "memory_mib", "limits_w", "idle_w"),
    [
        ("h100-sxm", "NVIDIA H100 80GB HBM3", 81559, (200, 700), 70),
        ("a100-sxm", "NVIDIA A100-SXM4-80GB", 81920, (100, 400), 59),
        ("l4", "NVIDIA L4", 23034, (40, 72), 16.5),
    ],
)
def test_data_sheets(
    make_rig: MakeRig,
    model: str,
    name: str,
    memory_mib: int,
    limits_w: tuple[int, int],
    idle_w: float,
) -> None:
    """Name, memory, the range of the power limit, and the power of an idle GPU."""
    rig = make_rig(model=model, idle=True)
    nvml, handle = rig.nvml, rig.handle()
    assert nvml.nvmlDeviceGetName(handle) == name
    assert nvml.nvmlDeviceGetMemoryInfo(handle).total >> 20 == memory_mib
    lowest, highest = limits_w
    constraints = nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle)
    assert constraints == [1000 * lowest, 1000 * highest]
    assert nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) == 1000 * highest
    assert nvml.nvmlDeviceGetPowerUsage(handle) == pytest.approx(1000 * idle_w, rel=0.02)


@pytest.mark.parametrize("model", ["h100-sxm", "a100-sxm", "l4"])
def test_a_clock_that_is_listed_can_be_asked_for(make_rig: MakeRig, model: str) -> None:
    """Every memory clock has its SM clocks, from the highest to the lowest."""
    rig = make_rig(model=model)
    nvml, handle = rig.nvml, rig.handle()
    clocks = rig.node.gpus[0].profile.clocks
    memory = nvml.nvmlDeviceGetSupportedMemoryClocks(handle)
    assert memory[0] == clocks.memory_mhz
    for each in memory:
        graphics = nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, each)
        assert graphics == sorted(graphics, reverse=True)
        assert graphics[-1] == clocks.min_mhz
    assert nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, memory[0])[0] == clocks.max_mhz
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, 1)


def test_a_loaded_l4_is_held_by_its_power_limit(make_rig: MakeRig) -> None:
    """72 W are too few for its highest clock: it says so, and keeps to them."""
    rig = make_rig(model="l4", load=1.0)
    nvml, handle = rig.nvml, rig.handle()
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x4
    assert nvml.nvmlDeviceGetPowerUsage(handle) <= 72_000
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) < 2040


def test_switches_are_the_baseboards(make_rig: MakeRig) -> None:
    """Four behind an H100, six behind an A100, each at its own address; none behind an L4."""
    for model, count, device_id in (("h100-sxm", 4, 0x22A310DE), ("a100-sxm", 6, 0x1AF110DE)):
        rig = make_rig(model=model, gpus=1)
        nvml, handle = rig.nvml, rig.handle()
        links = rig.node.gpus[0].profile.nvlink.links
        peers = [nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, n) for n in range(links)]
        assert len({peer.bus for peer in peers}) == count
        assert {peer.pciDeviceId for peer in peers} == {device_id}
    rig = make_rig(model="l4")
    with pytest.raises(rig.nvml.NVMLError_NotSupported):
        rig.nvml.nvmlDeviceGetNvLinkRemotePciInfo(rig.handle(), 0)
    assert [rig.nvml.nvmlDeviceGetModuleId(rig.handle(index)) for index in (0, 1)] == [1, 1]
