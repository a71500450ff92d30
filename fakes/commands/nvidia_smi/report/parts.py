"""What the report says, group by group, in its order (drivers 590 and 595)."""

from __future__ import annotations

from fakes.commands.nvidia_smi.report.hardware import HARDWARE
from fakes.commands.nvidia_smi.report.health import HEALTH
from fakes.commands.nvidia_smi.report.layout import Part
from fakes.commands.nvidia_smi.report.load import LOAD
from fakes.commands.nvidia_smi.report.operation import OPERATION

PARTS: tuple[Part, ...] = (*HARDWARE, *LOAD, *HEALTH, *OPERATION)

SECTIONS = frozenset(part.section for part in PARTS if part.section) | {
    "SUPPORTED_GPU_TARGET_TEMP",
    "VOLTAGE",
}
"""Names that ``-d`` knows. Of the two named here, no driver of these days tells anything."""
