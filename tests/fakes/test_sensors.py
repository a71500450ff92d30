"""Sensors that lie, fans of a card's own, and air that comes in warmer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.hardware.cooling import warm


def test_a_sensor_that_lies_lies_to_everybody(rig: Any) -> None:
    """Every function that reads it; the GPU itself is as warm as it is."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    truth, memory = gpu.true_temperature_c(rig.at_us), gpu.memory_temperature_c(rig.at_us)
    gpu.sensor_c = 255
    assert nvml.nvmlDeviceGetTemperature(handle, 0) == 255
    assert nvml.nvmlDeviceGetTemperatureV(handle, 0) == 255
    assert gpu.true_temperature_c(rig.at_us) == truth
    assert gpu.memory_temperature_c(rig.at_us) == memory


def test_air_that_comes_in_warmer_warms_as_much(rig: Any) -> None:
    """Ten degrees more at the inlet are ten more on the chip, in the end."""
    gpu = rig.node.gpus[0]
    before = gpu.true_temperature_c(rig.at_us)
    warm(rig.node.gpus, 10.0, rig.at_us)
    later = gpu.true_temperature_c(rig.at_us + 3_600_000_000)
    assert later == pytest.approx(before + 10)


def test_a_card_with_a_fan_tells_its_speed(rig: Any) -> None:
    """One fan, which can stand still; modules have none."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetFanSpeed(handle)
    gpu.profile = replace(gpu.profile, has_fan=True)
    assert nvml.nvmlDeviceGetFanSpeed(handle) == nvml.nvmlDeviceGetFanSpeed_v2(handle, 0) == 68
    gpu.fan_share = 0.0
    assert nvml.nvmlDeviceGetFanSpeed(handle) == 0
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetFanSpeed_v2(handle, 1)
