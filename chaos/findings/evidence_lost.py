"""The script destroyed what would have told why, before anybody kept it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.finding import Finding, finding
from chaos.journal import Record
from chaos.judging.script import Call, ScriptRun

_DESTROYS = frozenset({"reset_gpu", "reboot", "power_cycle", "power_off", "unload_module"})
"""What ends the state of a GPU or of its driver, counters and records included."""

_READS_LOG = frozenset({"dmesg", "journalctl"})
_KEEPS = frozenset({"nvidia-bug-report.sh", "sosreport", "sos"})


@finding("evidence-lost")
def evidence_lost(runs: Sequence[ScriptRun], start: Record) -> Iterator[Finding]:
    """Before a reset or a reboot the kernel's log is kept, and what the GPU says of itself."""
    del start
    for run in runs:
        told: set[str] = set()
        before: list[Call] = []
        for call in run.calls:
            for action in call.actions:
                effect = str(action.facts["action"])
                if effect not in _DESTROYS or not action.facts.get("ok", True) or effect in told:
                    continue
                missing = _missing(before)
                if missing:
                    told.add(effect)
                    yield Finding(
                        f"{effect} before anybody had kept {missing}: why it was needed is not "
                        "known afterwards",
                        action.number,
                        action.at_us,
                    )
            before.append(call)


def _missing(before: Sequence[Call]) -> str:
    """What of the evidence nobody has read yet."""
    if any(call.program in _KEEPS for call in before):
        return ""
    log = any(call.program in _READS_LOG for call in before)
    state = any(
        call.program == "nvidia-smi"
        and any(word == "-q" or word.startswith("--query-gpu") for word in call.command)
        for call in before
    )
    wanted = [] if log else ["the kernel's log (dmesg, journalctl)"]
    wanted += [] if state else ["the GPU's state (nvidia-smi -q)"]
    return " and ".join(wanted)
