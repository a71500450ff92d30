"""NVIDIA's daemons, called by hand for their versions: persistenced, Fabric Manager, MPS.

They run as services; who starts one by hand is told that it runs already, or starts the service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.services import MaskedError, StartError, UnknownUnitError
from fakes.world import World

_VERSION = ("-v", "--version", "-V")


@command("nvidia-persistenced", latency_us=50_000)
def persistenced(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """The daemon that keeps the driver with GPUs that nobody uses."""
    if set(argv) & set(_VERSION):
        out.write(f"nvidia-persistenced:  version {node.driver.version}\n")
        return 0
    if any(word.startswith("-") and word not in ("--verbose", "--user", "-u") for word in argv):
        return _unknown("nvidia-persistenced", argv, err)
    if node.services.is_active("nvidia-persistenced"):
        err.write("nvidia-persistenced failed to initialize. Check syslog for more details.\n")
        return 1
    return _start("nvidia-persistenced", node, world, err)


@command("nv-fabricmanager", latency_us=100_000)
def fabric_manager(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """The daemon that sets up NVSwitches."""
    if set(argv) & set(_VERSION):
        out.write(f"Fabric Manager version is : {node.driver.version}\n")
        return 0
    if argv and argv[0] != "-c":
        return _unknown("nv-fabricmanager", argv, err)
    if node.services.is_active("nvidia-fabricmanager"):
        pid = node.services.find("nvidia-fabricmanager").pid
        err.write(f"fabric manager is already running with pid {pid}\n")
        return 1
    return _start("nvidia-fabricmanager", node, world, err)


@command("nvidia-cuda-mps-control", latency_us=20_000)
def mps_control(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """The control program of the multi-process service, which does not run here."""
    if set(argv) & set(_VERSION):
        out.write(f"{node.driver.version}\n")
        return 0
    if not argv:
        err.write("Cannot find MPS control daemon process\n")
        return 1
    return _unknown("nvidia-cuda-mps-control", argv, err)


def _start(unit: str, node: Node, world: World, err: TextIO) -> int:
    try:
        node.services.start(unit, world)
    except (MaskedError, StartError, UnknownUnitError):
        err.write(f"{unit} failed to initialize. Check syslog for more details.\n")
        return 1
    return 0


def _unknown(name: str, argv: Sequence[str], err: TextIO) -> int:
    err.write(f"{name}: {' '.join(argv)}: this is not known here\n")
    return NOT_UNDERSTOOD
