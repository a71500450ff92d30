"""The driver's own verdict on a GPU: it outranks whatever is said of a code.

It comes as a reading (the recovery action, nvmlDeviceGetFieldValues, field 230), as Xid 154, which
tells that the action changed, and as words at the end of other Xids ("RST: Yes, D-RST: No").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, RecoveryAction, Severity

RECOVERY_ACTION_CHANGED = 154

_NEW_ACTION = re.compile(r"changed from 0x\w+ \([^)]*\) to 0x\w+ \((?P<name>[^)]*)\)")
_RESET_WORDS = re.compile(r"\bRST: (?P<reset>Yes|No), D-RST: (?P<drain>Yes|No)")

_BY_NAME = {
    "None": Action.IGNORE,
    "GPU Reset Required": Action.RESET_GPU,
    "Node Reboot Required": Action.REBOOT_NODE,
    "Drain P2P": Action.DRAIN_AND_RESET,
    "Drain and Reset": Action.DRAIN_AND_RESET,
    "Recover IMEX Domain": Action.CHECK_LINK,
}
"""The driver's names of NVML's recovery actions."""

_BY_NUMBER = {
    RecoveryAction.GPU_RESET: Action.RESET_GPU,
    RecoveryAction.NODE_REBOOT: Action.REBOOT_NODE,
    RecoveryAction.DRAIN_P2P: Action.DRAIN_AND_RESET,
    RecoveryAction.DRAIN_AND_RESET: Action.DRAIN_AND_RESET,
    RecoveryAction.RECOVER_IMEX_DOMAIN: Action.CHECK_LINK,
    RecoveryAction.BUS_RESET: Action.RESET_GPU,
    RecoveryAction.SYSTEM_REBOOT: Action.REBOOT_NODE,
}


def said_in(event: KernelEvent) -> Action | None:
    """What the driver asks for in a line; IGNORE where it takes back what it had asked for."""
    if event.code == RECOVERY_ACTION_CHANGED:
        changed = _NEW_ACTION.search(event.detail)
        return _BY_NAME.get(changed["name"]) if changed else None
    stated = _RESET_WORDS.search(event.detail) if "D-RST: " in event.detail else None
    if stated is None:
        return None
    if stated["reset"] == "Yes":
        return Action.RESET_GPU
    return Action.DRAIN_AND_RESET if stated["drain"] == "Yes" else Action.RESTART_APP


def read_in(gpu: GpuSample) -> Action | None:
    """What the driver asks for by the reading; None for nothing, or what nobody knows."""
    try:
        return _BY_NUMBER.get(RecoveryAction(gpu.recovery_action or 0))
    except ValueError:
        return None


def verdict(gpu: GpuSample | None, told: Sequence[KernelEvent]) -> Action | None:
    """What the driver wants done: by the reading, else by the last line that says so."""
    asked = None if gpu is None else read_in(gpu)
    if asked is not None:
        return asked
    said = map(said_in, reversed(told))
    return next((action for action in said if action is not None), None)


def severity_of(action: Action) -> Severity:
    """To ignore is information, to restart the application a warning, a reset is grave."""
    if action is Action.IGNORE:
        return Severity.INFO
    return Severity.WARNING if action is Action.RESTART_APP else Severity.CRITICAL
