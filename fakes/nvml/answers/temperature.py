"""Temperatures in degrees Celsius, and the fan of a card that has one of its own."""

from __future__ import annotations

from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require, uint32

_TEMPERATURE = Struct("<IIi")
_MARGIN = Struct("<Ii")
_SENSOR_DIE = 0
_SENSOR_HOTTEST = 1
_THRESHOLDS = 8
_MEMORY_MAX = 2


@answers("nvmlDeviceGetTemperature")
def temperature(gpu: Gpu, at_us: int, sensor: int) -> Value:
    """Whole degrees at a sensor (nvmlTemperatureSensors_t); the die's is the only one."""
    return uint32(_read(gpu, at_us, sensor))


@answers("nvmlDeviceGetTemperatureV")
def temperature_v(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Whole degrees at the sensor that the caller's structure names."""
    version, sensor = words[:2]
    return _TEMPERATURE.pack(version, sensor, _read(gpu, at_us, sensor))


@answers("nvmlDeviceGetTemperatureThreshold")
def temperature_threshold(gpu: Gpu, at_us: int, threshold: int) -> Value:
    """Degrees at which the GPU shuts down, is slowed by hardware, or lowers its clocks itself."""
    thermal = gpu.profile.thermal
    limits = (
        thermal.shutdown_c,
        thermal.slowdown_c,
        thermal.memory_max_operating_c,
        thermal.max_operating_c,
    )
    if threshold >= _THRESHOLDS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    require(threshold < len(limits))
    require(threshold != _MEMORY_MAX or gpu.profile.can.memory_sensor)
    return uint32(limits[threshold])


@answers("nvmlDeviceGetMarginTemperature")
def margin_temperature(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Degrees left until the GPU lowers its clocks itself ("T.Limit")."""
    require(gpu.profile.can.thermal_margins)
    margin = gpu.profile.thermal.max_operating_c - gpu.temperature_c(at_us)
    return _MARGIN.pack(words[0], margin)


@answers("nvmlDeviceGetFanSpeed")
def fan_speed(gpu: Gpu, at_us: int) -> Value:
    """Percent of the fan's highest speed."""
    require(gpu.profile.has_fan)
    return uint32(gpu.fan_percent)


@answers("nvmlDeviceGetFanSpeed_v2")
def fan_speed_v2(gpu: Gpu, at_us: int, fan: int) -> Value:
    """The same of a fan that a number names: there is one."""
    require(gpu.profile.has_fan)
    if fan:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return fan_speed(gpu, at_us)


def _read(gpu: Gpu, at_us: int, sensor: int) -> int:
    if sensor == _SENSOR_HOTTEST:
        raise NvmlError(Code.NOT_SUPPORTED)
    if sensor != _SENSOR_DIE:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return gpu.temperature_c(at_us)
