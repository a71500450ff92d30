"""The script calls programs by their paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.finding import Finding, finding
from chaos.journal import Record
from chaos.judging.script import ScriptRun


@finding("absolute-path")
def absolute_path(runs: Sequence[ScriptRun], start: Record) -> Iterator[Finding]:
    """A path holds on one machine: elsewhere the program is not there, or is another one."""
    del start
    seen: set[str] = set()
    for run in runs:
        for call in run.calls:
            paths = [word for word in (call.words[0], call.command[0]) if word.startswith("/")]
            for path in dict.fromkeys(paths):
                if path not in seen:
                    seen.add(path)
                    yield Finding(
                        f"{path} is called by its path, which is not the same on every machine",
                        call.line,
                        call.record.at_us,
                    )
