"""``ipmitool``: the power of the node, by its service processor, and what that has noted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.recovery import power_cycle, power_off, power_on, reboot
from fakes.world import World

_FLAGS = {"v": "verbose", "c": "csv", "E": "environment", "N": "retry"}
_VALUES = {
    "H": "host", "U": "user", "P": "password", "I": "interface", "f": "file", "L": "level",
    "p": "port", "R": "retries", "C": "cipher",
}  # fmt: skip


@command("ipmitool", latency_us=300_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Do it, on this node or on the one whose service processor ``-H`` names."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as error:
        err.write(f"ipmitool: {error}\n")
        return NOT_UNDERSTOOD
    host = options.get("host")
    if host is not None:
        name = host.removesuffix("-bmc").removesuffix("-ipmi").removesuffix("-ilo")
        if name not in world.nodes:
            err.write(f"Address lookup for {host} failed\n")
            err.write("Error: Unable to establish IPMI v2 / RMCP+ session\n")
            return 1
        node = world.nodes[name]
    if words[:1] == ["power"]:
        words = ["chassis", *words]
    match words:
        case ["chassis", "power", act]:
            return _power(act, node, world, out, err)
        case ["chassis", "status"]:
            out.write(f"System Power         : {'on' if node.is_up else 'off'}\n")
            return 0
        case ["sel", "list" | "elist"]:
            out.write("SEL has no entries\n")
            return 0
        case ["sel", "clear"]:
            out.write("Clearing SEL.  Please allow a few seconds to erase.\n")
            return 0
        case ["sdr", *_] | ["sensor", *_]:
            out.write(f"{'Inlet Temp':16} | {node.inlet_c:.0f} degrees C      | ok\n")
            return 0
        case _:
            err.write(f"ipmitool: {' '.join(words)}: this is not known here\n")
            return NOT_UNDERSTOOD


def _power(act: str, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    match act:
        case "status":
            out.write(f"Chassis Power is {'on' if node.is_up else 'off'}\n")
        case "cycle":
            out.write("Chassis Power Control: Cycle\n")
            power_cycle(world, node)
        case "reset":
            out.write("Chassis Power Control: Reset\n")
            reboot(world, node)
        case "off" | "soft":
            out.write(f"Chassis Power Control: {'Down/Off' if act == 'off' else 'Soft'}\n")
            power_off(world, node)
        case "on":
            out.write("Chassis Power Control: Up/On\n")
            power_on(world, node)
        case _:
            err.write(f"ipmitool: power {act}: this is not known here\n")
            return NOT_UNDERSTOOD
    return 0
