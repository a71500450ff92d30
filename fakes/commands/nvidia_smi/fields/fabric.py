"""The NVLink fabric, the rack, and the host's name."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from struct import Struct
from typing import Any

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.words import Read, one_of, said
from fakes.nvml.codes import Code

_STATES = {1: "Not Started", 2: "In Progress", 3: "Completed"}
_COMPLETED = 3
_SUMMARIES = {1: "Healthy", 2: "Unhealthy", 3: "Limited Capacity"}
_TRUE_OR_FALSE = {1: "True", 2: "False"}
_CONFIGURATION = {
    1: "None",
    2: "Incorrect SysGUID",
    3: "Incorrect Chassis Serial Number",
    4: "No Partition",
    5: "Insufficient NVLinks",
    6: "Incompatible GPU Firmware",
    7: "Invalid Location",
    8: "GPU State Invalid",
}
_HEALTH = (
    ("bandwidth", 0, 0x3, _TRUE_OR_FALSE),
    ("route_recovery_in_progress", 2, 0x3, _TRUE_OR_FALSE),
    ("route_unhealthy", 4, 0x3, _TRUE_OR_FALSE),
    ("access_timeout_recovery", 6, 0x3, _TRUE_OR_FALSE),
    ("incorrect_configuration", 8, 0xF, _CONFIGURATION),
    ("partition_assigned", 12, 0x3, _TRUE_OR_FALSE),
)
_PLATFORM = Struct("<4x16s16s5B")
_PEERS = ("Direct Connected", "Switch Connected")


def _info(gpu: Gpu) -> Any:
    """Registration with the fabric, in the newest form that library and binding share."""
    try:
        info = gpu.filled("nvmlDeviceGetGpuFabricInfoV", "c_nvmlGpuFabricInfo_v3_t")
    except Missing:
        info = gpu.filled("nvmlDeviceGetGpuFabricInfoV", "c_nvmlGpuFabricInfo_v2_t")
    if not info.state:
        raise Missing(Code.NOT_SUPPORTED)
    return info


def _status(gpu: Gpu) -> str:
    info = _info(gpu)
    if info.state != _COMPLETED:
        raise Missing(Code.NOT_SUPPORTED)
    return gpu.driver.error_text(info.status)


def _summary(gpu: Gpu) -> str:
    return one_of(_SUMMARIES, getattr(_info(gpu), "healthSummary", 0))


def _health(shift: int, width: int, words: dict[int, str]) -> Read:
    return lambda gpu: one_of(words, _info(gpu).healthMask >> shift & width)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a GPU is in its rack (nvmlPlatformInfo_v2_t)."""

    fabric_guid: bytes
    chassis_serial_number: bytes
    slot_number: int
    tray_index: int
    host_id: int
    peer_type: int
    module_id: int


def place(gpu: Gpu) -> Place:
    """Where the GPU is, from the bytes as they lie: strings of ctypes would end at a NUL."""
    info = gpu.filled("nvmlDeviceGetPlatformInfo", "c_nvmlPlatformInfo_v2_t")
    return Place(*_PLATFORM.unpack_from(bytes(info)))


def _chassis(gpu: Gpu) -> str:
    return place(gpu).chassis_serial_number.rstrip(b"\0").decode(errors="replace")


FIELDS: tuple[Field[Gpu], ...] = (
    field(
        "fabric.state",
        read=lambda gpu: one_of(_STATES, _info(gpu).state),
        about="How far registration with the fabric is.",
        bare=True,
    ),
    field("fabric.status", read=_status, about="How registration ended.", bare=True),
    field(
        "fabric.cliqueId",
        read=lambda gpu: str(_info(gpu).cliqueId),
        about="The clique that the GPU belongs to.",
        bare=True,
    ),
    field(
        "fabric.clusterUuid",
        read=lambda gpu: str(uuid.UUID(bytes=bytes(_info(gpu).clusterUuid))),
        about="The cluster that the GPU belongs to.",
        bare=True,
    ),
    field("fabric.health.summary", read=_summary, about="Health in one word.", bare=True),
    *(
        field(
            f"fabric.health.{name}",
            read=_health(shift, width, words),
            about="A part of the fabric's health.",
            bare=True,
        )
        for name, shift, width, words in _HEALTH
    ),
    field("platform.chassis_serial_number", read=_chassis, about="The chassis's number."),
    field(
        "platform.slot_number",
        read=lambda gpu: str(place(gpu).slot_number),
        about="Slot in the chassis.",
    ),
    field(
        "platform.tray_index",
        read=lambda gpu: str(place(gpu).tray_index),
        about="Tray among the compute trays.",
    ),
    field(
        "platform.host_id",
        read=lambda gpu: str(place(gpu).host_id),
        about="Node in the slot.",
    ),
    field(
        "platform.peer_type",
        read=lambda gpu: one_of(_PEERS, place(gpu).peer_type),
        about="Whether NVLink goes through switches.",
    ),
    field(
        "platform.module_id",
        read=lambda gpu: str(place(gpu).module_id),
        about="GPU in the node.",
    ),
    field(
        "platform.gpu_fabric_guid",
        read=lambda gpu: f"0x{place(gpu).fabric_guid[:8].hex().upper()}",
        about="The GPU's id in the fabric.",
    ),
    field("hostname", read=said("nvmlDeviceGetHostname_v1"), about="A name set on the GPU."),
)
