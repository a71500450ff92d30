"""What to do, in words: one imperative line for each action of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from gputui.model import Action, GpuSample

HELD_BY = "nvidia-dcgm, dcgm-exporter, nvidia-persistenced"
"""Services that keep a GPU open: its reset is refused as "In use by another client" until they let
go (nvidia-smi(1))."""

STOP_HOLDERS = "systemctl stop nvidia-dcgm dcgm-exporter nvidia-persistenced"

ACTION_TEXTS: Mapping[Action, str] = {
    Action.IGNORE: "nothing to do",
    Action.RESTART_APP: "restart the application",
    Action.RESET_GPU: f"stop its processes and what holds it ({HELD_BY}), reset the GPU",
    Action.RELOAD_DRIVER: "stop all GPU processes, reload the driver",
    Action.REBOOT_NODE: "drain, reboot the node",
    Action.POWER_CYCLE: "drain, power-cycle the node",
    Action.DRAIN_AND_RESET: f"drain, stop what holds the GPU ({HELD_BY}), reset it",
    Action.REPLACE_GPU: "drain, have the GPU replaced",
    Action.CHECK_COOLING: "check cooling",
    Action.CHECK_POWER: "check power cables and supply",
    Action.CHECK_LINK: "check the links (nvidia-smi nvlink -s)",
    Action.CHECK_NETWORK: "check the network",
    Action.CHECK_STORAGE: "check the storage",
    Action.CHECK_CONFIG: "check the configuration",
    Action.FREE_MEMORY: "free GPU memory",
    Action.CONTACT_SUPPORT: "collect nvidia-bug-report.sh, contact support",
}


OF_THE_BOARD = frozenset(
    {
        Action.POWER_CYCLE,
        Action.REPLACE_GPU,
        Action.CHECK_COOLING,
        Action.CHECK_POWER,
        Action.CHECK_LINK,
        Action.CONTACT_SUPPORT,
    }
)
"""What somebody with a screwdriver, or with a ticket, does to one board of several."""


def board(gpu: GpuSample | None) -> str:
    """Which board it is: its serial number, slot and address, as far as they are known."""
    if gpu is None:
        return ""
    known = (("serial", gpu.serial), ("slot", gpu.slot), ("PCI", gpu.bus_id))
    return ", ".join(f"{name} {value}" for name, value in known if value)


def of_board(gpu: GpuSample | None) -> str:
    """The same, to stand behind the word for the board: in brackets, empty if nothing is known."""
    known = board(gpu)
    return f" ({known})" if known else ""
