"""A query failed, and the script passed as if it had been answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.finding import Finding, finding
from chaos.journal import Record
from chaos.judging.script import Call, ScriptRun

_SAYS_NO = frozenset(
    {
        "pgrep", "pidof", "fuser", "lsof", "systemctl", "service", "getent", "ping", "findmnt",
        "lspci", "kill", "pkill", "killall", "curl", "mountpoint",
    }
)  # fmt: skip
"""Commands of which an exit status other than 0 is an answer: there is none, it is not so."""


@finding("failed-open")
def failed_open(runs: Sequence[ScriptRun], start: Record) -> Iterator[Finding]:
    """A call that was to tell something failed, nothing was done about it, and the end was 0.

    It is no failure if the same call succeeded later, nor if the script acted afterwards: then it
    took the failure for what it is.
    """
    del start
    for run in runs:
        if run.status != 0:
            continue
        for number, call in enumerate(run.calls):
            if _failed(call) and not _taken_up(run.calls[number + 1 :], call):
                yield Finding(
                    f"'{call.text}' failed (exit {call.status}), and the script went on and "
                    "ended with 0: what it was to find out is not known",
                    call.line,
                    call.record.at_us,
                )


def _failed(call: Call) -> bool:
    if call.status in (None, 0) or call.actions:
        return False
    return call.program not in _SAYS_NO


def _taken_up(later: Sequence[Call], call: Call) -> bool:
    """Whether something was done about it: the call again, until it succeeded, or a deed."""
    again = any(one.command == call.command and one.status == 0 for one in later)
    return again or any(one.actions for one in later)
