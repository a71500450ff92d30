"""Programs that are not here, by the calls that they make: PyTorch's, btop's."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_uint, c_ulonglong, c_void_p, create_string_buffer
from typing import Any

import pynvml
import pytest

GIB = 1 << 30
SUCCESS, INSUFFICIENT_SIZE = 0, 7


class ProcessV1(ctypes.Structure):
    """The 16 bytes of a process that the unsuffixed list has."""

    _fields_ = (("pid", c_uint), ("memory", c_ulonglong))


def test_torch_counts_and_names_devices(rig: Any) -> None:
    """torch/cuda/__init__.py: plain ctypes, nvmlInit without a suffix, 96 bytes for a UUID."""
    nvml, uuids = rig.library, []
    count = c_int(-1)
    assert nvml.nvmlInit() == SUCCESS
    assert nvml.nvmlDeviceGetCount_v2(byref(count)) == SUCCESS
    for index in range(count.value):
        device, buffer = c_void_p(), create_string_buffer(96)
        assert nvml.nvmlDeviceGetHandleByIndex_v2(index, byref(device)) == SUCCESS
        assert nvml.nvmlDeviceGetUUID(device, buffer, 96) == SUCCESS
        uuids.append(buffer.raw.decode("ascii").strip("\0"))
    assert uuids == [gpu.uuid for gpu in rig.node.gpus]


def test_torch_names_who_holds_the_memory(rig: Any) -> None:
    """c10's message of an out-of-memory error: by PCI address, and the list of 16-byte records."""
    nvml, gpu = rig.library, rig.node.gpus[1]
    rig.node.gpus[1].add_use(77, 3 * GIB, 0.1, 0)
    version, device, count = c_int(), c_void_p(), c_uint(1024)
    processes = (ProcessV1 * 1024)()
    address = f"{gpu.pci_domain:08x}:{gpu.pci_bus:02x}:00.0".encode()
    assert nvml.nvmlInit_v2() == SUCCESS
    assert nvml.nvmlSystemGetCudaDriverVersion_v2(byref(version)) == SUCCESS
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(address, byref(device)) == SUCCESS
    called = nvml.nvmlDeviceGetComputeRunningProcesses
    assert called(device, byref(count), processes) == SUCCESS
    found = [(each.pid, each.memory) for each in processes[: count.value]]
    assert found == [(77, 3 * GIB), (4002, 60 * GIB)]
    assert called(device, byref(c_uint(1)), processes) == INSUFFICIENT_SIZE
    kind, peer = c_uint(), pynvml.nvmlPciInfo_t()
    assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, 0, byref(kind)) == SUCCESS
    assert nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(device, 0, byref(peer)) == SUCCESS
    assert (kind.value, version.value) == (pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH, 12080)


_OF_A_DEVICE = (
    "Count HandleByIndex Name PowerManagementLimit TemperatureThreshold UtilizationRates ClockInfo "
    "PowerUsage PowerState Temperature MemoryInfo PcieThroughput EncoderUtilization "
    "DecoderUtilization"
)
BTOP = [
    *("nvmlErrorString", "nvmlInit", "nvmlShutdown"),
    *(f"nvmlDeviceGet{stem}" for stem in _OF_A_DEVICE.split()),
]
"""What btop resolves, all without a suffix: one that is missing, and it shows no GPU."""


def test_btop_finds_all_its_symbols_and_gets_its_values(rig: Any) -> None:
    """Its start and one round of its collection, each call with its own arguments."""
    functions = {name: getattr(rig.library, name) for name in BTOP}
    functions["nvmlErrorString"].restype = c_char_p
    got: dict[str, Any] = {}

    def ask(name: str, device: c_void_p, *inputs: int, outputs: int = 1) -> None:
        values = [c_uint() for _ in range(outputs)]
        code = functions[f"nvmlDeviceGet{name}"](device, *inputs, *map(byref, values))
        assert code == SUCCESS, name
        got.setdefault(name, []).append(values[0].value)

    count = c_uint()
    assert functions["nvmlInit"]() == SUCCESS
    assert functions["nvmlDeviceGetCount"](byref(count)) == SUCCESS
    for index in range(count.value):
        device, name = c_void_p(), create_string_buffer(64)
        assert functions["nvmlDeviceGetHandleByIndex"](index, byref(device)) == SUCCESS
        assert functions["nvmlDeviceGetName"](device, name, 64) == SUCCESS
        got.setdefault("Name", []).append(name.value.decode())
        for each in ("PowerManagementLimit", "PowerUsage", "PowerState"):
            ask(each, device)
        for each, number in (
            ("TemperatureThreshold", pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
            ("Temperature", pynvml.NVML_TEMPERATURE_GPU),
            ("ClockInfo", pynvml.NVML_CLOCK_GRAPHICS),
            ("ClockInfo", pynvml.NVML_CLOCK_MEM),
            ("PcieThroughput", pynvml.NVML_PCIE_UTIL_TX_BYTES),
            ("PcieThroughput", pynvml.NVML_PCIE_UTIL_RX_BYTES),
        ):
            ask(each, device, number)
        for each in ("EncoderUtilization", "DecoderUtilization"):
            ask(each, device, outputs=2)
        rates, memory = pynvml.c_nvmlUtilization_t(), pynvml.c_nvmlMemory_t()
        assert functions["nvmlDeviceGetUtilizationRates"](device, byref(rates)) == SUCCESS
        assert functions["nvmlDeviceGetMemoryInfo"](device, byref(memory)) == SUCCESS
        assert rates.gpu > 80
        assert memory.used > 60 * GIB
    gpus, at_us = rig.node.gpus, rig.at_us
    assert got["Name"] == ["NVIDIA H100 80GB HBM3"] * 2
    assert got["PowerUsage"] == [gpu.power_mw(at_us) for gpu in gpus]
    assert got["Temperature"] == [gpu.temperature_c(at_us) for gpu in gpus]
    assert got["TemperatureThreshold"] == [gpu.profile.thermal.shutdown_c for gpu in gpus]
    assert got["PcieThroughput"][1] == gpus[0].pcie_kib_per_s(at_us, received=True)
    assert functions["nvmlErrorString"](15) == b"GPU is lost"
    assert functions["nvmlShutdown"]() == SUCCESS


@pytest.mark.parametrize("carrier", ["library"], indirect=True)
def test_btops_symbols_are_the_librarys_own(rig: Any) -> None:
    """Each is in the library by that very name, under both of the library's names."""
    for name in ("libnvidia-ml.so.1", "libnvidia-ml.so"):
        opened = ctypes.CDLL(str(rig.library.directory / name))
        for symbol in BTOP:
            assert getattr(opened, symbol)
