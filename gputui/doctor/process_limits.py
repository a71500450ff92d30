"""What a process may use, as the kernel's table of it says: /proc/PID/limits (proc(5)).

Jobs may be given more than whoever looks: the environment can name a table to go by instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from gputui.doctor.site import Site

ENVIRONMENT = "GPUTUI_LIMITS"
"""Names a file in the form of /proc/PID/limits, in place of this process's own."""

LOCKED_MEMORY = "Max locked memory"
OPEN_FILES = "Max open files"
PROCESSES = "Max processes"

_OWN = "proc/self/limits"
_ROW = re.compile(
    r"^(?P<name>Max [a-z ]+?) {2,}(?P<soft>unlimited|\d+) +(?P<hard>unlimited|\d+)", re.M
)


def process_limits(site: Site) -> Mapping[str, tuple[float, float]] | None:
    """The soft and the hard limit by the kernel's name for it; infinity where there is none.

    None where the table cannot be read.
    """
    text = site.text(site.environment.get(ENVIRONMENT) or _OWN)
    if text is None:
        return None
    return {
        row["name"]: (_number(row["soft"]), _number(row["hard"])) for row in _ROW.finditer(text)
    }


def _number(word: str) -> float:
    return math.inf if word == "unlimited" else float(word)
