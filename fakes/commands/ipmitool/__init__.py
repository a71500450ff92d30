"""``ipmitool``: a node's service processor: its power, sensors, event log and inventory.

Without ``-H`` it is this node's own, by way of the kernel; with it that of any node, by the name
``n3-bmc`` or ``bmc-n3`` or its address. It answers also while the node is off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TextIO

from fakes.commands.ipmitool import inventory, power, sel, sensors
from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.machine import identity
from fakes.world import World

_FLAGS = {"v": "verbose", "c": "csv", "E": "environment", "K": "kgkey", "V": "version", "h": "help"}
_VALUES = {
    "H": "host", "U": "user", "P": "password", "I": "interface", "f": "file", "L": "level",
    "p": "port", "R": "retries", "C": "cipher", "N": "timeout", "o": "oem", "e": "escape",
    "k": "key", "t": "target", "b": "channel", "d": "device",
}  # fmt: skip
_NAMES = re.compile(r"(?:(?:bmc|ipmi|ilo|idrac|oob)[-.])?(.+?)(?:[-.](?:bmc|ipmi|ilo|idrac|oob))?$")
_VERSION = "ipmitool version 1.8.18\n"
_UNREACHABLE = "Error: Unable to establish IPMI v2 / RMCP+ session\n"


@command("ipmitool", latency_us=300_000)
def main(
    argv: Sequence[str],
    node: Node,
    world: World,
    out: TextIO,
    err: TextIO,
    env: Mapping[str, str],
    is_privileged: bool,
) -> int:
    """Do it, on this node or on the one whose service processor ``-H`` names."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as error:
        err.write(f"ipmitool: {error}\n")
        return NOT_UNDERSTOOD
    if "version" in options or words == ["version"]:
        out.write(_VERSION)
        return 0
    if not words:
        err.write("No command provided!\n")
        return 1
    if "host" in options:
        target = _target(options["host"], world)
        if "environment" in options and not {"IPMI_PASSWORD", "IPMITOOL_PASSWORD"} & set(env):
            err.write("Unable to read password from environment\n")
            return 1
        if target is None:
            err.write(f"Address lookup for {options['host']} failed\n{_UNREACHABLE}")
            return 1
        node = target
    elif not is_privileged:
        err.write("Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: ")
        err.write("Permission denied\n")
        return 1
    if words[0] == "power":
        words = ["chassis", *words]
    return _do(words, node, world, out, err)


def _target(host: str, world: World) -> Node | None:
    """The node whose service processor has a name or an address."""
    found = _NAMES.match(host)
    name = found[1] if found else host
    if name in world.nodes:
        return world.nodes[name]
    return next(
        (each for each in world.nodes.values() if inventory.bmc_address(each.name) == host), None
    )


def _do(words: list[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    match words:
        case ["chassis", "power", "status"]:
            out.write(f"Chassis Power is {'off' if node.power.value == 'off' else 'on'}\n")
        case ["chassis", "power", act] if act in power.ACTS:
            word, deed = power.ACTS[act]
            out.write(f"Chassis Power Control: {word}\n")
            deed(world, node)
        case ["chassis", "power", act]:
            err.write(f"Invalid chassis power command: {act}\n")
            return 1
        case ["chassis", "status"]:
            out.write(power.status(node))
        case ["chassis", "bootdev", device, *_] if device in power.BOOT_DEVICES:
            node.bmc.boot_device = device
            out.write(f"Set Boot Device to {device}\n")
        case ["chassis", "identify", *interval]:
            out.write(f"Chassis identify interval: {interval[0] if interval else 'default'}\n")
        case ["sel", *rest]:
            return _sel(rest, node, world, out, err)
        case ["sdr" | "sensor", *_]:
            return _sensors(words, node, world, out, err)
        case ["fru", *rest] if rest[:1] in ([], ["print"], ["list"]):
            out.write(inventory.fru(node))
        case ["mc" | "bmc", "info"]:
            out.write(inventory.controller())
        case ["mc" | "bmc", "reset", "cold" | "warm" as how]:
            out.write(f"Sent {how} reset command to MC\n")
        case ["mc" | "bmc", "guid"]:
            out.write(f"System GUID  : {identity(node.name).uuid}\n")
        case ["lan", "print", *_]:
            out.write(inventory.lan(node))
        case ["dcmi", "power", "reading"]:
            out.write(inventory.power_reading(node, world.now_us))
        case ["raw", netfn, order, *_]:
            err.write(f"Unable to send RAW command (channel=0x0 netfn={netfn} lun=0x0 ")
            err.write(f"cmd={order} rsp=0xc1): Invalid command\n")
            return 1
        case _:
            err.write(f"ipmitool: {' '.join(words)}: this is not known here\n")
            return NOT_UNDERSTOOD
    return 0


def _sel(words: list[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    match words:
        case [] | ["info"]:
            out.write(sel.information(node))
        case ["list" | "elist" as how]:
            out.write(sel.listing(node, extended=how == "elist"))
        case ["list" | "elist" as how, "last", count] if count.isdecimal():
            out.write(sel.listing(node, extended=how == "elist", last=int(count)))
        case ["list" | "elist" as how, "first", count] if count.isdecimal():
            out.write(sel.listing(node, extended=how == "elist", first=int(count)))
        case ["list" | "elist" as how, count] if count.isdecimal():
            out.write(sel.listing(node, extended=how == "elist", first=int(count)))
        case ["clear"]:
            node.bmc.clear(world.now_us)
            out.write("Clearing SEL.  Please allow a few seconds to erase.\n")
        case ["time", "get"]:
            out.write(f"{sel.stamp(node, world.now_us)}\n")
        case _:
            err.write(f"ipmitool: sel {' '.join(words)}: this is not known here\n")
            return NOT_UNDERSTOOD
    return 0


def _sensors(words: list[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    found = sensors.sensors(node, world.now_us)
    match words:
        case ["sdr"] | ["sdr", "list"] | ["sdr", "list", "all" | "full" | "compact"]:
            out.write(sensors.listing(found))
        case ["sdr", "elist", *_]:
            out.write(sensors.extended(found))
        case ["sdr", "type"] | ["sdr", "type", "list"]:
            out.write("Sensor Types:\n")
            out.writelines(f"\t{kind}\n" for kind in dict.fromkeys(one.kind for one in found))
        case ["sdr", "type", kind]:
            wanted = kind.lower()
            out.write(sensors.extended([one for one in found if one.kind.lower() == wanted]))
        case ["sensor"] | ["sensor", "list"]:
            out.write(sensors.table(found))
        case ["sdr" | "sensor", "get" | "reading" as how, *names]:
            for name in names:
                one = next((each for each in found if each.name == name), None)
                if one is None:
                    out.write(f"Unable to find sensor id '{name}'\n")
                    return 1
                value = "na" if one.value is None else f"{one.value:g}"
                out.write(sensors.one(one) if how == "get" else f"{one.name:<16} | {value}\n")
        case _:
            err.write(f"ipmitool: {' '.join(words)}: this is not known here\n")
            return NOT_UNDERSTOOD
    return 0
