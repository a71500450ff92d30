"""``chassis`` and ``power``: on, off, and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fakes.hardware.recovery import power_cycle, power_off, power_on, reboot
from fakes.node import Node
from fakes.world import World

ACTS: Mapping[str, tuple[str, Callable[[World, Node], None]]] = {
    "cycle": ("Cycle", power_cycle),
    "reset": ("Reset", reboot),
    "off": ("Down/Off", power_off),
    "down": ("Down/Off", power_off),
    "soft": ("Soft", power_off),
    "on": ("Up/On", power_on),
    "up": ("Up/On", power_on),
}
"""What ``power`` can do: its word for it, and the deed."""

BOOT_DEVICES = ("none", "pxe", "disk", "safe", "diag", "cdrom", "bios", "floppy")


def status(node: Node) -> str:
    """``chassis status``."""
    failed = "true" if node.supply.capacity_mw is not None else "false"
    rows = (
        ("System Power", "on" if node.power.value != "off" else "off"),
        ("Power Overload", "true" if node.supply.is_overdrawn else "false"),
        ("Power Interlock", "inactive"),
        ("Main Power Fault", failed),
        ("Power Control Fault", "false"),
        ("Power Restore Policy", "always-on"),
        ("Last Power Event", ""),
        ("Chassis Intrusion", "inactive"),
        ("Front-Panel Lockout", "inactive"),
        ("Drive Fault", "false"),
        ("Cooling/Fan Fault", "false"),
    )
    return "".join(f"{label:<20} : {value}\n".replace(" \n", " \n") for label, value in rows)
