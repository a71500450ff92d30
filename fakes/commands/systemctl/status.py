"""``systemctl status``: what a unit is, since when, its process, and what it said last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from fakes.commands.journal import written
from fakes.commands.systemctl.asked import Asked, Verb, matching
from fakes.commands.systemctl.properties import since_unix_s, stamp
from fakes.node import Node
from fakes.system.services import Service, State, UnknownUnitError
from fakes.system.units import full_name
from fakes.world import World

_NOT_RUNNING, _UNKNOWN = 3, 4
_DOTS = {State.ACTIVE: "●", State.INACTIVE: "○", State.FAILED: "×"}
_SPANS = (("day", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def _status(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Each unit; without one, the system."""
    if not asked.words:
        return _system(node, world, out)
    worst = 0
    shown = 0
    for word in asked.words:
        try:
            units = matching(node.services, [word]) if "*" in word else [node.services.find(word)]
        except UnknownUnitError:
            err.write(f"Unit {full_name(word)} could not be found.\n")
            worst = max(worst, _UNKNOWN)
            continue
        for service in units:
            out.write("\n" if shown else "")
            shown += 1
            out.writelines(_lines(service, asked, node, world))
            worst = max(worst, 0 if service.is_active else _NOT_RUNNING)
    return worst


def _lines(service: Service, asked: Asked, node: Node, world: World) -> Iterator[str]:
    unit = service.unit
    yield f"{_DOTS[service.state]} {unit.name} - {unit.description}\n"
    if service.enabled == "masked":
        yield f"     Loaded: masked (Reason: Unit {unit.name} is masked.)\n"
    else:
        yield f"     Loaded: loaded ({unit.file}; {service.enabled}; vendor preset: enabled)\n"
    yield f"     Active: {_active(service, node, world)}\n"
    if service.pid:
        yield f"   Main PID: {service.pid} ({unit.program[:15]})\n"
        yield "      Tasks: 1 (limit: 629145)\n"
        yield "     Memory: 16.0M\n"
        yield "        CPU: 1.204s\n"
        yield f"     CGroup: /system.slice/{unit.name}\n"
        yield f"             └─{service.pid} {' '.join(unit.command)}\n"
    elif unit.command and (service.exit_status or service.killed_by):
        how = (
            f"code=killed, signal={service.killed_by}"
            if service.killed_by
            else f"code=exited, status={service.exit_status}/FAILURE"
        )
        yield f"    Process: {0} ExecStart={' '.join(unit.command)} ({how})\n"
        yield f"   Main PID: {0} ({how})\n"
    count = int(asked.options.get("lines", "10") or 10)
    said = [line for line in node.services.journal if line.unit == unit.name][-count:]
    if said and count:
        yield "\n"
        yield from (written(node, line) for line in said)


def _active(service: Service, node: Node, world: World) -> str:
    since_s = since_unix_s(service, node)
    ago = span(node.epoch.unix_us(world.now_us) / 1e6 - since_s)
    result = f" (Result: {service.result})" if service.state is State.FAILED else ""
    detail = result or f" ({service.sub_state})"
    if service.state is State.INACTIVE and service.since_us is None:
        return f"{service.state.value}{detail}"
    return f"{service.state.value}{detail} since {stamp(since_s)}; {ago} ago"


def span(seconds: float) -> str:
    """A time as systemd says it, in its two greatest units: ``1h 2min``, ``3 days``.

    >>> span(259200)
    '3 days'
    """
    rest = max(0, int(seconds))
    said = []
    for name, size in _SPANS:
        number, rest = divmod(rest, size)
        if number and name == "day":
            said.append(f"{number} day{'s' if number > 1 else ''}")
        elif number:
            said.append(f"{number}{name}")
    if said and "day" in said[0]:
        return said[0]
    return " ".join(said[:2]) or "0s"


def _system(node: Node, world: World, out: TextIO) -> int:
    failed = sum(service.state is State.FAILED for service in node.services)
    ago = span(world.now_us / 1e6)
    out.write(
        f"● {node.name}\n"
        f"    State: {'degraded' if failed else 'running'}\n"
        "     Jobs: 0 queued\n"
        f"   Failed: {failed} units\n"
        f"    Since: {ago} ago\n"
        "   CGroup: /\n"
    )
    return 0


VERBS: dict[str, Verb] = {"status": _status}
