"""``service``, ``init`` and ``telinit``: System V's ways to act on services and on the node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.systemctl import main as systemctl
from fakes.hardware.recovery import power_off, reboot
from fakes.node import Node
from fakes.world import World

_ACTS = ("start", "stop", "restart", "reload", "status", "try-restart", "force-reload")


@command("service", latency_us=SECOND_US)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``service NAME ACT``, by way of systemctl, as Debian's script does."""
    if list(argv) == ["--status-all"]:
        for each in node.services:
            mark = "+" if each.is_active else "-"
            out.write(f" [ {mark} ]  {each.name.removesuffix('.service')}\n")
        return 0
    if len(argv) < 2:
        err.write("Usage: service < option > | --status-all | [ service_name [ command ] ]\n")
        return 1
    name, act = argv[0], argv[1]
    if act not in _ACTS:
        err.write(f"service: {act}: this action is not known here\n")
        return NOT_UNDERSTOOD
    act = "restart" if act == "force-reload" else act
    return systemctl([act, f"{name.removesuffix('.service')}.service"], node, world, out, err)


@command("init", "telinit", latency_us=SECOND_US // 10)
def init(argv: Sequence[str], node: Node, world: World, err: TextIO) -> int:
    """Change the runlevel: 0 is off, 6 is a reboot; others make no difference."""
    level = next((word for word in argv if not word.startswith("-")), "")
    if level == "6":
        reboot(world, node)
    elif level == "0":
        power_off(world, node)
    elif level not in ("1", "2", "3", "4", "5", "s", "S", "q", "Q", "u", "U"):
        err.write(f"init: {level}: this runlevel is not known here\n")
        return NOT_UNDERSTOOD
    return 0


@command("runlevel", latency_us=SECOND_US // 100)
def runlevel(out: TextIO) -> int:
    """The runlevel before, and that of now."""
    out.write("N 5\n")
    return 0
