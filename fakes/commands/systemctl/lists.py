"""Verbs that list: list-units, list-unit-files, list-dependencies, list-jobs and the like."""

from __future__ import annotations

from typing import TextIO

from fakes.commands.systemctl.asked import Asked, Verb, matching
from fakes.node import Node
from fakes.system.services import Service, State, UnknownUnitError
from fakes.system.units import full_name
from fakes.world import World

_LEGEND = (
    "LOAD   = Reflects whether the unit definition was properly loaded.\n"
    "ACTIVE = The high-level unit activation state, i.e. generalization of SUB.\n"
    "SUB    = The low-level unit activation state, values depend on unit type.\n"
)


def _has_legend(asked: Asked) -> bool:
    legend = asked.options.get("legend", "true")
    return "no-legend" not in asked.options and legend not in ("false", "no", "0")


def _kinds(asked: Asked) -> tuple[str, ...]:
    kinds = asked.options.get("type", "")
    return tuple(f".{kind}" for kind in kinds.split(",") if kind)


def _chosen(asked: Asked, node: Node) -> list[Service]:
    """The units that are to be listed: by pattern, type and state."""
    states = [word for word in asked.options.get("state", "").split(",") if word]
    if "failed" in asked.options or asked.verb == "--failed":
        states.append("failed")
    kinds = _kinds(asked)
    found = []
    for service in matching(node.services, asked.words):
        words = {service.state.value, service.sub_state, "loaded", service.enabled}
        if kinds and not service.name.endswith(kinds):
            continue
        if states and not words & set(states):
            continue
        idle = service.state is State.INACTIVE
        if not states and idle and "all" not in asked.options and not asked.words:
            continue
        found.append(service)
    return found


def _list_units(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """A unit a line, with a dot before those that have failed."""
    del world, err
    found = _chosen(asked, node)
    plain = "plain" in asked.options
    rows = [
        (
            service.name,
            "masked" if service.enabled == "masked" else "loaded",
            service.state.value,
            service.sub_state,
            service.unit.description,
        )
        for service in found
    ]
    head = ("UNIT", "LOAD", "ACTIVE", "SUB", "DESCRIPTION")
    legend = _has_legend(asked)
    shown = [head, *rows] if legend and rows else rows
    widths = [max((len(row[at]) for row in shown), default=0) for at in range(4)]
    for row in shown:
        dot = "●" if row[2] == "failed" else " "
        cells = " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        mark = "" if plain else f"{dot} "
        out.write(f"{mark}{cells} {row[4]}\n")
    if legend:
        out.write(f"\n{_LEGEND}\n" if rows else "")
        out.write(f"{len(rows)} loaded units listed.")
        if "all" not in asked.options:
            out.write(" Pass --all to see loaded but inactive units, too.\n")
            out.write("To show all installed unit files use 'systemctl list-unit-files'.\n")
        else:
            out.write("\nTo show all installed unit files use 'systemctl list-unit-files'.\n")
    return 0


def _list_unit_files(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """A unit file a line; where a pattern finds none, 1."""
    del world, err
    states = [word for word in asked.options.get("state", "").split(",") if word]
    kinds = _kinds(asked)
    rows = [
        (name, service.enabled if name == service.name else "alias", "enabled")
        for service in matching(node.services, asked.words)
        for name in (service.name, *service.unit.aliases)
        if (not kinds or name.endswith(kinds)) and (not states or service.enabled in states)
    ]
    if asked.words:
        wanted = {full_name(word) for word in asked.words if "*" not in word}
        rows = [row for row in rows if not wanted or row[0] in wanted]
    rows.sort()
    head = ("UNIT FILE", "STATE", "VENDOR PRESET")
    legend = _has_legend(asked)
    shown = [head, *rows] if legend else rows
    widths = [max((len(row[at]) for row in shown), default=0) for at in range(2)]
    for name, state, preset in shown:
        out.write(f"{name.ljust(widths[0])} {state.ljust(widths[1])} {preset}\n")
    if legend:
        out.write(f"\n{len(rows)} unit files listed.\n")
    return 0 if rows or not asked.words else 1


def _list_dependencies(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """What a unit comes after, as a tree."""
    del world
    name = asked.words[0] if asked.words else "multi-user.target"
    try:
        service = node.services.find(name)
    except UnknownUnitError:
        err.write(f"Unit {full_name(name)} could not be found.\n")
        return 1
    out.write(f"{service.name}\n")
    if service.name == "multi-user.target":
        needed = [
            one.name for one in node.services if one.enabled == "enabled" and one is not service
        ]
    else:
        needed = [*service.unit.after, "system.slice", "sysinit.target"]
    for number, each in enumerate(needed):
        mark = "└─" if number == len(needed) - 1 else "├─"
        known = each.endswith((".slice", ".target")) or node.services.is_active(each)
        out.write(f"{'●' if known else '○'} {mark}{each}\n")
    return 0


def _list_jobs(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """None: jobs are over when the call returns."""
    del asked, node, world, err
    out.write("No jobs running.\n")
    return 0


def _list_nothing(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Of timers and sockets there are none."""
    del node, world, err
    if _has_legend(asked):
        out.write(f"0 {asked.verb.removeprefix('list-')} listed.\n")
    return 0


VERBS: dict[str, Verb] = {
    "list-units": _list_units,
    "list-unit-files": _list_unit_files,
    "list-dependencies": _list_dependencies,
    "list-jobs": _list_jobs,
    "list-timers": _list_nothing,
    "list-sockets": _list_nothing,
}
