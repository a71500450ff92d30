"""NVML's return codes (nvmlReturn_t, nvml.h) and their texts (nvmlErrorString)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum


class Code(IntEnum):
    """nvmlReturn_t."""

    SUCCESS = 0
    UNINITIALIZED = 1
    INVALID_ARGUMENT = 2
    NOT_SUPPORTED = 3
    NO_PERMISSION = 4
    ALREADY_INITIALIZED = 5
    NOT_FOUND = 6
    INSUFFICIENT_SIZE = 7
    INSUFFICIENT_POWER = 8
    DRIVER_NOT_LOADED = 9
    TIMEOUT = 10
    IRQ_ISSUE = 11
    LIBRARY_NOT_FOUND = 12
    FUNCTION_NOT_FOUND = 13
    CORRUPTED_INFOROM = 14
    GPU_IS_LOST = 15
    RESET_REQUIRED = 16
    OPERATING_SYSTEM = 17
    LIB_RM_VERSION_MISMATCH = 18
    IN_USE = 19
    MEMORY = 20
    NO_DATA = 21
    VGPU_ECC_NOT_SUPPORTED = 22
    INSUFFICIENT_RESOURCES = 23
    FREQ_NOT_SUPPORTED = 24
    ARGUMENT_VERSION_MISMATCH = 25
    DEPRECATED = 26
    NOT_READY = 27
    GPU_NOT_FOUND = 28
    INVALID_STATE = 29
    RESET_TYPE_NOT_SUPPORTED = 30
    UNKNOWN = 999


TEXTS: Mapping[Code, str] = {
    Code.SUCCESS: "Success",
    Code.UNINITIALIZED: "Uninitialized",
    Code.INVALID_ARGUMENT: "Invalid Argument",
    Code.NOT_SUPPORTED: "Not Supported",
    Code.NO_PERMISSION: "Insufficient Permissions",
    Code.ALREADY_INITIALIZED: "Already Initialized",
    Code.NOT_FOUND: "Not Found",
    Code.INSUFFICIENT_SIZE: "Insufficient Size",
    Code.INSUFFICIENT_POWER: "Insufficient External Power",
    Code.DRIVER_NOT_LOADED: "Driver Not Loaded",
    Code.TIMEOUT: "Timeout",
    Code.IRQ_ISSUE: "Interrupt Request Issue",
    Code.LIBRARY_NOT_FOUND: "NVML Shared Library Not Found",
    Code.FUNCTION_NOT_FOUND: "Function Not Found",
    Code.CORRUPTED_INFOROM: "Corrupted infoROM",
    Code.GPU_IS_LOST: "GPU is lost",
    Code.RESET_REQUIRED: "GPU requires reset",
    Code.OPERATING_SYSTEM: "GPU access blocked by the operating system",
    Code.LIB_RM_VERSION_MISMATCH: "Driver/library version mismatch",
    Code.IN_USE: "In use by another client",
    Code.MEMORY: "Insufficient Memory",
    Code.NO_DATA: "No data",
    Code.VGPU_ECC_NOT_SUPPORTED: "The requested vGPU operation is not available with ECC enabled",
    Code.INSUFFICIENT_RESOURCES: "Insufficient Resources",
    Code.FREQ_NOT_SUPPORTED: "Frequency not supported",
    Code.ARGUMENT_VERSION_MISMATCH: "Argument version mismatch",
    Code.DEPRECATED: "Deprecated",
    Code.NOT_READY: "Not Ready",
    Code.GPU_NOT_FOUND: "GPU not found",
    Code.INVALID_STATE: "Invalid state",
    Code.RESET_TYPE_NOT_SUPPORTED: "Reset type not supported",
    Code.UNKNOWN: "Unknown Error",
}
"""What nvmlErrorString says. Those up to MEMORY, INSUFFICIENT_RESOURCES and UNKNOWN are the
driver's own words (source: NVIDIA/DCGM, ``nvml_error_strings.h``); the others are ours."""


def error_string(code: int) -> str:
    """nvmlErrorString: the text of a code, and "Unknown Error" of a number that is none."""
    return TEXTS[Code(code)] if code in TEXTS else TEXTS[Code.UNKNOWN]


class NvmlError(Exception):
    """An answer's way to fail: the carrier returns its code, and no outputs."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.name)
        self.code = code
