"""Why the driver could not start a GPU: the numbers of its RmInitAdapter line.

``RmInitAdapter failed! (0x62:0x65:2028)``: the first is the step that failed (RM_INIT_STATUS), the
second its status (NV_STATUS), the third a line of the driver's source (osinit.c of
open-gpu-kernel-modules).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gputui.logs.kernel import KernelEvent

_NUMBERS = re.compile(r"failed!? \((?P<step>0x[0-9a-f]+):(?P<status>0x[0-9a-f]+)", re.I)

_STEPS = (
    (range(0x20, 0x28), "driver", "the GPU's state could not be set up"),
    (range(0x30, 0x33), "firmware", "its VBIOS did not run"),
    (range(0x60, 0x64), "firmware", "its system processor's firmware did not start"),
)


@dataclass(frozen=True, slots=True)
class InitFailure:
    """Whom a failed start blames (``firmware``, ``power`` or ``driver``), and in which words."""

    cause: str
    text: str


def init_failure(events: Iterable[KernelEvent]) -> InitFailure | None:
    """What the last line about a failed start says; None where there is none."""
    found = None
    for event in events:
        if event.kind == "power_cables":
            found = InitFailure("power", "its power cables are not connected")
        elif event.kind == "init_failed":
            found = _explained(event)
    return found


def _explained(event: KernelEvent) -> InitFailure:
    numbers = _NUMBERS.search(event.detail or event.text)
    step = int(numbers["step"], 16) if numbers else -1
    for steps, cause, text in _STEPS:
        if step in steps:
            return InitFailure(cause, f"RmInitAdapter failed ({step:#x}): {text}")
    return InitFailure("driver", f"RmInitAdapter failed ({step:#x})" if numbers else event.text)
