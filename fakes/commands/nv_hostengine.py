"""``nv-hostengine``: DCGM's daemon, started and stopped by hand.

It is the same process as the service's: whoever asks for either finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.dcgm import SERVICE, VERSION
from fakes.system.services import MaskedError, StartError
from fakes.world import World

_TAKEN = frozenset(
    {"-n", "--no-daemon", "-l", "--log-level", "--log-filename", "-b", "--bind-interface", "-p"}
)
_WITH_VALUE = frozenset({"-l", "--log-level", "--log-filename", "-b", "--bind-interface", "-p"})


@command("nv-hostengine", latency_us=1_000_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Start it, or with ``-t`` stop it."""
    words = list(argv)
    ends = False
    while words:
        word = words.pop(0)
        if word in ("--version", "-v"):
            out.write(f"Version : {VERSION}\n")
            return 0
        if word in ("-t", "--term"):
            ends = True
        elif word in _TAKEN:
            if word in _WITH_VALUE and words:
                words.pop(0)
        else:
            err.write(f"nv-hostengine: {word} is not imitated by this look-alike\n")
            return NOT_UNDERSTOOD
    return _end(node, world, out) if ends else _start(node, world, out)


def _start(node: Node, world: World, out: TextIO) -> int:
    service = node.services.find(SERVICE)
    if service.is_active:
        out.write(f"Host engine already running with pid {service.pid}\n")
        return 1
    try:
        node.services.start(SERVICE, world)
    except (MaskedError, StartError):
        out.write("Err: Failed to start DCGM Server: -7\n")
        return 1
    out.write(f"Started host engine version {VERSION} using port number: 5555 \n")
    return 0


def _end(node: Node, world: World, out: TextIO) -> int:
    if not node.services.is_active(SERVICE):
        out.write("Unable to terminate host engine. It is not running.\n")
        return 1
    node.services.stop(SERVICE, world)
    node.dcgm.forget()
    out.write("Host engine successfully terminated.\n")
    return 0
