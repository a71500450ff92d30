"""``sinfo``: the nodes as Slurm's scheduler sees them."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.slurm import HostlistError, compress, expand, long_state, node_states, short_state
from fakes.world import World

_FLAGS = {
    "N": "Node", "h": "noheader", "R": "list-reasons", "l": "long", "a": "all", "e": "exact",
    "s": "summarize", "d": "dead", "r": "responding", "v": "verbose",
}  # fmt: skip
_VALUES = {
    "o": "format",
    "n": "nodes",
    "p": "partition",
    "t": "states",
    "O": "Format",
    "i": "iterate",
}
_FIELD = re.compile(r"%(?:\.)?(\d*)([A-Za-z%])")
_HEADS = {
    "N": "NODELIST", "n": "HOSTNAMES", "t": "STATE", "T": "STATE", "G": "GRES", "R": "PARTITION",
    "P": "PARTITION", "E": "REASON", "u": "USER", "H": "TIMESTAMP", "D": "NODES", "a": "AVAIL",
    "l": "TIMELIMIT", "c": "CPUS", "m": "MEMORY", "f": "AVAIL_FEATURES", "i": "NODES",
    "C": "CPUS(A/I/O/T)", "O": "CPU_LOAD", "o": "NODE_ADDR", "w": "WEIGHT",
}  # fmt: skip
_USUAL = "%9P %5a %10l %6D %6t %N"
_BY_NODE = "%10N %6D %9P %6t "
_REASONS = "%20E %9u %19H %N"


@command("sinfo", latency_us=20_000)
def main(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """Print a line a node, or a line for all that are alike."""
    try:
        options, _ = parse(argv, _FLAGS, _VALUES, ("json",), ("helpformat",))
        names = _names(options, world)
    except UnknownOptionError as error:
        err.write(f"sinfo: {error}\n")
        return NOT_UNDERSTOOD
    except HostlistError:
        err.write("sinfo: error: Invalid node list\n")
        return 1
    form = options.get("format")
    if form is None:
        reasons = "list-reasons" in options
        form = _REASONS if reasons else _BY_NODE if "Node" in options else _USUAL
    if unknown := [letter for _, letter in _FIELD.findall(form) if letter not in {*_HEADS, "%"}]:
        err.write(f"sinfo: %{unknown[0]}: this field is not known here\n")
        return NOT_UNDERSTOOD
    if "noheader" not in options:
        out.write(_filled(form, _HEADS) + "\n")
    rows: dict[str, list[str]] = {}
    for name in names:
        if "list-reasons" in options and not _why(world, name):
            continue
        fields = _fields(world, name)
        alike = "" if "Node" not in options else name
        key = alike + _filled(form, {**fields, "N": "", "n": ""})
        rows.setdefault(key, []).append(name)
    for members in rows.values():
        fields = _fields(world, members[0])
        together = {"N": compress(members), "n": compress(members), "D": str(len(members))}
        out.write(_filled(form, {**fields, **together}) + "\n")
    return 0


def _names(options: dict[str, str], world: World) -> list[str]:
    names = list(world.cluster.nodes)
    if "nodes" in options:
        wanted = expand(options["nodes"])
        names = [name for name in wanted if name in world.cluster.nodes]
    if "states" in options:
        states = {state.lower().rstrip("*") for state in options["states"].split(",")}
        names = [name for name in names if states & _all_words(world, name)]
    return names


def _all_words(world: World, name: str) -> set[str]:
    words = _states(world, name)
    found = {word.lower() for word in words}
    return found | {short_state(words).rstrip("*"), long_state(words).rstrip("*")}


def _states(world: World, name: str) -> list[str]:
    return node_states(world.cluster, name, is_up=world.nodes[name].is_up)


def _why(world: World, name: str) -> bool:
    node = world.cluster.nodes[name]
    return node.down is not None or node.drain is not None


def _fields(world: World, name: str) -> dict[str, str]:
    state, node = world.cluster.nodes[name], world.nodes[name]
    why = state.down or state.drain
    words = _states(world, name)
    kind = node.gpus[0].profile.name.split("-")[0].lower().replace("nvidia ", "").split()[0]
    moment = "Unknown"
    if why is not None:
        unix_s = node.epoch.unix_us(why.at_us) / 1e6
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(unix_s))
    return {
        "N": name, "n": name, "o": name, "t": short_state(words), "T": long_state(words),
        "G": f"gpu:{kind}:{len(node.gpus)}(S:0-1)", "R": "batch", "P": "batch*", "a": "up",
        "l": "infinite", "D": "1", "i": "1", "E": why.reason if why else "none",
        "u": why.user if why else "Unknown", "H": moment, "c": "192", "m": "2000000",
        "f": kind, "C": "0/192/0/192", "O": "1.00", "w": "1",
    }  # fmt: skip


def _filled(form: str, fields: dict[str, str]) -> str:
    def shown(found: re.Match[str]) -> str:
        if found[2] == "%":
            return "%"
        width = int(found[1] or 0)
        text = fields.get(found[2], "")
        cut = text[:width] if width else text
        return cut.rjust(width) if found[0].startswith("%.") else cut.ljust(width)

    return _FIELD.sub(shown, form).rstrip() if form.endswith(" ") else _FIELD.sub(shown, form)
