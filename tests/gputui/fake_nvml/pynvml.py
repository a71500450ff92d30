"""A small NVML in the shape of nvidia-ml-py, that answers as told.

As an object (:class:`FakeNvml`) it serves tests in the same process. On a sampler's path, under the
name ``pynvml``, it is what the sampler imports; the file that ``FAKE_NVML`` names then tells it, at
every reading, what to answer::

    {"gpus": 8, "init": 0, "lost": [5], "hang": [3], "hang_driver": true, "crash": 2}
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

GIB = 1 << 30


class NVMLError(Exception):
    """As nvidia-ml-py's: the code is ``value``."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


@dataclass
class FakeGpu:
    """What one GPU answers. ``fails`` maps a function's name to a code, or to an exception."""

    index: int
    uuid: str = ""
    lookup: int = 0
    code: int = 0
    fails: dict[str, int | Exception] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    compute: list[tuple[int, int | None]] = field(default_factory=list)
    graphics: list[tuple[int, int | None]] = field(default_factory=list)
    shares: list[tuple[int, int, int]] = field(default_factory=list)
    xids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.uuid = self.uuid or f"GPU-{self.index:08x}"


class FakeNvml:
    """Stands in for the module ``pynvml``; only what the reader calls."""

    NVMLError = NVMLError
    NVML_TEMPERATURE_GPU = 0
    NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0
    NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0
    NVML_PCIE_UTIL_TX_BYTES = 0
    NVML_PCIE_UTIL_RX_BYTES = 1
    nvmlMemory_v2 = 0x02000028  # noqa: N815

    ANSWERS = {  # noqa: RUF012
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=93, memory=40),
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=60 * GIB, total=80 * GIB, reserved=GIB),
        "nvmlDeviceGetTemperature": 67,
        "nvmlDeviceGetTemperatureThreshold": 90,
        "nvmlDeviceGetPowerUsage": 641_000,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetClockInfo": 1980,
        "nvmlDeviceGetMaxClockInfo": 1980,
        "nvmlDeviceGetCurrentClocksEventReasons": 4,
        "nvmlDeviceGetFanSpeed": 30,
        "nvmlDeviceGetPerformanceState": 0,
        "nvmlDeviceGetTotalEccErrors": 0,
        "nvmlDeviceGetTotalEnergyConsumption": 123,
        "nvmlDeviceGetPcieThroughput": 1000,
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetRemappedRows": (1, 2, 0, 0),
        "nvmlDeviceGetRowRemapperHistogram": SimpleNamespace(
            max=640, high=0, partial=0, low=0, none=0
        ),
        "nvmlDeviceGetMemoryErrorCounter": 0,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetMaxPcieLinkWidth": 16,
        "nvmlDeviceGetCurrPcieLinkGeneration": 5,
        "nvmlDeviceGetMaxPcieLinkGeneration": 5,
        "nvmlDeviceGetPcieReplayCounter": 7,
        "nvmlDeviceGetViolationStatus": SimpleNamespace(referenceTime=1, violationTime=9),
        "nvmlDeviceGetRetiredPages": [],
        "nvmlDeviceGetRetiredPagesPendingStatus": 0,
        "nvmlDeviceGetEccMode": [1, 1],
        "nvmlDeviceGetMigMode": [0, 0],
        "nvmlDeviceGetMaxMigDeviceCount": 0,
        "nvmlDeviceGetPersistenceMode": 1,
        "nvmlDeviceGetSerial": "1654922003437",
        "nvmlDeviceGetVbiosVersion": "96.00.74.00.01",
    }
    FIELDS = {230: 0, 82: 71, 38: 1, 45: 2, 52: 3, 59: 4, 269: 5, 270: 6, 271: 7}  # noqa: RUF012
    LINKS = 4
    c_nvmlGpuFabricInfo_v2_t = SimpleNamespace  # noqa: N815
    c_nvmlEccSramErrorStatus_v1_t = SimpleNamespace  # noqa: N815

    def __init__(self, count: int = 2) -> None:
        self.gpus = [FakeGpu(index) for index in range(count)]
        self.init_code = 0
        self.inits = 0
        self.calls: list[tuple[str, int]] = []

    def nvmlInit(self) -> None:
        if self.init_code:
            raise NVMLError(self.init_code)
        self.inits += 1

    def nvmlShutdown(self) -> None:
        if self.init_code:
            raise NVMLError(1)

    def nvmlSystemGetDriverVersion(self) -> str:
        return "570.124.06"

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return 12080

    def nvmlDeviceGetCount(self) -> int:
        if self.init_code:
            raise NVMLError(1)
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        gpu = self.gpus[index]
        if gpu.lookup:
            raise NVMLError(gpu.lookup)
        return gpu

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        self._check("nvmlDeviceGetUUID", gpu)
        return gpu.uuid

    def nvmlDeviceGetPciInfo(self, gpu: FakeGpu) -> SimpleNamespace:
        self._check("nvmlDeviceGetPciInfo", gpu)
        return SimpleNamespace(domain=0, bus=0x10 + gpu.index, device=0)

    def nvmlDeviceGetComputeRunningProcesses_v3(self, gpu: FakeGpu) -> list[SimpleNamespace]:
        self._check("nvmlDeviceGetComputeRunningProcesses_v3", gpu)
        return [SimpleNamespace(pid=pid, usedGpuMemory=memory) for pid, memory in gpu.compute]

    def nvmlDeviceGetGraphicsRunningProcesses_v3(self, gpu: FakeGpu) -> list[SimpleNamespace]:
        self._check("nvmlDeviceGetGraphicsRunningProcesses_v3", gpu)
        return [SimpleNamespace(pid=pid, usedGpuMemory=memory) for pid, memory in gpu.graphics]

    def nvmlDeviceGetProcessUtilization(self, gpu: FakeGpu, since_us: int) -> list[SimpleNamespace]:
        self._check("nvmlDeviceGetProcessUtilization", gpu)
        newer = [
            SimpleNamespace(pid=pid, timeStamp=stamp_us, smUtil=percent)
            for pid, stamp_us, percent in gpu.shares
            if stamp_us > since_us
        ]
        if not newer:
            raise NVMLError(6)
        return newer

    def nvmlSystemGetNVMLVersion(self) -> str:
        return "12.570.124.06"

    def nvmlDeviceGetFieldValues(self, gpu: FakeGpu, numbers: list[int]) -> list[SimpleNamespace]:
        self._check("nvmlDeviceGetFieldValues", gpu)
        known = {**self.FIELDS, **gpu.values.get("fields", {})}
        return [
            SimpleNamespace(
                nvmlReturn=0 if number in known else 3,
                valueType=3,
                value=SimpleNamespace(ullVal=known.get(number, 0)),
            )
            for number in numbers
        ]

    def nvmlDeviceGetNvLinkState(self, gpu: FakeGpu, link: int) -> int:
        self._check("nvmlDeviceGetNvLinkState", gpu)
        if link >= self.LINKS:
            raise NVMLError(2)
        return int(link not in gpu.values.get("links down", ()))

    def nvmlDeviceGetNvLinkRemotePciInfo(self, gpu: FakeGpu, link: int) -> SimpleNamespace:
        self._check("nvmlDeviceGetNvLinkRemotePciInfo", gpu)
        if link >= self.LINKS:
            raise NVMLError(2)
        return SimpleNamespace(domain=0, bus=5 + link, device=0)

    @staticmethod
    def byref(structure: SimpleNamespace) -> SimpleNamespace:
        return structure

    def nvmlDeviceGetGpuFabricInfoV(self, gpu: FakeGpu, info: SimpleNamespace) -> None:
        self._check("nvmlDeviceGetGpuFabricInfoV", gpu)
        info.status, info.state, info.healthMask = 0, 3, 0x1AA

    def nvmlDeviceGetSramEccErrorStatus(self, gpu: FakeGpu, status: SimpleNamespace) -> None:
        self._check("nvmlDeviceGetSramEccErrorStatus", gpu)
        status.bThresholdExceeded = gpu.values.get("SRAM threshold exceeded", 0)

    def nvmlEventSetCreate(self) -> object:
        self._registered = []
        return self

    def nvmlDeviceRegisterEvents(self, gpu: FakeGpu, types: int, events: object) -> None:
        self._check("nvmlDeviceRegisterEvents", gpu)
        self._registered.append(gpu)

    def nvmlEventSetWait(self, events: object, timeout_ms: int) -> SimpleNamespace:
        for gpu in self._registered:
            if gpu.xids:
                return SimpleNamespace(device=gpu, eventType=8, eventData=gpu.xids.pop(0))
        raise NVMLError(10)

    def nvmlEventSetFree(self, events: object) -> None:
        self._registered = []

    def __getattr__(self, name: str):
        if name not in self.ANSWERS:
            raise AttributeError(name)

        def answer(gpu: FakeGpu, *_: object, **__: object):
            self._check(name, gpu)
            return gpu.values.get(name, self.ANSWERS[name])

        return answer

    def _check(self, name: str, gpu: FakeGpu) -> None:
        self.calls.append((name, gpu.index))
        failure = gpu.fails.get(name, gpu.code)
        if isinstance(failure, Exception):
            raise failure
        if failure:
            raise NVMLError(failure)


class _Told(FakeNvml):
    """What a sampler imports: asks its file, and does as it is told."""

    def __init__(self) -> None:
        super().__init__(0)
        self._told: dict[str, object] = {}

    def nvmlInit(self) -> None:
        self._obey()
        super().nvmlInit()

    def nvmlDeviceGetCount(self) -> int:
        self._obey()
        return super().nvmlDeviceGetCount()

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> SimpleNamespace:
        if self._told.get("crash") == gpu.index:
            os.abort()
        while gpu.index in self._told.get("hang", ()):
            time.sleep(0.05)
            self._obey()
        self._check("nvmlDeviceGetUtilizationRates", gpu)
        return self.ANSWERS["nvmlDeviceGetUtilizationRates"]

    def _obey(self) -> None:
        self._read()
        while self._told.get("hang_driver"):
            time.sleep(0.05)
            self._read()

    def _read(self) -> None:
        with open(os.environ["FAKE_NVML"], encoding="utf-8") as file:  # noqa: PTH123
            told = json.load(file)
        self.init_code = told.get("init", 0)
        count = told.get("gpus", 2)
        if len(self.gpus) != count:
            self.gpus = [FakeGpu(index) for index in range(count)]
        for gpu in self.gpus:
            gpu.code = 15 if gpu.index in told.get("lost", ()) else 0
            gpu.lookup = 999 if gpu.index in told.get("unfindable", ()) else 0
            reasons = 0x40 if gpu.index in told.get("hot", ()) else 4
            gpu.values["nvmlDeviceGetCurrentClocksEventReasons"] = reasons
        self._told = told


_told = _Told()


def __getattr__(name: str) -> object:
    return getattr(_told, name)
