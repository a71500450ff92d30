"""Answers' bytes: NVML's integers and strings, little-endian, as x86-64 lays them out.

Structures are laid out beside the answers that fill them, as :class:`struct.Struct` with explicit
padding (``4x``) and ``<``, so that no machine's own alignment can creep in.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from fakes.nvml.codes import Code, NvmlError

uint32: Callable[[int], bytes] = Struct("<I").pack
"""unsigned int, and every enumeration."""

int32: Callable[[int], bytes] = Struct("<i").pack
"""int."""

uint64: Callable[[int], bytes] = Struct("<Q").pack
"""unsigned long long; a device's number where a handle goes out."""

NO_INSTANCE = 0xFFFFFFFF
"""gpuInstanceId and computeInstanceId where there is no MIG."""


def require(capable: bool | int) -> None:
    """Fail as NVML does on a GPU that is not capable of what was asked for."""
    if not capable:
        raise NvmlError(Code.NOT_SUPPORTED)


def text(string: str) -> bytes:
    """A string without its NUL, which the carrier adds."""
    return string.encode()
