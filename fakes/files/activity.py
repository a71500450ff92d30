"""/proc: how busy the machine is, and what waits."""

from __future__ import annotations

from collections.abc import Iterable

from fakes.files.registry import node_file
from fakes.node import Node
from fakes.system.machine import CPUS
from fakes.system.processors import SYSTEM_PROCESSORS
from fakes.system.uptime import booted_unix_s, uptime_s
from fakes.world import World

_TICKS_PER_S = 100  # USER_HZ: what /proc/stat counts in (proc(5))


@node_file("/proc/stat")
def stat(node: Node, world: World) -> str:
    """Ticks that all processors together, and each, have spent since the boot (proc(5)).

    Work is spread evenly: every processor has done as much as the next.
    """
    up_s = uptime_s(node, world.now_us)
    user_s = node.processors.user_s(node.processes.values(), node.boots, world.now_us)
    system_s = SYSTEM_PROCESSORS * up_s
    spent_s = (user_s, system_s, max(CPUS * up_s - user_s - system_s, 0.0))
    each = _ticks(part / CPUS for part in spent_s)
    rows = [f"cpu  {_ticks(spent_s)}"]
    rows += [f"cpu{number} {each}" for number in range(CPUS)]
    rows.append(f"btime {int(booted_unix_s(node))}")
    rows.append(f"procs_running {1 + 4 * len(node.processes)}")
    rows.append("procs_blocked 0")
    return "\n".join(rows) + "\n"


def _ticks(parts_s: Iterable[float]) -> str:
    user, system, idle = (int(part * _TICKS_PER_S) for part in parts_s)
    return f"{user} 0 {system} {idle} 0 0 0 0 0 0"


@node_file("/proc/pressure/cpu")
def cpu_pressure(node: Node, world: World) -> str:
    """There are more processors than work."""
    del node, world
    return _pressure(0.0)


@node_file("/proc/pressure/memory")
def memory_pressure(node: Node, world: World) -> str:
    """There is more memory than is asked for."""
    del node, world
    return _pressure(0.0)


@node_file("/proc/pressure/io")
def io_pressure(node: Node, world: World) -> str:
    """For how much of the time some task waits for storage."""
    del world
    return _pressure(node.io_pressure_percent)


def _pressure(percent: float) -> str:
    """The kernel's three windows alike, as in a state that has lasted (psi.rst)."""
    return "".join(
        f"{who} avg10={share:.2f} avg60={share:.2f} avg300={share:.2f} total=0\n"
        for who, share in (("some", percent), ("full", percent / 2))
    )
