"""The shape of an NVML function: what goes in, what comes out, and by which size rule.

``fakes/nvml/table.py`` holds one :class:`Function` for each exported name; it is generated from the
public header by ``fakes/nvml/shim/generate.py``, together with the C library's own table. Both
carriers are driven by it, so a size rule is written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What a parameter is, as far as a carrier must know."""

    DEVICE = auto()
    """A GPU's handle, by value."""
    DEVICE_OUT = auto()
    """Where a GPU's handle goes; the answer's output is its index as 8 bytes, little-endian."""
    HANDLE = auto()
    """Another opaque handle, by value (event set, unit, GPU instance ...); an input of 8 bytes."""
    U32 = auto()
    """An integer of 4 bytes, by value; an input."""
    U64 = auto()
    """An integer of 8 bytes, by value; an input."""
    TEXT_IN = auto()
    """A NUL-terminated string that the caller passes; an input (bytes, without the NUL)."""
    STRUCT_IN = auto()
    """A ``const`` structure of ``size`` bytes that the caller passes; an input (bytes)."""
    OUT = auto()
    """A pointer to ``size`` bytes that the function fills."""
    TEXT_OUT = auto()
    """A buffer for a string; its length is the ``U32`` parameter ``partner``. Too short fails."""
    COUNT = auto()
    """In: how many records the buffer ``partner`` holds. Out: how many there are."""
    LIST = auto()
    """A buffer of records of ``size`` bytes each, counted by the ``COUNT`` parameter ``partner``."""
    VERSIONED = auto()
    """A structure of ``size`` bytes, filled in place, whose first word must be one of ``versions``.

    Its input is the 32-bit words at the byte offsets ``words`` (the version's among them)."""
    EACH = auto()
    """Records of ``size`` bytes filled in place, counted by the ``U32`` parameter ``partner``
    (nvmlDeviceGetFieldValues); its input is the whole buffer."""


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. Sizes and offsets are bytes; ``partner`` is a parameter's position, or -1."""

    name: str
    kind: Kind
    size: int = 0
    partner: int = -1
    versions: tuple[int, ...] = ()
    words: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    """One exported name. ``id`` is its position in the table, and its number on the wire."""

    id: int
    name: str
    params: tuple[Param, ...]
