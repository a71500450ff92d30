"""The script waited for a while, and did not look whether that had helped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.finding import Finding, finding
from chaos.journal import Record
from chaos.judging.script import ScriptRun

_LONG_S = 10.0
"""Shorter waits are breaths between two steps."""


@finding("slept-blindly")
def slept_blindly(runs: Sequence[ScriptRun], start: Record) -> Iterator[Finding]:
    """After a long sleep comes a question, or the sleep was a guess: the next one acts, or ends."""
    del start
    for run in runs:
        calls = [call for call in run.calls if call.program != "logger"]
        for call, following in zip(calls, [*calls[1:], None], strict=False):
            if call.program != "sleep" or call.took_s < _LONG_S:
                continue
            if following is None:
                if run.ended is not None:
                    yield Finding(
                        f"slept for {call.took_s:g} s and then ended, without a look at what had "
                        "become of it",
                        call.line,
                        call.record.at_us,
                    )
            elif following.actions:
                yield Finding(
                    f"slept for {call.took_s:g} s and then called '{following.text}', without a "
                    "look at whether it was time",
                    call.line,
                    call.record.at_us,
                )
