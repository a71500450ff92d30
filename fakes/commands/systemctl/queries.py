"""Verbs that ask for the state of units: is-active, is-enabled, is-failed, show."""

from __future__ import annotations

from typing import TextIO

from fakes.commands.systemctl.asked import Asked, Verb, matching
from fakes.commands.systemctl.properties import SYSTEM, of_nothing, properties_of
from fakes.node import Node
from fakes.system.services import State, UnknownUnitError
from fakes.system.units import full_name
from fakes.world import World

_NOT_RUNNING = 3


def _is_active(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """A word for each unit; 0 if any is active."""
    del world, err
    words = [_state(node, word) for word in asked.words]
    if not asked.is_quiet:
        out.writelines(f"{word}\n" for word in words)
    return 0 if "active" in words else _NOT_RUNNING


def _is_failed(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """A word for each unit; 0 if any has failed. Without one, of the system."""
    del world, err
    if not asked.words:
        failed = any(service.state is State.FAILED for service in node.services)
        if not asked.is_quiet:
            out.write("degraded\n" if failed else "running\n")
        return 0 if failed else 1
    words = [_state(node, word) for word in asked.words]
    if not asked.is_quiet:
        out.writelines(f"{word}\n" for word in words)
    return 0 if "failed" in words else 1


def _state(node: Node, name: str) -> str:
    try:
        return node.services.find(name).state.value
    except UnknownUnitError:
        return "inactive"


def _is_enabled(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """A word for each unit; 0 if any begins with the node."""
    del world
    any_enabled = False
    for name in asked.words:
        try:
            service = node.services.find(name)
        except UnknownUnitError:
            if not asked.is_quiet:
                err.write(
                    f"Failed to get unit file state for {full_name(name)}: "
                    "No such file or directory\n"
                )
            continue
        word = service.enabled
        if full_name(name) != service.name and word == "enabled":
            word = "alias"
        any_enabled = any_enabled or word in ("enabled", "static", "alias")
        if not asked.is_quiet:
            out.write(f"{word}\n")
    return 0 if any_enabled else 1


def _is_system_running(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Running, or degraded where a unit has failed."""
    del world, err
    failed = any(service.state is State.FAILED for service in node.services)
    if not asked.is_quiet:
        out.write("degraded\n" if failed else "running\n")
    return int(failed)


def _show(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Properties as ``NAME=VALUE``, of each unit; without one, of the manager."""
    del err
    tables = []
    for word in asked.words:
        if "*" in word:
            found = matching(node.services, [word])
            tables += [properties_of(service, node, world) for service in found]
            continue
        try:
            tables.append(properties_of(node.services.find(word), node, world))
        except UnknownUnitError:
            tables.append(of_nothing(full_name(word)))
    if not asked.words:
        tables = [SYSTEM]
    for number, table in enumerate(tables):
        if number:
            out.write("\n")
        names = [name for name in asked.properties or table if name in table]
        for name in sorted(names, key=list(table).index):
            out.write(f"{table[name]}\n" if "value" in asked.options else f"{name}={table[name]}\n")
    return 0


VERBS: dict[str, Verb] = {
    "is-active": _is_active,
    "is-failed": _is_failed,
    "is-enabled": _is_enabled,
    "is-system-running": _is_system_running,
    "show": _show,
}
