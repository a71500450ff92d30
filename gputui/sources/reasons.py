"""Why a reading is missing, in words: NVML's return codes (nvml.h) as a person reads them."""

from __future__ import annotations

INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
TIMEOUT = 10
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
ARGUMENT_VERSION_MISMATCH = 25
GPU_NOT_FOUND = 28
UNKNOWN = 999

NOT_AVAILABLE = "not available"
"""NVML answered with its mark for "no value" (all bits set)."""

NOT_MEASURED_YET = "not measured yet"
"""A slow reading whose turn has not come."""

NOT_UTF8 = "garbage: not UTF-8"

OTHER_LIBRARY = "not in this driver's library"

HAS_ENDED = "it has ended"
REUSED = "it has ended, and its PID is another's now"
"""Why nothing more is known of a process."""

GONE = "gone"
"""The state of a network port that was there before."""

NO_CONNECTION = "No connection to"
"""How the error of a node elsewhere begins that cannot be reached."""

_WORDS = {
    1: "NVML is not initialised",
    INVALID_ARGUMENT: "invalid argument",
    NOT_SUPPORTED: "not supported",
    NO_PERMISSION: "no permission",
    NOT_FOUND: "not found",
    7: "list too long",
    9: "driver not loaded",
    TIMEOUT: "timed out",
    12: "NVML library not found",
    FUNCTION_NOT_FOUND: OTHER_LIBRARY,
    14: "corrupted infoROM",
    GPU_IS_LOST: "GPU is lost",
    RESET_REQUIRED: "GPU requires a reset",
    17: "blocked by the operating system",
    18: "driver/library version mismatch",
    ARGUMENT_VERSION_MISMATCH: "another structure version",
    GPU_NOT_FOUND: "GPU not found",
    UNKNOWN: "unknown error",
}

_BENIGN = frozenset(
    {
        _WORDS[NOT_SUPPORTED],
        _WORDS[NO_PERMISSION],
        OTHER_LIBRARY,
        NOT_AVAILABLE,
        NOT_MEASURED_YET,
    }
)


def words(code: int) -> str:
    """What an NVML return code means. An unknown one is shown as it is."""
    return _WORDS.get(code, f"NVML error {code}")


_CODES = {text: code for code, text in _WORDS.items()}


def code_of(reason: str) -> int | None:
    """The NVML return code behind a reason; None where NVML did answer, or nobody asked."""
    _, unknown, number = reason.partition("NVML error ")
    if unknown and number.isdecimal():
        return int(number)
    return _CODES.get(reason)


def garbage(value: object) -> str:
    """The reason of a reading that cannot be true."""
    return f"garbage: {value}"


def is_failure(reason: str) -> bool:
    """Whether a reading that should be there failed, rather than does not exist on this GPU."""
    return reason not in _BENIGN


MISSING = NOT_FOUND
"""The code of a GPU that should be there, but that NVML has not counted since the start."""

LOST_CODES = frozenset({GPU_IS_LOST, GPU_NOT_FOUND, UNKNOWN})
"""Codes with which a GPU that NVML counts, but that no longer answers, is reported.

``UNKNOWN`` is the commonest answer to looking up the handle of a GPU that fell off the bus.
"""
