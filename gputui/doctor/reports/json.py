"""For programs: one object."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gputui.doctor.examination import Examined, exit_code


def write(found: Sequence[Examined], host: str) -> str:
    """The host, the exit code, and every result."""
    shown = {
        "host": host,
        "exit_code": exit_code(found),
        "results": [
            {
                "check": one.check.name,
                "level": one.result.level.word,
                "text": one.result.text,
                "fix": one.result.fix or None,
            }
            for one in found
        ],
    }
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"
