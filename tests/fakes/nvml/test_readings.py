"""What nvidia-ml-py's own code reads on a fake node is what the world says."""

from __future__ import annotations

import re
from collections.abc import Callable
from ctypes import byref, c_uint, c_ulonglong, pointer
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.hardware.ecc import MemoryErrors, RemappedRows
from fakes.profile import MIB

SECOND = 1_000_000
GIB = 1 << 30
MakeRig = Callable[..., Any]


def test_system(rig: Any) -> None:
    """Versions, and the highest CUDA version by both of its names."""
    nvml = rig.nvml
    assert nvml.nvmlSystemGetDriverVersion() == rig.node.driver.version
    assert nvml.nvmlSystemGetNVMLVersion() == rig.node.driver.nvml
    assert nvml.nvmlSystemGetCudaDriverVersion() == 12080
    assert nvml.nvmlSystemGetCudaDriverVersion_v2() == 12080
    assert nvml.nvmlSystemGetDriverBranch().branch == "r570_00"
    assert nvml.nvmlSystemGetProcessName(4001) == "python3"
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlSystemGetProcessName(1)
    assert nvml.nvmlDeviceGetCount() == 2
    assert nvml.nvmlUnitGetCount() == 0
    assert nvml.nvmlSystemGetHicVersion() == []
    state = nvml.nvmlSystemGetConfComputeState()
    assert (state.environment, state.ccFeature, state.devToolsMode) == (0, 0, 0)


def test_lookups_lead_to_the_same_gpu(rig: Any) -> None:
    """By index, UUID, serial number and every way to write a PCI address."""
    nvml = rig.nvml
    for gpu in rig.node.gpus:
        bus = f"{gpu.pci_bus:02x}"
        handles = [
            nvml.nvmlDeviceGetHandleByIndex(gpu.index),
            nvml.nvmlDeviceGetHandleByUUID(gpu.uuid),
            nvml.nvmlDeviceGetHandleByUUID(gpu.uuid.upper()),
            nvml.nvmlDeviceGetHandleBySerial(gpu.serial),
            nvml.nvmlDeviceGetHandleByPciBusId(f"0000:{bus}:00.0"),
            nvml.nvmlDeviceGetHandleByPciBusId(f"00000000:{bus.upper()}:00.0"),
            nvml.nvmlDeviceGetHandleByPciBusId(f"0:{bus}:0"),
            nvml.nvmlDeviceGetHandleByPciBusId(f"{bus}:00.0"),
        ]
        assert {nvml.nvmlDeviceGetIndex(handle) for handle in handles} == {gpu.index}


@pytest.mark.parametrize("address", ["", "43", "43:00", "0000:43:00.8", "0000:43:00.0 ", "g:0:0.0"])
def test_what_is_no_pci_address_is_an_invalid_argument(rig: Any, address: str) -> None:
    """A string of another form is refused."""
    with pytest.raises(rig.nvml.NVMLError_InvalidArgument):
        rig.nvml.nvmlDeviceGetHandleByPciBusId(address)


def test_a_gpu_that_is_not_there_is_not_found(rig: Any) -> None:
    """An unknown UUID or address is NOT_FOUND; an index beyond the count an invalid argument."""
    nvml = rig.nvml
    for look_up in (
        lambda: nvml.nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000"),
        lambda: nvml.nvmlDeviceGetHandleBySerial("1"),
        lambda: nvml.nvmlDeviceGetHandleByPciBusId("0000:ff:00.0"),
        lambda: nvml.nvmlDeviceGetHandleByPciBusId("0001:43:00.0"),
        lambda: nvml.nvmlDeviceGetHandleByPciBusId("0000:43:00.1"),
    ):
        with pytest.raises(nvml.NVMLError_NotFound):
            look_up()
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetHandleByIndex(2)


def test_identity(rig: Any) -> None:
    """Names and numbers are the profile's, and each GPU's own."""
    nvml = rig.nvml
    for gpu in rig.node.gpus:
        handle = rig.handle(gpu.index)
        assert nvml.nvmlDeviceGetName(handle) == "NVIDIA H100 80GB HBM3"
        assert nvml.nvmlDeviceGetUUID(handle) == gpu.uuid
        assert re.fullmatch("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", gpu.uuid)
        assert nvml.nvmlDeviceGetSerial(handle) == gpu.serial
        assert nvml.nvmlDeviceGetMinorNumber(handle) == gpu.index
        assert nvml.nvmlDeviceGetModuleId(handle) == gpu.index + 1
        assert nvml.nvmlDeviceGetBrand(handle) == nvml.NVML_BRAND_NVIDIA
        assert nvml.nvmlDeviceGetArchitecture(handle) == nvml.NVML_DEVICE_ARCH_HOPPER
        assert nvml.nvmlDeviceGetCudaComputeCapability(handle) == (9, 0)
        assert nvml.nvmlDeviceGetNumGpuCores(handle) == 16896
        assert nvml.nvmlDeviceGetBoardPartNumber(handle) == gpu.profile.board_part_number
        assert nvml.nvmlDeviceGetVbiosVersion(handle) == gpu.profile.vbios
        assert nvml.nvmlDeviceGetInforomImageVersion(handle) == gpu.profile.inforom_image
        assert nvml.nvmlDeviceGetInforomVersion(handle, nvml.NVML_INFOROM_ECC) == "7.16"
        with pytest.raises(nvml.NVMLError_NotSupported):
            nvml.nvmlDeviceGetInforomVersion(handle, nvml.NVML_INFOROM_POWER)
        nvml.nvmlDeviceValidateInforom(handle)
        assert nvml.nvmlDeviceGetGspFirmwareVersion(handle) == b"570.124.06"
        assert nvml.nvmlDeviceGetGspFirmwareMode(handle) == [1, 1]
        assert nvml.nvmlDeviceGetMultiGpuBoard(handle) == 0
        platform = nvml.c_nvmlPlatformInfo_v2_t()
        nvml.nvmlDeviceGetPlatformInfo(handle, byref(platform))
        assert (ord(platform.hostId), ord(platform.moduleId)) == (1, gpu.index + 1)
    boards = {nvml.nvmlDeviceGetBoardId(rig.handle(index)) for index in (0, 1)}
    assert len(boards) == 2


def test_modes(rig: Any) -> None:
    """What is on, what is off, what is neither."""
    nvml, handle = rig.nvml, rig.handle()
    assert nvml.nvmlDeviceGetPersistenceMode(handle) == 1
    assert nvml.nvmlDeviceGetComputeMode(handle) == nvml.NVML_COMPUTEMODE_DEFAULT
    assert nvml.nvmlDeviceGetDisplayMode(handle) == 1
    assert nvml.nvmlDeviceGetDisplayActive(handle) == 0
    assert nvml.nvmlDeviceGetVirtualizationMode(handle) == 0
    assert nvml.nvmlDeviceGetAccountingMode(handle) == 0
    assert nvml.nvmlDeviceGetAccountingBufferSize(handle) == 4000
    assert nvml.nvmlDeviceGetAccountingPids(handle) == []
    assert nvml.nvmlDeviceGetC2cModeInfoV(handle).isC2cEnabled == 0
    assert nvml.nvmlDeviceGetBusType(handle) == nvml.NVML_BUS_TYPE_PCIE
    assert nvml.nvmlDeviceGetMigMode(handle) == [0, 0]
    assert nvml.nvmlDeviceGetMaxMigDeviceCount(handle) == 0
    assert nvml.nvmlDeviceIsMigDeviceHandle(handle).value == 0
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, 0)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetGpuInstanceId(handle)
    for absent in (
        nvml.nvmlDeviceGetFanSpeed,
        nvml.nvmlDeviceGetGpuOperationMode,
        nvml.nvmlDeviceGetDriverModel,
        nvml.nvmlDeviceGetAutoBoostedClocksEnabled,
        nvml.nvmlDeviceGetRetiredPagesPendingStatus,
        nvml.nvmlDeviceGetNumaNodeId,
    ):
        with pytest.raises(nvml.NVMLError_NotSupported):
            absent(handle)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(held=st.lists(st.integers(0, 20 * GIB), max_size=4), at_us=st.integers(1, 10**12))
def test_memory_adds_up(make_rig: MakeRig, held: list[int], at_us: int) -> None:
    """Used is what processes hold; with the driver's reserve and the rest it makes the total."""
    rig = make_rig(gpus=1, idle=True)
    rig.at_us = at_us
    gpu = rig.node.gpus[0]
    for pid, size in enumerate(held, 1):
        gpu.add_use(pid, size, 0.1, 0)
    nvml, handle = rig.nvml, rig.handle()
    first = nvml.nvmlDeviceGetMemoryInfo(handle)
    second = nvml.nvmlDeviceGetMemoryInfo(handle, nvml.nvmlMemory_v2)
    assert second.used == min(sum(held), gpu.capacity_bytes)
    assert second.reserved == gpu.profile.memory.reserved_mib * MIB
    assert second.total == second.reserved + second.used + second.free == 81559 * MIB
    assert (first.total, first.free) == (second.total, second.free)
    assert first.used == second.used + second.reserved
    bar1 = nvml.nvmlDeviceGetBAR1MemoryInfo(handle)
    assert bar1.bar1Total == bar1.bar1Used + bar1.bar1Free == 131072 * MIB
    assert bar1.bar1Used == second.used + MIB


def test_other_memory(rig: Any) -> None:
    """Bus width, and no protected memory without confidential computing."""
    nvml, handle = rig.nvml, rig.handle()
    assert nvml.nvmlDeviceGetMemoryBusWidth(handle) == 5120
    sizes = nvml.nvmlDeviceGetConfComputeMemSizeInfo(handle)
    assert (sizes.protectedMemSizeKib, sizes.unprotectedMemSizeKib) == (0, 81559 * 1024)
    assert nvml.nvmlDeviceGetConfComputeProtectedMemoryUsage(handle).total == 0


def test_power_and_energy(rig: Any) -> None:
    """Milliwatts, millijoules, and limits that differ from each other."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[1], rig.handle(1)
    gpu.set_power_limit(650_000, 0)
    assert nvml.nvmlDeviceGetPowerUsage(handle) == gpu.power_mw(rig.at_us)
    assert nvml.nvmlDeviceGetTotalEnergyConsumption(handle) == gpu.energy_mj(rig.at_us) > 0
    assert nvml.nvmlDeviceGetPowerManagementLimit(handle) == 650_000
    assert nvml.nvmlDeviceGetEnforcedPowerLimit(handle) == 650_000
    assert nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) == 700_000
    assert nvml.nvmlDeviceGetPowerManagementLimitConstraints(handle) == [200_000, 700_000]
    assert nvml.nvmlDeviceGetPowerManagementMode(handle) == 1
    assert nvml.nvmlDeviceGetPowerSource(handle) == 0


def test_a_power_limit_that_is_set_is_kept(rig: Any) -> None:
    """Setting the limit caps power and clock from then on; one out of range changes nothing."""
    nvml, handle = rig.nvml, rig.handle()
    nvml.nvmlDeviceSetPowerManagementLimit(handle, 300_000)
    assert nvml.nvmlDeviceGetPowerManagementLimit(handle) == 300_000
    assert nvml.nvmlDeviceGetPowerUsage(handle) <= 300_000
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) < 1980
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x4
    for wrong in (199_999, 700_001):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceSetPowerManagementLimit(handle, wrong)
    nvml.nvmlDeviceSetPowerManagementLimit_v2(handle, nvml.NVML_POWER_SCOPE_GPU, 400_000)
    assert nvml.nvmlDeviceGetPowerManagementLimit(handle) == 400_000
    module = nvml.c_nvmlPowerValue_v2_t(nvml.nvmlPowerValue_v2, nvml.NVML_POWER_SCOPE_MODULE, 1)
    assert rig.library.nvmlDeviceSetPowerManagementLimit_v2(handle, byref(module)) == 3
    assert nvml.nvmlDeviceGetPowerManagementLimit(handle) == 400_000
    assert nvml.nvmlDeviceGetPowerManagementLimit(rig.handle(1)) == 700_000


def test_clocks(rig: Any) -> None:
    """Every domain has its own clocks, and a clock's several names agree."""
    nvml, handle = rig.nvml, rig.handle()
    rig.node.gpus[0].set_power_limit(400_000, 0)
    graphics, sm, memory, video = range(4)
    now = [nvml.nvmlDeviceGetClockInfo(handle, domain) for domain in range(4)]
    assert now[graphics] == now[sm] == rig.node.gpus[0].sm_clock_mhz(rig.at_us) < 1980
    assert now[memory] == 2619
    assert 765 < now[video] < 1545
    assert [nvml.nvmlDeviceGetMaxClockInfo(handle, domain) for domain in range(4)] == [
        1980, 1980, 2619, 1545,
    ]  # fmt: skip
    assert [nvml.nvmlDeviceGetClock(handle, sm, which) for which in range(4)] == [
        now[sm], 1980, 1980, 1980,
    ]  # fmt: skip
    assert nvml.nvmlDeviceGetApplicationsClock(handle, memory) == 2619
    assert nvml.nvmlDeviceGetMaxCustomerBoostClock(handle, sm) == 1980
    assert nvml.nvmlDeviceGetSupportedMemoryClocks(handle) == [2619]
    steps = nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, 2619)
    assert steps == list(range(1980, 344, -15))
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetSupportedGraphicsClocks(handle, 1593)
    for wrong in (
        lambda: nvml.nvmlDeviceGetClockInfo(handle, 4),
        lambda: nvml.nvmlDeviceGetMaxClockInfo(handle, 4),
        lambda: nvml.nvmlDeviceGetClock(handle, sm, 4),
    ):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            wrong()
    assert nvml.nvmlDeviceGetPerformanceState(handle) == 0
    assert nvml.nvmlDeviceGetPowerState(handle) == 0


def test_clocks_event_reasons_name_what_keeps_clocks_down(make_rig: MakeRig) -> None:
    """Idle, power cap, heat by software, heat by hardware: a bit each; under free load none."""
    rig = make_rig(gpus=1, idle=True)
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x1
    assert nvml.nvmlDeviceGetSupportedClocksEventReasons(handle) == 0x1FF
    gpu.add_use(1, GIB, 0.9, 0)
    assert nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle) == 0x0
    gpu.set_airflow(0.3, 0)
    gpu.settle(0)
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x20
    gpu.set_air(95, 0)
    rig.at_us = 600 * SECOND
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x48


def test_violations_count_the_time_that_clocks_were_kept_down(make_rig: MakeRig) -> None:
    """Nanoseconds by policy; what has been counted stays when the cause has gone."""
    rig = make_rig(gpus=1)
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    gpu.set_power_limit(300_000, 10 * SECOND)
    gpu.set_power_limit(700_000, 25 * SECOND)
    rig.at_us = 60 * SECOND
    power = nvml.nvmlDeviceGetViolationStatus(handle, nvml.NVML_PERF_POLICY_POWER)
    assert power.violationTime == 15 * 10**9
    assert power.referenceTime == rig.node.epoch.unix_us(rig.at_us)
    assert (
        nvml.nvmlDeviceGetViolationStatus(handle, nvml.NVML_PERF_POLICY_THERMAL).violationTime == 0
    )
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetViolationStatus(handle, 6)


def test_temperatures(rig: Any) -> None:
    """Degrees, limits that differ, and the margin to the first of them."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    degrees = gpu.temperature_c(rig.at_us)
    assert nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU) == degrees
    assert nvml.nvmlDeviceGetTemperatureV(handle, nvml.NVML_TEMPERATURE_GPU) == degrees
    assert nvml.nvmlDeviceGetMarginTemperature(handle) == 87 - degrees
    limits = [nvml.nvmlDeviceGetTemperatureThreshold(handle, which) for which in range(4)]
    assert limits == [95, 89, 95, 87]
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetTemperatureThreshold(handle, nvml.NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN)
    for wrong in (
        lambda: nvml.nvmlDeviceGetTemperature(handle, 2),
        lambda: nvml.nvmlDeviceGetTemperatureV(handle, 7),
        lambda: nvml.nvmlDeviceGetTemperatureThreshold(handle, 8),
    ):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            wrong()


def test_utilization(rig: Any) -> None:
    """GPU and memory differ; the video engines are idle, sampled some six times a second."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    assert rates.gpu == gpu.utilization_percent(rig.at_us) > rates.memory > 0
    assert rates.memory == gpu.memory_utilization_percent(rig.at_us)
    for engine in (
        nvml.nvmlDeviceGetEncoderUtilization,
        nvml.nvmlDeviceGetDecoderUtilization,
        nvml.nvmlDeviceGetJpgUtilization,
        nvml.nvmlDeviceGetOfaUtilization,
    ):
        assert engine(handle) == [0, 167_000]
    assert nvml.nvmlDeviceGetEncoderStats(handle) == (0, 0, 0)
    assert nvml.nvmlDeviceGetEncoderSessions(handle) == []
    assert nvml.nvmlDeviceGetFBCStats(handle).sessionsCount == 0


def test_samples_are_the_readings_of_past_seconds(rig: Any) -> None:
    """One a second since conditions changed, newer than the stamp given, oldest first."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    rig.at_us = 20 * SECOND + 500_000
    kind, samples = nvml.nvmlDeviceGetSamples(handle, nvml.NVML_TOTAL_POWER_SAMPLES, 0)
    stamps = [sample.timeStamp for sample in samples]
    assert kind == nvml.NVML_VALUE_TYPE_UNSIGNED_INT
    assert stamps == [rig.node.epoch.unix_us(second * SECOND) for second in range(21)]
    assert [sample.sampleValue.uiVal for sample in samples] == [
        gpu.power_mw(second * SECOND) for second in range(21)
    ]
    _, newer = nvml.nvmlDeviceGetSamples(handle, nvml.NVML_GPU_UTILIZATION_SAMPLES, stamps[17])
    assert [sample.timeStamp for sample in newer] == stamps[18:]
    rig.at_us = 3600 * SECOND
    assert len(nvml.nvmlDeviceGetSamples(handle, nvml.NVML_PROCESSOR_CLK_SAMPLES, 0)[1]) == 100
    gpu.set_airflow(0.9, rig.at_us - 4 * SECOND)
    assert len(nvml.nvmlDeviceGetSamples(handle, nvml.NVML_PROCESSOR_CLK_SAMPLES, 0)[1]) == 5
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetSamples(handle, 0, rig.node.epoch.unix_us(rig.at_us))
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetSamples(handle, nvml.NVML_MODULE_POWER_SAMPLES, 0)


def test_processes_by_every_list(rig: Any) -> None:
    """All versions of the lists tell the same processes, by PID; graphics and MPS have none."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    gpu.add_use(77, 5 * GIB, 0.0, 0)
    held = [(77, 5 * GIB), (4001, 60 * GIB)]
    second = nvml.nvmlDeviceGetComputeRunningProcesses_v2(handle)
    third = nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle)
    for listed in (second, third):
        assert [(each.pid, each.usedGpuMemory) for each in listed] == held
        assert {each.gpuInstanceId for each in listed} == {0xFFFFFFFF}
        assert {each.computeInstanceId for each in listed} == {0xFFFFFFFF}
    for mode in (nvml.NVML_PROCESS_MODE_COMPUTE, 3):
        details = nvml.nvmlDeviceGetRunningProcessDetailList(
            handle, nvml.nvmlProcessDetailList_v1, mode
        )
        assert [(each.pid, each.usedGpuMemory) for each in details] == held
        assert [each.usedGpuCcProtectedMemory for each in details] == [0, 0]
    for mode in (nvml.NVML_PROCESS_MODE_GRAPHICS, nvml.NVML_PROCESS_MODE_MPS):
        assert not nvml.nvmlDeviceGetRunningProcessDetailList(
            handle, nvml.nvmlProcessDetailList_v1, mode
        )
    assert nvml.nvmlDeviceGetGraphicsRunningProcesses_v3(handle) == []
    assert nvml.nvmlDeviceGetMPSComputeRunningProcesses_v3(handle) == []
    rig.node.end_process(4001, rig.at_us)
    assert [each.pid for each in nvml.nvmlDeviceGetComputeRunningProcesses(handle)] == [77]


def test_process_utilization(rig: Any) -> None:
    """A sample of each process that was not idle; none newer than the last one is NOT_FOUND."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    gpu.add_use(77, 5 * GIB, 0.0, 0)
    gpu.add_use(78, GIB, 0.5, 0)
    samples = nvml.nvmlDeviceGetProcessUtilization(handle, 0)
    assert [sample.pid for sample in samples] == [78, 4001]
    for sample in samples:
        assert sample.smUtil == gpu.process_utilization_percent(sample.pid, rig.at_us)
        assert sample.smUtil > sample.memUtil > 0
        assert (sample.encUtil, sample.decUtil) == (0, 0)
    assert samples[0].smUtil < samples[1].smUtil
    stamp = samples[0].timeStamp
    assert 0 <= rig.node.epoch.unix_us(rig.at_us) - stamp < 167_000
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetProcessUtilization(handle, stamp)
    rig.at_us += 200_000
    assert nvml.nvmlDeviceGetProcessUtilization(handle, stamp)[0].timeStamp > stamp
    records = nvml.nvmlDeviceGetProcessesUtilizationInfo(handle, 0)
    assert [record.pid for record in records] == [78, 4001]
    assert records[0].smUtil == gpu.process_utilization_percent(78, rig.at_us)


def test_pci(rig: Any) -> None:
    """Addresses in all their forms, ids, and the link."""
    nvml = rig.nvml
    for gpu in rig.node.gpus:
        handle = rig.handle(gpu.index)
        info = nvml.nvmlDeviceGetPciInfo(handle)
        assert info.busId == f"00000000:{gpu.pci_bus:02X}:00.0"
        assert info.busIdLegacy == f"0000:{gpu.pci_bus:02X}:00.0"
        assert (info.domain, info.bus, info.device) == (0, gpu.pci_bus, 0)
        assert (info.pciDeviceId, info.pciSubSystemId) == (0x233010DE, 0x16C110DE)
        extended = nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1)
        nvml.nvmlDeviceGetPciInfoExt(handle, pointer(extended))
        assert (extended.baseClass, extended.subClass) == (3, 2)
        assert (extended.bus, extended.busId) == (gpu.pci_bus, info.busId)
    assert nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle) == 5
    assert nvml.nvmlDeviceGetMaxPcieLinkGeneration(handle) == 5
    assert nvml.nvmlDeviceGetGpuMaxPcieLinkGeneration(handle) == 5
    assert nvml.nvmlDeviceGetCurrPcieLinkWidth(handle) == 16
    assert nvml.nvmlDeviceGetMaxPcieLinkWidth(handle) == 16
    assert nvml.nvmlDeviceGetPcieLinkMaxSpeed(handle) == 5
    assert nvml.nvmlDeviceGetPcieSpeed(handle) == 32000
    assert nvml.nvmlDeviceGetPcieReplayCounter(handle) == 0


@pytest.mark.parametrize("idle", [False, True])
def test_pcie_throughput_tells_directions_apart(make_rig: MakeRig, idle: bool) -> None:
    """Sent and received are the world's, each under its own counter."""
    rig = make_rig(idle=idle)
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    sent = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_TX_BYTES)
    received = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_RX_BYTES)
    assert sent == gpu.pcie_kib_per_s(rig.at_us, received=False)
    assert received == gpu.pcie_kib_per_s(rig.at_us, received=True)
    assert sent != received
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetPcieThroughput(handle, 2)


def test_memory_errors(rig: Any) -> None:
    """Four counters, none of which is another's; by place, they are device memory's."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    gpu.memory_errors = MemoryErrors(11, 22, 33, 44)
    kinds = [(kind, counter) for counter in (0, 1) for kind in (0, 1)]
    totals = [nvml.nvmlDeviceGetTotalEccErrors(handle, *each) for each in kinds]
    assert totals == [11, 22, 33, 44]
    detailed = [nvml.nvmlDeviceGetDetailedEccErrors(handle, *each).deviceMemory for each in kinds]
    assert detailed == totals
    dram, sram, l2 = nvml.NVML_MEMORY_LOCATION_DRAM, nvml.NVML_MEMORY_LOCATION_SRAM, 1
    by_place = [nvml.nvmlDeviceGetMemoryErrorCounter(handle, *each, dram) for each in kinds]
    assert by_place == totals
    assert nvml.nvmlDeviceGetMemoryErrorCounter(handle, 1, 0, sram) == 0
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetMemoryErrorCounter(handle, 1, 0, l2)
    for wrong in ((2, 0), (0, 2)):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlDeviceGetTotalEccErrors(handle, *wrong)
    assert nvml.nvmlDeviceGetEccMode(handle) == [1, 1]
    assert nvml.nvmlDeviceGetDefaultEccMode(handle) == [1]
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    status.aggregateUncParity = 9
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, byref(status))
    assert (status.aggregateUncParity, status.bThresholdExceeded) == (0, 0)


def test_errors_of_the_chip_count_beside_those_of_its_memory(rig: Any) -> None:
    """In the totals, at their own place, in the L2 cache of the detailed ones, in the status."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    gpu.memory_errors = MemoryErrors(1, 2, 3, 4, 5, 6)
    kinds = [(kind, counter) for counter in (0, 1) for kind in (0, 1)]
    assert [nvml.nvmlDeviceGetTotalEccErrors(handle, *each) for each in kinds] == [1, 7, 3, 10]
    by_place = [
        [nvml.nvmlDeviceGetMemoryErrorCounter(handle, *each, place) for each in kinds]
        for place in (nvml.NVML_MEMORY_LOCATION_DRAM, nvml.NVML_MEMORY_LOCATION_SRAM)
    ]
    assert by_place == [[1, 2, 3, 4], [0, 5, 0, 6]]
    assert nvml.nvmlDeviceGetDetailedEccErrors(handle, 1, 1).l2Cache == 6
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, byref(status))
    assert (status.aggregateUncSecDed, status.volatileUncSecDed) == (6, 5)
    assert (status.aggregateUncBucketL2, status.aggregateUncBucketSm) == (6, 0)
    totals = [nvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL, nvml.NVML_FI_DEV_ECC_DBE_AGG_TOTAL]
    values = nvml.nvmlDeviceGetFieldValues(handle, totals)
    assert [each.value.ullVal for each in values] == [7, 10]


def test_remapped_rows(rig: Any) -> None:
    """Correctable, uncorrectable, pending, failed; and what the banks have left."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle()
    histogram = nvml.nvmlDeviceGetRowRemapperHistogram(handle)
    assert (histogram.max, histogram.high) == (2560, 0)
    gpu.remapped_rows = RemappedRows(correctable=1, uncorrectable=4, pending=True, failed=False)
    assert nvml.nvmlDeviceGetRemappedRows(handle) == (1, 4, 1, 0)
    histogram = nvml.nvmlDeviceGetRowRemapperHistogram(handle)
    assert (histogram.max, histogram.high, histogram.none) == (2555, 5, 0)


def test_nvlinks(rig: Any) -> None:
    """Eighteen links to four switches, all up, without errors."""
    nvml, handle = rig.nvml, rig.handle()
    buses = set()
    for link in range(18):
        assert nvml.nvmlDeviceGetNvLinkState(handle, link) == 1
        assert nvml.nvmlDeviceGetNvLinkVersion(handle, link) == 6
        assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, link) == 2
        assert nvml.nvmlDeviceGetNvLinkErrorCounter(handle, link, 0) == 0
        buses.add(nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link).bus)
    assert len(buses) == 4
    assert nvml.nvmlDeviceGetNvLinkCapability(handle, 0, nvml.NVML_NVLINK_CAP_P2P_SUPPORTED) == 1
    assert nvml.nvmlDeviceGetNvLinkCapability(handle, 0, nvml.NVML_NVLINK_CAP_SLI_BRIDGE) == 0
    for wrong in (
        lambda: nvml.nvmlDeviceGetNvLinkState(handle, 18),
        lambda: nvml.nvmlDeviceGetNvLinkCapability(handle, 0, 6),
        lambda: nvml.nvmlDeviceGetNvLinkErrorCounter(handle, 0, 5),
    ):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            wrong()


def test_peers(make_rig: MakeRig) -> None:
    """Every GPU reaches every other one; four share a socket."""
    rig = make_rig(gpus=8)
    nvml = rig.nvml
    handles = [rig.handle(index) for index in range(8)]
    for kind in range(5):
        assert nvml.nvmlDeviceGetP2PStatus(handles[0], handles[7], kind) == 0
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(handles[0], handles[3]) == 40
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(handles[0], handles[4]) == 50
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetP2PStatus(handles[0], handles[1], 9)


def test_fabric_and_events(rig: Any) -> None:
    """Registered with the fabric, in every version; Xids and memory errors can be reported."""
    nvml, handle = rig.nvml, rig.handle()
    old = nvml.c_nvmlGpuFabricInfo_t()
    nvml.nvmlDeviceGetGpuFabricInfo(handle, byref(old))
    assert (old.state, old.status, old.cliqueId) == (3, 0, 0)
    for kind, version in (
        (nvml.c_nvmlGpuFabricInfo_v2_t, nvml.nvmlGpuFabricInfo_v2),
        (nvml.c_nvmlGpuFabricInfo_v3_t, nvml.nvmlGpuFabricInfo_v3),
    ):
        new = kind()
        assert rig.library.nvmlDeviceGetGpuFabricInfoV(handle, byref(new)) == 0
        assert (new.version, new.state, new.status, new.healthMask) == (version, 3, 0, 0)
    assert nvml.nvmlDeviceGetSupportedEventTypes(handle) == 0x1 | 0x2 | 0x8


def value_of(nvml: Any, field: Any) -> float:
    assert field.nvmlReturn == nvml.NVML_SUCCESS, field.fieldId
    types = ["dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal"]
    value: float = getattr(field.value, types[field.valueType])
    return value


def test_field_values(rig: Any) -> None:
    """One call, many readings: each is what its own function says, with its own code and stamp."""
    nvml, gpu, handle, at_us = rig.nvml, rig.node.gpus[0], rig.handle(), rig.at_us
    gpu.memory_errors = MemoryErrors(11, 22, 33, 44)
    gpu.remapped_rows = RemappedRows(1, 4, pending=True)
    gpu.set_power_limit(600_000, 0)
    expected: dict[int, float] = {
        nvml.NVML_FI_DEV_ECC_CURRENT: 1,
        nvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL: 11,
        nvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL: 22,
        nvml.NVML_FI_DEV_ECC_SBE_AGG_TOTAL: 33,
        nvml.NVML_FI_DEV_ECC_DBE_AGG_TOTAL: 44,
        nvml.NVML_FI_DEV_REMAPPED_COR: 1,
        nvml.NVML_FI_DEV_REMAPPED_UNC: 4,
        nvml.NVML_FI_DEV_REMAPPED_PENDING: 1,
        nvml.NVML_FI_DEV_REMAPPED_FAILURE: 0,
        nvml.NVML_FI_DEV_MEMORY_TEMP: gpu.memory_temperature_c(at_us),
        nvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT: -8,
        nvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT: -2,
        nvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT: 0,
        nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION: gpu.energy_mj(at_us),
        nvml.NVML_FI_DEV_POWER_AVERAGE: gpu.power_mw(at_us),
        nvml.NVML_FI_DEV_POWER_INSTANT: gpu.instant_power_mw(at_us),
        nvml.NVML_FI_DEV_POWER_MIN_LIMIT: 200_000,
        nvml.NVML_FI_DEV_POWER_DEFAULT_LIMIT: 700_000,
        nvml.NVML_FI_DEV_POWER_CURRENT_LIMIT: 600_000,
        nvml.NVML_FI_DEV_PERF_POLICY_POWER: at_us * 1000,
        nvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN: 0,
        nvml.NVML_FI_DEV_NVLINK_LINK_COUNT: 18,
        nvml.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: 26_562,
        nvml.NVML_FI_DEV_PCIE_REPLAY_COUNTER: 0,
        nvml.NVML_FI_DEV_C2C_LINK_COUNT: 0,
        nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: 0,
    }
    values = nvml.nvmlDeviceGetFieldValues(handle, list(expected))
    assert {each.fieldId: value_of(nvml, each) for each in values} == expected
    assert {each.timestamp for each in values} == {rig.node.epoch.unix_us(at_us)}


def test_fields_of_a_link_are_those_of_the_scope(rig: Any) -> None:
    """Throughput grows with time and work; a scope beyond the links fails alone."""
    nvml, handle = rig.nvml, rig.handle()
    sent, received = nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, 139
    state, beyond, every = nvml.NVML_FI_DEV_NVLINK_GET_STATE, (sent, 18), (sent, 0xFFFFFFFF)
    asked = [(sent, 0), (received, 17), (state, 3), beyond, every, 310]
    before = nvml.nvmlDeviceGetFieldValues(handle, asked)
    assert [each.nvmlReturn for each in before] == [0, 0, 0, 2, 0, 3]
    assert 0 < value_of(nvml, before[0]) < value_of(nvml, before[1])
    assert value_of(nvml, before[2]) == 1
    assert value_of(nvml, before[4]) == 18 * value_of(nvml, before[0])
    rig.at_us += SECOND
    after = nvml.nvmlDeviceGetFieldValues(handle, asked)
    grown = value_of(nvml, after[1]) - value_of(nvml, before[1])
    assert 0.8 * 8_000_000 < grown < 8_000_000


def test_torch_reads_the_first_list(rig: Any) -> None:
    """PyTorch binds the unsuffixed list: 16 bytes a process, no instances."""
    handle = rig.handle()
    count = c_uint(0)
    assert rig.library.nvmlDeviceGetComputeRunningProcesses(handle, byref(count), None) == 7
    records = (c_ulonglong * (2 * count.value))()
    assert rig.library.nvmlDeviceGetComputeRunningProcesses(handle, byref(count), records) == 0
    assert list(records) == [4001, 60 * GIB]
