"""Verbs on the whole node: reboot, poweroff, halt, and targets to be in."""

from __future__ import annotations

from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD
from fakes.commands.systemctl.asked import Asked, Verb
from fakes.hardware.recovery import power_off, reboot
from fakes.node import Node
from fakes.world import World

_REBOOTS = ("reboot.target", "kexec.target", "runlevel6.target", "ctrl-alt-del.target")
_ENDS = ("poweroff.target", "halt.target", "runlevel0.target")


def _reboot(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    del asked, out, err
    reboot(world, node)
    return 0


def _power_off(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    del asked, out, err
    power_off(world, node)
    return 0


def _isolate(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Be in a target: those of reboot and power-off are what they say."""
    del out
    target = asked.words[0] if asked.words else ""
    target = target if target.endswith(".target") else f"{target}.target"
    if target in _REBOOTS:
        reboot(world, node)
    elif target in _ENDS:
        power_off(world, node)
    elif target not in ("multi-user.target", "graphical.target", "default.target"):
        err.write(f"systemctl: isolate {target}: this target is not known here\n")
        return NOT_UNDERSTOOD
    return 0


def _get_default(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    del asked, node, world, err
    out.write("multi-user.target\n")
    return 0


def _set_default(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Where to boot into: it makes no difference here."""
    del asked, node, world, out, err
    return 0


VERBS: dict[str, Verb] = {
    "reboot": _reboot,
    "kexec": _reboot,
    "soft-reboot": _reboot,
    "poweroff": _power_off,
    "halt": _power_off,
    "isolate": _isolate,
    "get-default": _get_default,
    "set-default": _set_default,
}
