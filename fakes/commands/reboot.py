"""``reboot``, ``shutdown``, ``poweroff``: the node goes down, and with reboot comes up again.

In every spelling that systemd's take: options that only say how politely are taken and ignored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.hardware.recovery import power_off, reboot
from fakes.node import Node
from fakes.world import World

_POLITE = frozenset({"-f", "--force", "-ff", "-n", "--no-sync", "-w", "--wtmp-only", "-d", "-q"})
_MINUTES = re.compile(r"\+?(\d+)")


@command("reboot", latency_us=100_000)
def main(argv: Sequence[str], node: Node, world: World, err: TextIO) -> int:
    """Start the node anew."""
    return _now("reboot", argv, err, lambda: reboot(world, node))


@command("poweroff", latency_us=100_000)
def poweroff(argv: Sequence[str], node: Node, world: World, err: TextIO) -> int:
    """Turn the node off."""
    return _now("poweroff", argv, err, lambda: power_off(world, node))


@command("halt", latency_us=100_000)
def halt(argv: Sequence[str], node: Node, world: World, err: TextIO) -> int:
    """Stop the node: to whoever looks from outside it is off."""
    return _now("halt", argv, err, lambda: power_off(world, node))


@command("shutdown", latency_us=100_000)
def shutdown(argv: Sequence[str], node: Node, world: World, err: TextIO) -> int:
    """Turn the node off, or with ``-r`` start it anew: now, or in so many minutes (one if not
    said). It does not wait for that; ``-c`` takes it back, as another shutdown does.
    """
    again = False
    minutes = 1
    for word in argv:
        if word in ("-r", "--reboot"):
            again = True
        elif word == "now":
            minutes = 0
        elif found := _MINUTES.fullmatch(word):
            minutes = int(found[1])
        elif word == "-c":
            node.planned_shutdown = None
            return 0
        elif word.startswith("-") and word not in (*_POLITE, "-h", "-P", "-H", "--poweroff"):
            err.write(f"shutdown: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    act = partial(reboot if again else power_off, world, node)
    if not minutes:
        act()
        return 0
    plan = object()
    node.planned_shutdown = plan
    boots = node.boots

    def go_down() -> None:
        if node.planned_shutdown is plan and node.boots == boots:
            act()

    world.schedule(world.now_us + minutes * 60_000_000, f"{node.name}/shutdown", go_down)
    return 0


def _now(name: str, argv: Sequence[str], err: TextIO, act: Callable[[], None]) -> int:
    for word in argv:
        if word not in (*_POLITE, "-h", "now"):
            err.write(f"{name}: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    act()
    return 0
