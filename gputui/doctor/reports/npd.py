"""For Kubernetes' node-problem-detector, as a custom plugin: one short line, and 0, 1 or 2."""

from __future__ import annotations

from collections.abc import Sequence

from gputui.doctor.check import Level
from gputui.doctor.examination import Examined

OK, NON_OK, UNKNOWN = 0, 1, 2
"""What a custom plugin's exit status means to the detector."""

_MOST_LETTERS = 80
"""``max_output_length`` of a custom plugin unless its configuration says otherwise."""


def write(found: Sequence[Examined], host: str) -> str:
    """The worst result."""
    worst = max(found, key=lambda one: one.result.level, default=None)
    if worst is None or status(found) == OK:
        return "GPUs are healthy\n"
    return f"{worst.check.name}: {worst.result.text}"[:_MOST_LETTERS] + "\n"


def status(found: Sequence[Examined]) -> int:
    """Only what should keep work away is a problem of the node's."""
    levels = {one.result.level for one in found}
    if Level.CRITICAL in levels:
        return NON_OK
    return UNKNOWN if Level.UNCHECKED in levels else OK
