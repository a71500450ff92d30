"""The NVLink fabric: how far a GPU is in joining it, how it is there, and who manages it.

States and troubles are those of nvml.h (NVML_GPU_FABRIC_STATE_*, NVML_GPU_FABRIC_HEALTH_MASK_*).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FabricState(Enum):
    """How far a GPU is in registering with the fabric manager."""

    NOT_STARTED = "not-started"
    IN_PROGRESS = "in-progress"
    COMPLETED = "completed"


class FabricTrouble(Enum):
    """What may be wrong with a GPU's place in the fabric."""

    DEGRADED_BANDWIDTH = "degraded-bandwidth"
    ROUTE_RECOVERY = "route-recovery"
    ROUTE_UNHEALTHY = "route-unhealthy"
    ACCESS_TIMEOUT = "access-timeout"
    INCORRECT_CONFIGURATION = "incorrect-configuration"


@dataclass(slots=True, eq=False)
class Membership:
    """A GPU's part in the fabric. ``status`` is the nvmlReturn_t with which registering ended."""

    state: FabricState = FabricState.COMPLETED
    trouble: FabricTrouble | None = None
    status: int = 0


def manager_line(version: str, driver: str) -> str:
    """What the manager writes when it is of another version than the driver, and then ends."""
    return (
        f"fabric manager NVIDIA GPU driver interface version {version} don't match with driver "
        f"version {driver}. Please update with matching NVIDIA driver package."
    )
