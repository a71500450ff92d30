"""``sinfo``: the nodes as Slurm's scheduler sees them (sinfo(1))."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import command
from fakes.slurm.as_json import sinfo_object
from fakes.slurm.client import AnsweredError, Options, asked
from fakes.slurm.forms import Form, UnknownFieldError, long_form, short_form
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.nodes import (
    NODE_FIELDS,
    NODE_LONG_FIELDS,
    NodeGroup,
    every_node_field,
)
from fakes.slurm.states import (
    PARTITION,
    heading_date,
    state_order,
    states_of,
)
from fakes.world import World

_OPTIONS = Options(
    flags={
        "N": "Node", "h": "noheader", "R": "list-reasons", "l": "long", "a": "all", "e": "exact",
        "s": "summarize", "d": "dead", "r": "responding", "v": "verbose", "V": "version",
        "T": "reservation",
    },
    values={
        "o": "format", "n": "nodes", "p": "partition", "t": "states", "O": "Format",
        "i": "iterate", "S": "sort", "M": "clusters",
    },
    long_flags=("hide", "local", "federation", "noconvert", "future"),
    long_optional=("json", "yaml"),
)  # fmt: skip

_USUAL = "%9P %.5a %.10l %.6D %.6t %N"
_LONG = "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
_BY_NODE = "%10N %.5D %.9P %6t "
_BY_NODE_LONG = "%10N %.5D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
_SUMMARY = "%9P %.5a %.10l %.16F %N"
_REASONS = "%20E %9u %19H %N"
_REASONS_LONG = "%20E %12U %19H %6t %N"

_BASE_STATES = {
    "idle": "IDLE", "alloc": "ALLOCATED", "allocated": "ALLOCATED", "mix": "MIXED",
    "mixed": "MIXED", "down": "DOWN",
}  # fmt: skip
_FLAG_STATES = {
    "drain": "DRAIN", "fail": "FAIL", "no_respond": "NOT_RESPONDING", "noresp": "NOT_RESPONDING",
    "maint": "MAINTENANCE", "resv": "RESERVED", "reserved": "RESERVED",
}  # fmt: skip
_NEVER = frozenset(
    {
        "unk", "unknown", "comp", "completing", "future", "cloud", "npc", "perfctrs", "planned",
        "power_down", "power_up", "powered_down", "powering_down", "powering_up", "pow_dn",
        "pow_up", "inval", "blocked",
    }
)  # fmt: skip
_VALID = (
    "unknown,down,idle,allocated,?,mixed,future,drain,drained,draining,no_respond,reserved,"
    "perfctrs,cloud,completing,powering_down,powered_down,power_down,powering_up,fail,maint,"
    "reboot,reboot^,unknown"
)


class _BadStateError(Exception):
    """A state that there is not."""


@command("sinfo", latency_us=20_000)
def main(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """Print a line a node, or a line for all that are alike."""
    try:
        options, _ = asked("sinfo", _OPTIONS, argv, world, out, err, fails="slurm_load_partitions")
    except AnsweredError as error:
        return error.status
    try:
        names = _names(options, world)
    except _BadStateError as error:
        err.write(f'sinfo: error: Bad state string: "{error}"\n')
        err.write(f"sinfo: error: valid states: {_VALID}\n")
        return 1
    except HostlistError:
        err.write(f"sinfo: error: Invalid node list: {options['nodes']}\n")
        return 1
    if "json" in options:
        out.write(json.dumps(sinfo_object(world, names), indent=2) + "\n")
        return 0
    form = _form(options, err)
    if form is None:
        out.write("\n\n")
        return 0
    if "noheader" not in options:
        if "long" in options and not {"format", "Format"} & options.keys():
            out.write(heading_date(world) + "\n")
        out.write(form.heading + "\n")
    out.writelines(form.line(group) + "\n" for group in _groups(options, world, names, form))
    return 0


def _form(options: dict[str, str], err: TextIO) -> Form[NodeGroup] | None:
    """How it is to be printed; None if there is no such field."""
    if "Format" in options:
        if options["Format"].lower() == "all":
            return every_node_field()
        try:
            return long_form(options["Format"], NODE_LONG_FIELDS)
        except UnknownFieldError as error:
            err.write(f"sinfo: error: Invalid job format specification: {error}\n")
            return None
    text, is_long = options.get("format"), "long" in options
    if text == "%all":
        return every_node_field()
    if text is None and "list-reasons" in options:
        text = _REASONS_LONG if is_long else _REASONS
    elif text is None and "Node" in options:
        text = _BY_NODE_LONG if is_long else _BY_NODE
    elif text is None:
        text = _SUMMARY if "summarize" in options else _LONG if is_long else _USUAL
    form, unknown = short_form(text, NODE_FIELDS)
    for letter in unknown:
        err.write(f"Invalid node format specification: {letter}\n")
    return form


def _groups(
    options: dict[str, str], world: World, names: Sequence[str], form: Form[NodeGroup]
) -> list[NodeGroup]:
    """Nodes that give the same line go together, unless each is to have its own."""
    if not names:
        asked = {"nodes", "states"} & options.keys() and _is_partition(options)
        by_group = not {"Node", "list-reasons"} & options.keys()
        return [NodeGroup(world, ())] if asked and by_group else []
    if "Node" in options:
        return [NodeGroup(world, (name,)) for name in names]
    lists = {NODE_FIELDS[letter].heading for letter in "NnoDeOACF"}
    rest = [column.field for column in form.columns if column.field.heading not in lists]
    found: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(names, key=lambda name: -state_order(states_of(world, name))):
        group = NodeGroup(world, (name,))
        key = tuple(field.text(group) for field in rest)
        found.setdefault(key, []).append(name)
    order = list(world.cluster.nodes)
    return [NodeGroup(world, tuple(sorted(group, key=order.index))) for group in found.values()]


def _is_partition(options: dict[str, str]) -> bool:
    """Whether the one partition that there is was meant."""
    return PARTITION in options.get("partition", PARTITION).split(",")


def _names(options: dict[str, str], world: World) -> list[str]:
    names = list(world.cluster.nodes)
    if "nodes" in options:
        wanted = set(expand(options["nodes"]))
        names = [name for name in names if name in wanted]
    if not _is_partition(options):
        return []
    if "list-reasons" in options:
        names = [name for name in names if world.cluster.nodes[name].why is not None]
    if {"dead", "responding"} & options.keys():
        dead = "dead" in options
        names = [name for name in names if dead is not world.nodes[name].is_up]
    if "states" in options:
        for state in options["states"].lower().replace("&", ",").split(","):
            _has(["IDLE"], state)  # every one is looked at, whatever there is
        names = [
            name for name in names if _is_in(states_of(world, name), options["states"].lower())
        ]
    return names


def _is_in(words: list[str], wanted: str) -> bool:
    """Whether a node is in one of the states (``drain,down``), or in all of those with ``&``."""
    joined, both = ("&", all) if "&" in wanted else (",", any)
    return both(_has(words, state) for state in wanted.split(joined))


def _has(words: list[str], state: str) -> bool:
    state = state.rstrip("*~#!%$@^-+") or state
    busy = words[0] in ("ALLOCATED", "MIXED")
    if state == "all":
        return True
    if state in _BASE_STATES:
        return words[0] == _BASE_STATES[state]
    if state in _FLAG_STATES:
        return _FLAG_STATES[state] in words
    if state in ("drained", "draining", "drng"):
        return "DRAIN" in words and busy is (state != "drained")
    if state in ("failing", "failg"):
        return "FAIL" in words and busy
    if state in ("boot", "reboot"):
        return bool({"REBOOT_ISSUED", "REBOOT_REQUESTED"} & set(words))
    if state in _NEVER:
        return False
    raise _BadStateError(state)
