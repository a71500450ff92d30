"""``dcgmi``: NVIDIA's Data Center GPU Manager, from the world.

A GPU that is sick fails the test that would find it, in that test's words; a healthy one passes.
Tables and exit statuses are those of DCGM 3.3, from its documentation and public outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TextIO

from fakes.commands.dcgmi import (
    diag,
    discovery,
    dmon,
    group,
    health,
    modules,
    nvlink,
    profile,
    stats,
)
from fakes.commands.dcgmi.diagnostic import duration_us
from fakes.commands.dcgmi.engine import Engine, NotImitated, RefusedError, SubCommand
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.driver.disturbance import INIT
from fakes.node import Node
from fakes.nvml.answer import Answer, Call, answer
from fakes.nvml.codes import TEXTS, Code
from fakes.system.dcgm import SERVICE, VERSION, Status
from fakes.world import World

_SUBCOMMANDS: Mapping[str, SubCommand] = {
    "diag": diag.run,
    "discovery": discovery.run,
    "dmon": dmon.run,
    "group": group.run,
    "health": health.run,
    "modules": modules.run,
    "nvlink": nvlink.run,
    "profile": profile.run,
    "stats": stats.run,
}
_HAVE_BEGUN = (Code.SUCCESS, Code.NOT_SUPPORTED)
"""How a node answers the way into NVML while nothing disturbs it: it has no answer of its own."""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_HELP = """\
dcgmi SUBCOMMAND [OPTION] ...      a look-alike: each SUBCOMMAND has a -h of its own

    discovery  diag  health  group  stats  nvlink  dmon  modules  profile
"""


def _latency_us(argv: Sequence[str]) -> int:
    """A diagnostic takes as long as its level says, everything else a moment."""
    if "diag" not in argv[:1]:
        return 100_000
    for word, after in pairwise(argv):
        if word in ("-r", "--run"):
            return duration_us(after)
    return 100_000


@command("dcgmi", latency_us=_latency_us)
def main(
    argv: Sequence[str],
    node: Node,
    world: World,
    out: TextIO,
    err: TextIO,
    pause: Callable[[int], None],
) -> int:
    """Do what a sub-command does."""
    if not argv or argv[0] in ("-h", "--help"):
        out.write(_HELP)
        return 0
    if argv[0] in ("-v", "--version"):
        out.write(f"\ndcgmi  version: {VERSION}\n\n")
        return 0
    if argv[0] not in _SUBCOMMANDS:
        err.write(f"dcgmi: {argv[0]} is not imitated by this look-alike\n")
        return NOT_UNDERSTOOD
    try:
        _connect(argv, node, world)
        return _SUBCOMMANDS[argv[0]](argv[1:], Engine(node, world, out, pause))
    except RefusedError as refused:
        out.write(f"{refused}\n")
        return refused.status.exit_status
    except NotImitated as what:
        err.write(f"dcgmi: {what} is not imitated by this look-alike\n")
        return NOT_UNDERSTOOD


def _connect(argv: Sequence[str], node: Node, world: World) -> None:
    """Reach the host engine, and through it the driver. Raises :class:`RefusedError`.

    A diagnostic is a program of its own, which begins with NVML; the host engine has begun.
    """
    host = _host(argv)
    target = node if host in (*_LOCAL, node.name) else world.nodes.get(host)
    if target is not node or not node.services.is_active(SERVICE):
        raise RefusedError(
            f"Error: unable to establish a connection to the specified host: {host}\n"
            "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.",
            Status.CONNECTION_NOT_VALID,
        )
    begun = _driver(node, world)
    if begun.code == Code.DRIVER_NOT_LOADED:
        raise RefusedError(
            "Error: Cannot perform the requested operation because NVML doesn't exist on this "
            "system.",
            Status.NVML_NOT_LOADED,
        )
    if begun.code not in _HAVE_BEGUN and argv[0] == "diag":
        raise RefusedError(
            "Error: Unable to complete diagnostic: its program did not begin.\n"
            f"Failed to initialize NVML: {TEXTS[Code(begun.code)]}",
            Status.NVVS_ERROR,
        )
    if begun.delay_us:
        raise RefusedError("Error: The NVIDIA Driver timed out.", Status.NVML_DRIVER_TIMEOUT)


def _driver(node: Node, world: World) -> Answer:
    return answer(node, Call(INIT), world.now_us)


def _host(argv: Sequence[str]) -> str:
    for at, word in enumerate(argv):
        if word.startswith("--host="):
            return word.partition("=")[2].partition(":")[0]
        if word == "--host" and at + 1 < len(argv):
            return argv[at + 1].partition(":")[0]
    return "localhost"
