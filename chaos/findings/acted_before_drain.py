"""The script acted on a node that could still be given work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chaos.finding import Finding, finding
from chaos.journal import Record
from chaos.judging.script import ScriptRun

_DRAINS = frozenset({"drain", "cordon", "down"})
_DISTURBS = frozenset(
    {"reset_gpu", "reboot", "power_cycle", "power_off", "unload_module", "kill", "set_mig"}
)
"""What no job on the node lives through."""


@finding("acted-before-drain")
def acted_before_drain(runs: Sequence[ScriptRun], start: Record) -> Iterator[Finding]:
    """Where a scheduler places jobs, a node is drained before it is disturbed."""
    if not start.facts.get("scheduler"):
        return
    drained: set[str] = set()
    told: set[tuple[str, str]] = set()
    for run in runs:
        for action in run.actions:
            effect, node = str(action.facts["action"]), str(action.facts.get("node"))
            if effect in _DRAINS:
                drained.add(node)
            elif effect in ("resume", "uncordon"):
                drained.discard(node)
            elif effect in _DISTURBS and node not in drained and (node, effect) not in told:
                told.add((node, effect))
                yield Finding(
                    f"{effect} on {node} before the node was drained: the scheduler may place a "
                    "job there meanwhile",
                    action.number,
                    action.at_us,
                )
