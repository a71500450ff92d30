"""What changes seldom: each field from its own call, and no old library makes a GPU look ill."""

from types import SimpleNamespace

import pytest

from gputui.model import GpuSample
from gputui.sources.nvml import NvmlReader
from gputui.sources.reasons import is_failure
from gputui.sources.slow_readings import SLOW_READINGS

NOT_SUPPORTED, INVALID_ARGUMENT, FUNCTION_NOT_FOUND, VERSION, LOST = 3, 2, 13, 25, 15


def read_all(reader, time_s=1000.0):
    """One sample with everything in it."""
    reader.read(time_s)
    while reader.read_slow():
        pass
    return reader.read(time_s)


def test_each_field_has_the_value_of_its_own_call(nvml):
    """Distinct answers end up in distinct places."""
    ecc = {(kind, counter): 100 + 10 * kind + counter for kind in (0, 1) for counter in (0, 1)}

    def ecc_total(gpu, kind, counter):
        return ecc[kind, counter]

    def ecc_at(gpu, kind, counter, where):
        return ecc[kind, counter] + 1000 * where

    def retired(gpu, cause):
        return [0] * (5 + cause)

    def violation(gpu, policy):
        return SimpleNamespace(violationTime=50 + policy)

    def throughput(gpu, counter):
        return 1 + counter

    nvml.nvmlDeviceGetTotalEccErrors = ecc_total
    nvml.nvmlDeviceGetMemoryErrorCounter = ecc_at
    nvml.nvmlDeviceGetRetiredPages = retired
    nvml.nvmlDeviceGetViolationStatus = violation
    nvml.nvmlDeviceGetPcieThroughput = throughput
    nvml.gpus[0].values = {
        "nvmlDeviceGetCurrPcieLinkWidth": 8,
        "nvmlDeviceGetCurrPcieLinkGeneration": 4,
        "links down": (1, 3),
        "fields": {230: 4},
        "nvmlDeviceGetRemappedRows": (1, 2, 0, 1),
        "nvmlDeviceGetRowRemapperHistogram": SimpleNamespace(low=3, none=4),
        "SRAM threshold exceeded": 1,
    }
    gpu = read_all(NvmlReader(nvml)).gpus[0]
    expected = {
        "recovery_action": 4,
        "memory_temperature_c": 71,
        "nvlink_crc_errors": 3,
        "nvlink_replay_errors": 3,
        "nvlink_recovery_errors": 4,
        "remapped_rows_correctable": 1,
        "remapped_rows_uncorrectable": 2,
        "remap_pending": False,
        "remap_failed": True,
        "remap_banks_low": 3,
        "remap_banks_none": 4,
        "ecc_enabled": True,
        "ecc_corrected_volatile": 100,
        "ecc_corrected_aggregate": 101,
        "ecc_uncorrected_volatile": 110,
        "ecc_uncorrected_aggregate": 111,
        "ecc_sram_corrected_volatile": 7100,
        "ecc_sram_uncorrected_aggregate": 7111,
        "ecc_sram_threshold_exceeded": True,
        "ecc_dram_corrected_aggregate": 2101,
        "ecc_dram_uncorrected_volatile": 2110,
        "retired_pages_single_bit": 5,
        "retired_pages_double_bit": 6,
        "retired_pages_pending": False,
        "pcie_width": 8,
        "pcie_width_max": 16,
        "pcie_generation": 4,
        "pcie_generation_max": 5,
        "pcie_replays": 7,
        "pcie_tx_bytes_per_s": 1024,
        "pcie_rx_bytes_per_s": 2048,
        "nvlinks": 4,
        "nvlinks_down": (1, 3),
        "nvlink_peers": ("0000:05:00", "0000:06:00", "0000:07:00", "0000:08:00"),
        "violation_power_ns": 50,
        "violation_thermal_ns": 51,
        "violation_sync_boost_ns": 52,
        "violation_board_limit_ns": 53,
        "violation_reliability_ns": 55,
        "violation_sw_thermal_ns": 5,
        "violation_hw_thermal_ns": 6,
        "violation_power_brake_ns": 7,
        "fabric_state": "completed",
        "fabric_health": "healthy",
        "mig_enabled": False,
        "persistence_enabled": True,
        "serial": "1654922003437",
        "vbios": "96.00.74.00.01",
    }
    assert {name: getattr(gpu, name) for name in expected} == expected
    assert not gpu.missing


def test_every_slow_field_is_one_of_the_models():
    """A name that nobody knows would be lost on its way."""
    names = [name for reading in SLOW_READINGS for name in reading.fields]
    assert len(names) == len(set(names))
    assert set(names) <= set(GpuSample.__dataclass_fields__)


@pytest.mark.parametrize("code", [NOT_SUPPORTED, INVALID_ARGUMENT, FUNCTION_NOT_FOUND, VERSION])
def test_a_driver_that_does_not_know_the_question_is_not_a_sick_gpu(nvml, code):
    """Each slow reading may be unknown to a driver, or not exist on a GPU: no failure."""
    gpu = nvml.gpus[0]
    fast = {
        "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetTemperature",
        "nvmlDeviceGetPowerUsage", "nvmlDeviceGetClockInfo",
        "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetPerformanceState", "nvmlDeviceGetFanSpeed", "nvmlDeviceGetMaxClockInfo",
        "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTemperatureThreshold",
        "nvmlDeviceGetUUID", "nvmlDeviceGetName", "nvmlDeviceGetPciInfo",
        "nvmlDeviceGetTotalEccErrors",
    }  # fmt: skip
    gpu.code = code
    gpu.fails = dict.fromkeys(fast, 0)
    shown = read_all(NvmlReader(nvml)).gpus[0]
    assert shown.return_code == 0
    assert len(shown.missing) > 25
    assert not [why for why in shown.missing.values() if is_failure(why)]


def test_a_binding_without_the_function_is_not_a_sick_gpu(nvml):
    """An older nvidia-ml-py has fewer names."""
    nvml.ANSWERS = {
        name: answer for name, answer in type(nvml).ANSWERS.items() if "Remap" not in name
    }
    gpu = read_all(NvmlReader(nvml)).gpus[0]
    assert gpu.missing["remap_pending"] == "not in this driver's library"


def test_one_field_that_fails_does_not_take_the_others_with_it(nvml):
    """Fields come in one call, and each has its own return code."""

    def fields(gpu, numbers):
        return [
            SimpleNamespace(
                nvmlReturn=3 if number == 230 else 0,
                valueType=1,
                value=SimpleNamespace(uiVal=0xFFFFFFFF if number == 82 else number),
            )
            for number in numbers
        ]

    nvml.nvmlDeviceGetFieldValues = fields
    gpu = read_all(NvmlReader(nvml)).gpus[0]
    assert (gpu.recovery_action, gpu.missing["recovery_action"]) == (None, "not supported")
    assert (gpu.memory_temperature_c, gpu.missing["memory_temperature_c"]) == (
        None, "not available",
    )  # fmt: skip
    assert gpu.nvlink_crc_errors == 38 + 45


def test_a_gpu_that_was_lost_is_asked_for_everything_again_when_it_returns(nvml):
    """Counters of before are not shown as if they were of now, nor as a failure."""
    reader = NvmlReader(nvml)
    read_all(reader)
    nvml.gpus[0].code = LOST
    lost = reader.read(1001.0).gpus[0]
    assert (lost.remap_failed, lost.missing["remap_failed"]) == (None, "GPU is lost")
    nvml.gpus[0].code = 0
    back = reader.read(1002.0).gpus[0]
    assert back.missing["remap_failed"] == "not measured yet"
    assert not [why for why in back.missing.values() if is_failure(why)]
    while reader.read_slow():
        pass
    assert reader.read(1002.0).gpus[0].remapped_rows_uncorrectable == 2


def test_no_reading_waits_for_slow_ones(nvml):
    """Between two samples a second apart only a few calls of eight GPUs are due."""
    reader = NvmlReader(nvml)
    read_all(reader)
    calls = []
    for second in range(1001, 1101):
        before = len(nvml.calls)
        while reader.read_slow():
            pass
        calls.append(len(nvml.calls) - before)
        reader.read(float(second))
    assert max(calls[10:]) <= 4 * max(sum(calls[10:]) / len(calls[10:]), 5)


def test_events_end_with_the_set_and_begin_again(nvml):
    """A lost GPU spoils the set; another one is made for those that are left."""
    reader = NvmlReader(nvml)
    reader.read(1.0)
    wait = nvml.nvmlEventSetWait

    def broken(events, timeout_ms):
        raise nvml.NVMLError(LOST)

    nvml.nvmlEventSetWait = broken
    assert reader.read_events(1.0) == []
    nvml.nvmlEventSetWait = wait
    nvml.gpus[1].xids = [31]
    reader.read(2.0)
    assert reader.read_events(2.0) == []
    reader.read(12.0)
    reader.read_events(12.0)
    assert [line.text for line in reader.read_events(13.0)] == ["NVML event: Xid 31 on 0000:11:00"]


@pytest.mark.parametrize("code", [NOT_SUPPORTED, FUNCTION_NOT_FOUND])
def test_where_event_sets_are_not_supported_there_are_no_events(nvml, code):
    """It is no failure, of any GPU or of the driver."""

    def create():
        raise nvml.NVMLError(code)

    nvml.nvmlEventSetCreate = create
    reader = NvmlReader(nvml)
    assert [gpu.return_code for gpu in reader.read(1.0).gpus] == [0, 0]
    assert reader.read_events(1.0) == []
