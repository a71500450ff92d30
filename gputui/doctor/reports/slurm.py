"""For Slurm's HealthCheckProgram and prologs: the command that drains this node, or nothing.

``gputui doctor --slurm | sh`` drains; printed alone it changes nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gputui.doctor.check import Level
from gputui.doctor.examination import Examined

_MOST_REASON = 200


def write(found: Sequence[Examined], host: str) -> str:
    """One command if anything is critical."""
    worst = [one for one in found if one.result.level is Level.CRITICAL]
    if not worst:
        return ""
    reasons = "; ".join(f"{one.check.name}: {one.result.text}" for one in worst)
    reason = f"gputui: {reasons}"[:_MOST_REASON]
    node = host.partition(".")[0]
    words = ("scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason}")
    return shlex.join(words) + "\n"
