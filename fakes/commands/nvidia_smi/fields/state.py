"""Modes and versions: what somebody set, and what is flashed."""

from __future__ import annotations

from collections.abc import Callable

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import (
    ADDRESSING_MODES,
    COMPUTE_MODES,
    RECOVERY_ACTIONS,
    enabled,
    field_value,
    nothing,
    one_of,
    part,
    said,
    until,
    yes,
)

_INFOROM_OEM, _INFOROM_ECC, _INFOROM_POWER = range(3)
_RECOVERY_ACTION = 230
_OPERATION_MODES = ("All On", "Compute", "Low Double Precision")


def _inforom(part_of_it: int) -> Callable[[Gpu], str]:
    return said("nvmlDeviceGetInforomVersion", part_of_it)


def _checksum(gpu: Gpu) -> str:
    gpu.get("nvmlDeviceValidateInforom")
    return "valid"


MODES: tuple[Field[Gpu], ...] = (
    field("index", read=said("nvmlDeviceGetIndex"), about="The GPU's number, from zero."),
    field(
        "display_mode",
        read=until(590, said("nvmlDeviceGetDisplayMode", by=enabled)),
        about="Not told by newer drivers.",
    ),
    field(
        "display_attached",
        read=said("nvmlDeviceGetDisplayMode", by=yes),
        about="Whether a display is connected.",
    ),
    field(
        "display_active",
        read=said("nvmlDeviceGetDisplayActive", by=enabled),
        about="Whether a display is set up on the GPU.",
    ),
    field(
        "persistence_mode",
        read=said("nvmlDeviceGetPersistenceMode", by=enabled),
        about="Whether the driver stays loaded without clients.",
    ),
    field(
        "addressing_mode",
        read=said("nvmlDeviceGetAddressingMode", by=lambda mode: one_of(ADDRESSING_MODES, mode)),
        about="How the GPU reaches system memory: HMM, ATS or None.",
    ),
    field(
        "accounting.mode",
        read=said("nvmlDeviceGetAccountingMode", by=enabled),
        about="Whether statistics of processes are kept.",
    ),
    field(
        "accounting.buffer_size",
        read=said("nvmlDeviceGetAccountingBufferSize"),
        about="Of how many processes statistics are kept.",
    ),
    field("driver_model.current", read=nothing, about="Windows only."),
    field("driver_model.pending", read=nothing, about="Windows only."),
)

VERSIONS: tuple[Field[Gpu], ...] = (
    field("vbios_version", read=said("nvmlDeviceGetVbiosVersion"), about="The VBIOS's version."),
    field(
        "inforom.img",
        "inforom.image",
        read=said("nvmlDeviceGetInforomImageVersion"),
        about="The version of the whole infoROM.",
    ),
    field("inforom.oem", read=_inforom(_INFOROM_OEM), about="The version of its OEM object."),
    field("inforom.ecc", read=_inforom(_INFOROM_ECC), about="The version of its ECC object."),
    field(
        "inforom.pwr",
        "inforom.power",
        read=_inforom(_INFOROM_POWER),
        about="The version of its power management object.",
    ),
    field(
        "inforom.checksum_validation", read=_checksum, about="Whether its checksums are as stored."
    ),
    field(
        "gpu_recovery_action",
        read=field_value(_RECOVERY_ACTION, by=lambda action: one_of(RECOVERY_ACTIONS, action)),
        about="What the driver advises to do about the GPU.",
    ),
    *(
        field(
            f"gom.{when}",
            f"gpu_operation_mode.{when}",
            read=part(
                "nvmlDeviceGetGpuOperationMode", which, by=lambda mode: _OPERATION_MODES[mode]
            ),
            about="GPU operation mode.",
        )
        for which, when in enumerate(("current", "pending"))
    ),
)

LATE_MODES: tuple[Field[Gpu], ...] = (
    field(
        "mig.mode.current",
        read=part("nvmlDeviceGetMigMode", 0, by=enabled),
        about="Whether the GPU is split into instances.",
    ),
    field(
        "mig.mode.pending",
        read=part("nvmlDeviceGetMigMode", 1, by=enabled),
        about="Whether it will be after the next reset.",
    ),
    field(
        "gsp.mode.current",
        read=part("nvmlDeviceGetGspFirmwareMode", 0, by=enabled),
        about="Whether the system processor's firmware is in use.",
    ),
    field(
        "gsp.mode.default",
        read=part("nvmlDeviceGetGspFirmwareMode", 1, by=enabled),
        about="Whether it is by default.",
    ),
    field(
        "c2c.mode",
        read=part("nvmlDeviceGetC2cModeInfoV", "isC2cEnabled", by=enabled),
        about="Whether the link to an NVIDIA CPU is on.",
    ),
)

COMPUTE_MODE = field(
    "compute_mode",
    read=said("nvmlDeviceGetComputeMode", by=lambda mode: one_of(COMPUTE_MODES, mode)),
    about="How many processes may compute: Default, Exclusive_Process, Prohibited.",
)
