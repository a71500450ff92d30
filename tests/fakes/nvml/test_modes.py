"""Modes and clocks that programs set through nvidia-ml-py, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.actions import Action, Effect
from fakes.hardware.recovery import reset_gpu
from fakes.node import Driver

SM = 1


@pytest.fixture
def noted(rig: Any) -> list[Action]:
    """The actions on the rig's node."""
    actions: list[Action] = []
    rig.node.actions.listen(actions.append)
    return actions


def sm_mhz(rig: Any) -> int:
    return int(rig.nvml.nvmlDeviceGetClockInfo(rig.handle(), SM))


def test_locked_clocks_hold_a_busy_gpu_down(rig: Any, noted: list[Action]) -> None:
    """The clock is the highest allowed, power falls with it, and the reason is a setting."""
    before_mw = rig.nvml.nvmlDeviceGetPowerUsage(rig.handle())
    rig.nvml.nvmlDeviceSetGpuLockedClocks(rig.handle(), 345, 1200)
    assert sm_mhz(rig) == 1200
    assert rig.nvml.nvmlDeviceGetPowerUsage(rig.handle()) < before_mw
    assert rig.nvml.nvmlDeviceGetCurrentClocksEventReasons(rig.handle()) == 0x2
    assert [action.effect for action in noted] == [Effect.SET_CLOCKS]
    rig.nvml.nvmlDeviceResetGpuLockedClocks(rig.handle())
    assert sm_mhz(rig) == 1980


def test_locked_clocks_keep_an_idle_gpu_up(make_rig: Any) -> None:
    """An idle GPU runs at the lowest clock that is allowed."""
    rig = make_rig(idle=True)
    rig.nvml.nvmlDeviceSetGpuLockedClocks(rig.handle(), 1980, 1980)
    assert sm_mhz(rig) == 1980


def test_a_range_that_is_none_is_refused(rig: Any) -> None:
    """The lowest above the highest."""
    with pytest.raises(rig.nvml.NVMLError_InvalidArgument):
        rig.nvml.nvmlDeviceSetGpuLockedClocks(rig.handle(), 1980, 345)


def test_applications_ask_for_clocks_until_they_are_reset(rig: Any) -> None:
    """Only pairs that go together; locked clocks go before them."""
    nvml = rig.nvml
    nvml.nvmlDeviceSetApplicationsClocks(rig.handle(), 2619, 1500)
    assert sm_mhz(rig) == nvml.nvmlDeviceGetApplicationsClock(rig.handle(), SM) == 1500
    nvml.nvmlDeviceSetGpuLockedClocks(rig.handle(), 345, 1980)
    assert sm_mhz(rig) == 1980
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceSetApplicationsClocks(rig.handle(), 2619, 1501)
    nvml.nvmlDeviceResetGpuLockedClocks(rig.handle())
    nvml.nvmlDeviceResetApplicationsClocks(rig.handle())
    assert sm_mhz(rig) == nvml.nvmlDeviceGetApplicationsClock(rig.handle(), SM) == 1980


def test_new_drivers_have_no_clocks_of_applications(rig: Any) -> None:
    """From branch 590 on they say that it is deprecated."""
    rig.node.driver = Driver("590.48.01", (13, 1), "13.590.48.01")
    with pytest.raises(rig.nvml.NVMLError) as refused:
        rig.nvml.nvmlDeviceSetApplicationsClocks(rig.handle(), 2619, 1500)
    assert refused.value.value == 26


def test_ecc_waits_for_a_reset(make_rig: Any) -> None:
    """What was set is pending, and in force after the reset; clocks are free then."""
    rig = make_rig(idle=True)
    rig.nvml.nvmlDeviceSetEccMode(rig.handle(), 0)
    rig.nvml.nvmlDeviceSetGpuLockedClocks(rig.handle(), 1980, 1980)
    assert rig.nvml.nvmlDeviceGetEccMode(rig.handle()) == [1, 0]
    gpu = rig.node.gpus[0]
    for name in ("dcgm-exporter", "nvidia-dcgm", "nvidia-persistenced"):
        rig.node.services.end(rig.node.services.find(name), rig.world)
    assert reset_gpu(rig.node, gpu, rig.at_us).refusal is None
    assert rig.nvml.nvmlDeviceGetEccMode(rig.handle()) == [0, 0]
    assert sm_mhz(rig) == gpu.profile.clocks.idle_mhz


@pytest.mark.parametrize(
    ("idle", "model", "came", "modes"),
    [
        (True, "h100-sxm", 0, [1, 1]),
        (False, "h100-sxm", 19, [0, 1]),
        (True, "a100-sxm", 16, [0, 1]),
    ],
)
def test_mig_switches_at_once_where_it_can(
    make_rig: Any, idle: bool, model: str, came: int, modes: list[int]
) -> None:
    """On a Hopper that nobody uses; else it waits for a reset."""
    rig = make_rig(idle=idle, model=model)
    assert rig.nvml.nvmlDeviceSetMigMode(rig.handle(), 1) == came
    assert rig.nvml.nvmlDeviceGetMigMode(rig.handle()) == modes


def test_compute_modes_are_set_but_for_the_one_that_is_gone(rig: Any) -> None:
    """Exclusive-thread mode is not supported any more; a fifth there never was."""
    rig.nvml.nvmlDeviceSetComputeMode(rig.handle(), 3)
    assert rig.nvml.nvmlDeviceGetComputeMode(rig.handle()) == 3
    with pytest.raises(rig.nvml.NVMLError_NotSupported):
        rig.nvml.nvmlDeviceSetComputeMode(rig.handle(), 1)
    with pytest.raises(rig.nvml.NVMLError_InvalidArgument):
        rig.nvml.nvmlDeviceSetComputeMode(rig.handle(), 4)


def test_a_memory_clock_is_locked_to_one_that_there_is(make_rig: Any) -> None:
    """The highest in the range."""
    rig = make_rig(idle=True, model="l4")
    clocks = rig.node.gpus[0].profile.clocks
    assert clocks.memory_idle_mhz < clocks.memory_mhz
    rig.nvml.nvmlDeviceSetMemoryLockedClocks(rig.handle(), clocks.memory_mhz, clocks.memory_mhz)
    assert rig.nvml.nvmlDeviceGetClockInfo(rig.handle(), 2) == clocks.memory_mhz
    rig.nvml.nvmlDeviceResetMemoryLockedClocks(rig.handle())
    assert rig.nvml.nvmlDeviceGetClockInfo(rig.handle(), 2) == clocks.memory_idle_mhz


def test_settings_that_stay_stay(rig: Any) -> None:
    """A reset keeps modes of the infoROM, and the compute mode."""
    settings = replace(rig.node.gpus[0].settings, compute_mode=3, mig_pending=True)
    assert settings.after_reset() == replace(settings, mig=True)
