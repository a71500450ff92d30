"""For people: one line a result, the worst marked, each with what mends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gputui.doctor.check import Level
from gputui.doctor.examination import Examined

_WORDS = {
    Level.GOOD: "ok",
    Level.SKIPPED: "-",
    Level.WARNING: "WARNING",
    Level.UNCHECKED: "UNCHECKED",
    Level.CRITICAL: "CRITICAL",
}
_COLUMN = max(map(len, _WORDS.values())) + 2


def write(found: Sequence[Examined], host: str) -> str:
    """The whole report."""
    width = max((len(one.check.name) for one in found), default=0) + 2
    lines = []
    for one in found:
        head = f"{_WORDS[one.result.level]:{_COLUMN}}{one.check.name:{width}}"
        lines.append(f"{head}{one.result.text}")
        if one.result.fix:
            lines.append(f"{'':{_COLUMN + width}}-> {one.result.fix}")
    lines += ["", f"{host}: {summary(found)}"]
    return "\n".join(lines) + "\n"


def summary(found: Sequence[Examined]) -> str:
    """``2 critical, 1 warning``, or that all is well."""
    counts = Counter(one.result.level for one in found)
    told = [
        (counts[Level.CRITICAL], "critical"),
        (counts[Level.WARNING], "warning" if counts[Level.WARNING] == 1 else "warnings"),
        (counts[Level.UNCHECKED], "could not be checked"),
    ]
    return ", ".join(f"{count} {words}" for count, words in told if count) or "all is well"
