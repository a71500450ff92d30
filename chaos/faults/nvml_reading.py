"""One reading of a GPU that fails, while all others come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.hang import keep_disturbed
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.disturbance import Misreading
from fakes.world import World


class Reading(Enum):
    """A reading, and by which functions NVML tells it."""

    UTILIZATION = "utilization"
    MEMORY = "memory"
    TEMPERATURE = "temperature"
    POWER = "power"
    CLOCKS = "clocks"
    FAN = "fan"
    ECC = "ecc"
    PROCESSES = "processes"

    @property
    def functions(self) -> frozenset[str]:
        """The functions of NVML."""
        return frozenset(f"nvmlDeviceGet{name}" for name in _FUNCTIONS[self].split())


_FUNCTIONS = {
    Reading.UTILIZATION: "UtilizationRates",
    Reading.MEMORY: "MemoryInfo MemoryInfo_v2",
    Reading.TEMPERATURE: "Temperature TemperatureV",
    Reading.POWER: "PowerUsage",
    Reading.CLOCKS: "ClockInfo Clock",
    Reading.FAN: "FanSpeed FanSpeed_v2",
    Reading.ECC: "TotalEccErrors MemoryErrorCounter",
    Reading.PROCESSES: "ComputeRunningProcesses ComputeRunningProcesses_v2 "
    "ComputeRunningProcesses_v3",
}


class Failure(Enum):
    """How it fails."""

    NOT_SUPPORTED = "not-supported"
    NO_PERMISSION = "no-permission"
    TIMEOUT = "timeout"
    GPU_IS_LOST = "gpu-is-lost"
    UNKNOWN = "unknown"


_CODES = {
    Failure.NOT_SUPPORTED: 3,
    Failure.NO_PERMISSION: 4,
    Failure.TIMEOUT: 10,
    Failure.GPU_IS_LOST: 15,
    Failure.UNKNOWN: 999,
}
"""nvmlReturn_t."""


@fault("nvml", by="reading")
@dataclass(frozen=True, slots=True)
class FailingReading:
    """Let one reading of a GPU fail with a code."""

    gpu: Gpus
    reading: Reading
    code: Failure = Failure.UNKNOWN

    does_not_prove: ClassVar[str] = "that a real GPU would go on with one reading gone"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it fail from now on."""
        for gpu in self.gpu.find(world):
            misreading = Misreading(gpu.index, self.reading.functions, _CODES[self.code])
            keep_disturbed(world.node_of(gpu), misreading, undo)
