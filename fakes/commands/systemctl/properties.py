"""What ``systemctl show`` tells of a unit (org.freedesktop.systemd1(5)), as far as scripts ask."""

from __future__ import annotations

import time

from fakes.node import Node
from fakes.system.services import Service, State
from fakes.system.units import Unit
from fakes.system.uptime import booted_unix_s, uptime_s
from fakes.world import World

_NEVER = "[not set]"
_BOOT_TO_START_S = 40.0
"""How long after the kernel services begin, on a server whose devices are many."""

SYSTEM = {"Version": "249.11-0ubuntu3.12", "SystemState": "running", "Virtualization": ""}

_EXITED, _KILLED = 1, 2
"""CLD_EXITED and CLD_KILLED."""


def stamp(unix_s: float) -> str:
    """A moment as systemd writes it: ``Thu 2026-01-01 00:00:00 UTC``."""
    return time.strftime("%a %Y-%m-%d %H:%M:%S UTC", time.gmtime(unix_s))


def since_unix_s(service: Service, node: Node) -> float:
    """When the state of a service last changed, on the calendar."""
    if service.since_us is None:
        return booted_unix_s(node) + _BOOT_TO_START_S
    return node.epoch.unix_us(service.since_us) / 1e6


def properties_of(service: Service, node: Node, world: World) -> dict[str, str]:
    """All of a unit's, in the order in which they are shown."""
    unit = service.unit
    since_s = since_unix_s(service, node)
    up_us = round((uptime_s(node, world.now_us) - (_now_s(node, world) - since_s)) * 1e6)
    active, is_service = service.is_active, unit.name.endswith(".service")
    began = stamp(since_s) if active else ""
    shown = {
        "Type": _kind(unit),
        "Restart": "on-failure" if unit.restarts else "no",
        "NotifyAccess": "none",
        "MainPID": str(service.pid),
        "ControlPID": "0",
        "NRestarts": str(service.restarts),
        "ExecMainStartTimestamp": began,
        "ExecMainStartTimestampMonotonic": str(up_us) if active else "0",
        "ExecMainPID": str(service.pid),
        "ExecMainCode": str(0 if active else _KILLED if service.killed_by else _EXITED),
        "ExecMainStatus": str(service.killed_by or service.exit_status),
        "ExecStart": _exec(unit),
        "ControlGroup": f"/system.slice/{unit.name}" if active else "",
        "MemoryCurrent": "16777216" if service.pid else _NEVER,
        "TasksCurrent": "1" if service.pid else _NEVER,
        "User": "" if unit.user == "root" else unit.user,
        "Result": service.result,
        "Id": unit.name,
        "Names": " ".join((unit.name, *unit.aliases)),
        "After": " ".join((*unit.after, "basic.target", "system.slice", "sysinit.target")),
        "Wants": " ".join(unit.after),
        "WantedBy": "multi-user.target" if service.enabled == "enabled" else "",
        "Description": unit.description,
        "LoadState": "masked" if service.enabled == "masked" else "loaded",
        "ActiveState": service.state.value,
        "SubState": service.sub_state,
        "FragmentPath": unit.file,
        "UnitFileState": service.enabled,
        "UnitFilePreset": "enabled",
        "StateChangeTimestamp": stamp(since_s),
        "StateChangeTimestampMonotonic": str(up_us),
        "InactiveExitTimestamp": began,
        "ActiveEnterTimestamp": began,
        "ActiveEnterTimestampMonotonic": str(up_us) if active else "0",
        "ActiveExitTimestamp": "" if active else stamp(since_s),
        "InactiveEnterTimestamp": "" if active or service.since_us is None else stamp(since_s),
        "CanStart": "yes",
        "CanStop": "yes",
        "CanReload": "no",
        "NeedDaemonReload": "no",
        "JobTimeoutUSec": "infinity",
        "ConditionResult": "yes" if active else "no",
        "InvocationID": "",
    }
    only = _OF_SERVICES if not is_service else frozenset()
    return {name: value for name, value in shown.items() if name not in only}


def of_nothing(name: str) -> dict[str, str]:
    """Those of a unit that there is not."""
    return {
        "Type": "simple",
        "Restart": "no",
        "MainPID": "0",
        "NRestarts": "0",
        "ExecMainStatus": "0",
        "Result": "success",
        "Id": name,
        "Names": name,
        "Description": name,
        "LoadState": "not-found",
        "ActiveState": State.INACTIVE.value,
        "SubState": "dead",
        "UnitFileState": "",
        "UnitFilePreset": "",
        "LoadError": f'org.freedesktop.systemd1.NoSuchUnit "Unit {name} not found."',
        "ActiveEnterTimestamp": "",
        "CanStart": "no",
        "CanStop": "yes",
        "NeedDaemonReload": "no",
    }


_OF_SERVICES = frozenset(
    {
        "Type", "Restart", "NotifyAccess", "MainPID", "ControlPID", "NRestarts", "ExecStart",
        "ExecMainPID", "ExecMainCode", "ExecMainStatus", "ExecMainStartTimestamp",
        "ExecMainStartTimestampMonotonic", "User", "Result",
    }
)  # fmt: skip


def _now_s(node: Node, world: World) -> float:
    return node.epoch.unix_us(world.now_us) / 1e6


def _kind(unit: Unit) -> str:
    return "simple" if unit.command else "oneshot"


def _exec(unit: Unit) -> str:
    if not unit.command:
        return ""
    return (
        f"{{ path={unit.command[0]} ; argv[]={' '.join(unit.command)} ; ignore_errors=no ; "
        "start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }"
    )
