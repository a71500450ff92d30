"""Groups of nodes as ClusterShell has them: from a file of the node's, and from Slurm.

A name is ``GROUP``, of the file, or ``SOURCE:GROUP``. The file is local.cfg, with ``name: nodes`` a
line; where it has no ``all``, that is every node of the run. Slurm's sources are those of
ClusterShell's own slurm.conf.example: ``slurmpartition`` (sp) and ``slurmstate`` (st).
"""

from __future__ import annotations

from collections.abc import Callable

from fakes.slurm.hostlist import expand
from fakes.slurm.states import PARTITION, short_state, states_of
from fakes.world import World

PLACES = ("/etc/clustershell/groups.d/local.cfg", "/etc/clustershell/groups")
EVERYBODY = "all"

_OF_PARTITIONS = ("slurmpartition", "sp", "slurm")
_OF_STATES = ("slurmstate", "st")

ReadFile = Callable[[str], str]


class NoGroupError(Exception):
    """No source of groups knows the name. One clause."""


def members(name: str, world: World, read_file: ReadFile) -> list[str]:
    """The nodes of a group. Raises :class:`NoGroupError`, and HostlistError for a bad line."""
    source, colon, group = name.rpartition(":")
    if not colon or source == "local":
        written = _written(read_file)
        if group in written:
            return expand(written[group])
        if group == EVERYBODY:
            return list(world.nodes)
    elif source in _OF_PARTITIONS and group in (PARTITION, EVERYBODY):
        return list(world.nodes)
    elif source in _OF_STATES:
        return [each for each in world.nodes if group in _states(world, each)]
    raise NoGroupError(f"group {name!r} is not known")


def _states(world: World, name: str) -> set[str]:
    """What sinfo would find a node by: each of its states, and the short form of all."""
    words = states_of(world, name)
    return {*map(str.lower, words), short_state(words).rstrip("*")}


def _written(read_file: ReadFile) -> dict[str, str]:
    """The lines of the first file that is there."""
    for place in PLACES:
        try:
            text = read_file(place)
        except OSError:
            continue
        lines = (line.partition("#")[0].partition(":") for line in text.splitlines())
        return {name.strip(): nodes.strip() for name, colon, nodes in lines if colon}
    return {}
