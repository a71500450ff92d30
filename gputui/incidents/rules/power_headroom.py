"""GPUs that may together want more than their supply can give."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import INFO, WARNING, Finding, Subject, rule, samples
from gputui.model import Action, NodeSample

_RESERVE = 1.2
"""A fifth more than the sum of the limits: power goes above its limit for milliseconds, and the
rest of the node is fed as well (the rule of thumb of build guides: 8 x 300 W need 2.88 kW)."""


@rule(kind="PowerHeadroom", severity=WARNING, holds=samples(3), clears=samples(3))
def power_headroom(now: NodeSample, past: History) -> Iterator[Finding]:
    """The sum of the GPUs' power limits, and a fifth, against the supply that the config tells.

    A supply below the sum itself is a warning; one that merely leaves too little room is worth
    knowing. Where the config tells no supply, nothing is known.
    """
    supply_w = past.thresholds.power_supply_w
    limits_mw = [gpu.power_limit_mw for gpu in now.gpus if gpu.power_limit_mw is not None]
    if supply_w is None or not limits_mw:
        return
    limits_w = sum(limits_mw) / 1000
    if limits_w * _RESERVE <= supply_w:
        return
    each_w = supply_w / _RESERVE / len(limits_mw)
    yield Finding(
        Subject.of_node(now.host),
        cause="configuration",
        cause_text=f"limits of {_kw(limits_w)} kW on a supply of {_kw(supply_w)} kW",
        action=Action.CHECK_POWER,
        action_text=f"a larger supply, or nvidia-smi -pl {each_w:.0f}",
        evidence=(
            f"{len(limits_mw)} power limits: {_kw(limits_w)} kW, with a fifth in reserve "
            f"{_kw(limits_w * _RESERVE)} kW",
        ),
        severity=WARNING if limits_w > supply_w else INFO,
    )


def _kw(watts: float) -> str:
    return f"{watts / 1000:.2f}".rstrip("0").rstrip(".")
