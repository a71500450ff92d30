"""An explanation: what was asked about, what it means, who says what, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gputui.facts.vendors import Verdict
from gputui.incidents.advice import ACTION_TEXTS, STOP_HOLDERS
from gputui.model import Action, Severity


@dataclass(frozen=True, slots=True)
class Explanation:
    """``about`` is what it is (``xid``, ``sxid``, ``text``, ``incident`` ...), ``title`` its name.

    ``details`` are what this very line adds, ``verdicts`` what the vendors make of it, ``source``
    where it is from. ``action_text`` is one imperative line, ``next_steps`` are commands to type.
    """

    about: str
    title: str
    meaning: str
    action: Action
    action_text: str
    source: str
    cause: str = ""
    severity: Severity | None = None
    details: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    disputed: bool = False
    next_steps: tuple[str, ...] = ()


def advice(action: Action) -> str:
    """What to do, in a line."""
    return ACTION_TEXTS[action]


def next_steps(action: Action) -> tuple[str, ...]:
    """Commands that show more, or do it.

    N stands for a GPU's index, NODE for a node's name, COMMAND for the application's.
    """
    return _STEPS.get(action, ())


_LOOK = "nvidia-smi -q -d ECC,ROW_REMAPPER,PERFORMANCE,TEMPERATURE -i N"
_HOLDERS = "fuser -v /dev/nvidia*"
_RESET = "nvidia-smi --gpu-reset -i N"
_DRAIN = 'scontrol update nodename=NODE state=drain reason="gpu"'
_EVIDENCE = "gputui bundle"

_STEPS: Mapping[Action, tuple[str, ...]] = {
    Action.RESTART_APP: ("CUDA_LAUNCH_BLOCKING=1 COMMAND", "compute-sanitizer COMMAND"),
    Action.RESET_GPU: (_LOOK, _HOLDERS, STOP_HOLDERS, _RESET),
    Action.DRAIN_AND_RESET: (_LOOK, _DRAIN, _HOLDERS, STOP_HOLDERS, _RESET),
    Action.RELOAD_DRIVER: (
        "fuser -v /dev/nvidia*",
        "modprobe -r nvidia_drm nvidia_modeset nvidia_uvm nvidia && modprobe nvidia",
    ),
    Action.REBOOT_NODE: (_EVIDENCE, _DRAIN, "systemctl reboot"),
    Action.POWER_CYCLE: (_EVIDENCE, _DRAIN, "lspci -d 10de:", "ipmitool chassis power cycle"),
    Action.REPLACE_GPU: (_EVIDENCE, _DRAIN, "dcgmi diag -r 3"),
    Action.CHECK_COOLING: ("nvidia-smi -q -d TEMPERATURE,PERFORMANCE", "ipmitool sdr type fan"),
    Action.CHECK_POWER: ("nvidia-smi -q -d POWER,PERFORMANCE", "ipmitool sel list"),
    Action.CHECK_LINK: ("nvidia-smi nvlink -s", "nvidia-smi nvlink -e", "lspci -vv -d 10de:"),
    Action.CHECK_NETWORK: ("ip -br addr", "ibstat", "gputui doctor --nodes LIST"),
    Action.CHECK_STORAGE: ("cat /proc/pressure/io", "iostat -x 1 3"),
    Action.CHECK_CONFIG: ("gputui doctor",),
    Action.FREE_MEMORY: ("nvidia-smi --query-compute-apps=pid,used_memory --format=csv",),
    Action.CONTACT_SUPPORT: ("nvidia-bug-report.sh", _EVIDENCE),
}
"""Commands of NVIDIA's and of the usual schedulers; a reset needs that nothing uses the GPU."""
