"""What to do about a GPU, in words, with the command that does it."""

from __future__ import annotations

from gputui.incidents.advice import STOP_HOLDERS
from gputui.incidents.rule import Subject
from gputui.model import Action

_RESET = f"{STOP_HOLDERS}, then nvidia-smi --gpu-reset -i {{gpu}}"

_STEPS = {
    Action.RESTART_APP: f"restart the job; at the next drain {_RESET}",
    Action.RESET_GPU: f"stop its processes, {_RESET}",
    Action.DRAIN_AND_RESET: f"drain the node, {_RESET}",
    Action.RELOAD_DRIVER: "drain, then modprobe -r nvidia_uvm nvidia && modprobe nvidia",
    Action.REBOOT_NODE: "drain, then systemctl reboot",
    Action.REPLACE_GPU: "drain, run nvidia-bug-report.sh and field diagnostics, replace it",
    Action.CHECK_LINK: "recover the IMEX domain: systemctl restart nvidia-imex on all its nodes, "
    "then nvidia-imex-ctl -N",
}


def steps(action: Action, subject: Subject) -> str:
    """The line for an action on a GPU: by its index, or its address where that is not known."""
    which = subject.name.removeprefix("gpu:") if subject.gpu is None else str(subject.gpu)
    return _STEPS[action].format(gpu=which)
