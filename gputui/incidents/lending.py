"""What an incident takes over from those that hang under it: the driver's verdict, and the gravest.

A cause explains its consequences, and is never shown as milder than what the driver itself asks for
because of them. Xid 154 tells what the driver wants done now, whatever the codes before it stand
for. Of several Xids that one failure of a GPU gave, the gravest says what to do. Where no spare row
is left for bad memory, the GPU is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable

from gputui.incidents.advice import OF_THE_BOARD
from gputui.incidents.case import Advice, Case, own_advice
from gputui.incidents.verdict import RECOVERY_ACTION_CHANGED
from gputui.model import Action

_XIDS = "GpuXid"
_WORN_OUT = "RowRemapFailure"

_BEYOND_THE_DRIVER = OF_THE_BOARD - {Action.CHECK_LINK, Action.CONTACT_SUPPORT}
"""The driver has no word for these: a GPU that has to be replaced is not mended by its reset."""

_GOES_FURTHER = (
    Action.CHECK_LINK, Action.RESET_GPU, Action.DRAIN_AND_RESET, Action.REBOOT_NODE,
)  # fmt: skip
"""What the driver may ask for, from what ends least."""


def lent(case: Case, below: Iterable[Case]) -> Advice | None:
    """What a case is to be shown with in place of its own; None for its own.

    ``below`` are all open cases that hang under it, near and far.
    """
    own = own_advice(case)
    below = list(below)
    told = [one for one in below if one.rule.kind == _XIDS]
    verdicts = [own_advice(one) for one in told if _is_verdict(one)]
    advice = own
    if verdicts:
        asked = max(verdicts, key=lambda one: (one.severity, _reach(one.action), one.action_text))
        severity = max(asked.severity, own.severity)
        advice = (
            Advice(severity, own.action, own.action_text)
            if own.action in _BEYOND_THE_DRIVER
            else Advice(severity, asked.action, _text(own, asked))
        )
    elif told and not _is_verdict(case):
        whom = {case.finding.subject.name, *case.finding.others}
        of_it = [own_advice(one) for one in told if one.finding.subject.name in whom]
        gravest = max((own, *of_it), key=lambda one: one.severity)
        advice = Advice(gravest.severity, gravest.action, _text(own, gravest))
    if own.action not in _BEYOND_THE_DRIVER:
        worn_out = (own_advice(one) for one in below if _is_worn_out(one, case))
        advice = next(worn_out, advice)
    return None if advice == own else advice


def _text(own: Advice, asked: Advice) -> str:
    """The words for what is asked: its own, which name the GPU, if it says the same by itself."""
    return own.action_text if own.action is asked.action else asked.action_text


def _is_worn_out(one: Case, case: Case) -> bool:
    """Whether what hangs under a case says that its GPU has to be replaced: no reset mends that."""
    return (
        one.rule.kind == _WORN_OUT
        and one.finding.action is Action.REPLACE_GPU
        and one.finding.subject.name == case.finding.subject.name
        and own_advice(one).severity >= own_advice(case).severity
    )


def _is_verdict(case: Case) -> bool:
    """Whether it is what the driver itself asks for, in words that are known."""
    told = case.finding
    is_of_driver = case.rule.kind == _XIDS and told.key == str(RECOVERY_ACTION_CHANGED)
    return is_of_driver and told.action in _GOES_FURTHER


def _reach(action: Action) -> int:
    return _GOES_FURTHER.index(action) if action in _GOES_FURTHER else -1
