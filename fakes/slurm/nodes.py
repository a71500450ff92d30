"""What sinfo can say of nodes, by the letters of ``-o`` and the names of ``-O`` (sinfo(1))."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fakes.node import Node
from fakes.slurm.forms import Column, Field, Form
from fakes.slurm.hostlist import compress
from fakes.slurm.states import (
    CPUS,
    MEMORY_MB,
    PARTITION,
    SOCKETS,
    VERSION,
    cpus_used,
    full_state,
    gpus_used,
    kind_of,
    long_state,
    moment,
    short_state,
    states_of,
)
from fakes.slurm.users import user_number
from fakes.world import World


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that stand in one line, by name."""

    world: World
    names: tuple[str, ...]

    @property
    def nodes(self) -> list[Node]:
        """They themselves."""
        return [self.world.nodes[name] for name in self.names]

    @property
    def states(self) -> list[str]:
        """The states of the first; the others have the same."""
        return states_of(self.world, self.names[0]) if self.names else []


def cpu_load(node: Node) -> float:
    """The load average: a process for each rank, and the node's own little."""
    return 0.05 + sum(1 for _ in node.processes)


def free_memory_mb(node: Node) -> int:
    """Memory that nothing uses: a rank takes 40 GB of the host's, the system 20 GB."""
    return max(MEMORY_MB - 20_000 - 40_000 * len(node.processes), 10_000)


def is_away(words: Iterable[str]) -> bool:
    """Whether a node counts as neither allocated nor idle."""
    return bool({"DOWN", "DRAIN", "FAIL", "NOT_RESPONDING", "REBOOT_ISSUED"} & set(words))


def cpu_states(group: NodeGroup) -> tuple[int, int, int, int]:
    """CPUs allocated, idle, other, in all."""
    used = idle = other = 0
    for node in group.nodes:
        busy = cpus_used(group.world.cluster, node)
        used += busy
        if is_away(states_of(group.world, node.name)):
            other += CPUS - busy
        else:
            idle += CPUS - busy
    return used, idle, other, CPUS * len(group.names)


def node_states_counted(group: NodeGroup) -> tuple[int, int, int, int]:
    """Nodes allocated, idle, other, in all."""
    used = idle = 0
    for name in group.names:
        words = states_of(group.world, name)
        if words[0] in ("ALLOCATED", "MIXED") and "FAIL" not in words:
            used += 1
        elif not is_away(words):
            idle += 1
    return used, idle, len(group.names) - used - idle, len(group.names)


def gres_of(node: Node) -> str:
    """A node's GPUs as Slurm lists them."""
    return f"gpu:{kind_of(node)}:{len(node.gpus)}(S:0-1)"


def gres_used(world: World, node: Node) -> str:
    """Those that jobs have: ``gpu:h100:2(IDX:0-1)``."""
    used = gpus_used(world.cluster, node)
    listed = compress(str(gpu) for gpu in used).strip("[]") if used else "N/A"
    return f"gpu:{kind_of(node)}:{len(used)}(IDX:{listed})"


def features_of(world: World, name: str) -> str:
    """What a node is said to have."""
    given = world.cluster.nodes[name].features
    return kind_of(world.nodes[name]) if given is None else given


_Say = Callable[[NodeGroup], str]


def _first(say: Callable[[World, Node], str]) -> _Say:
    def of_group(group: NodeGroup) -> str:
        return say(group.world, group.nodes[0]) if group.names else ""

    return of_group


def _range(number: Callable[[Node], float], form: str) -> _Say:
    def of_group(group: NodeGroup) -> str:
        numbers = [number(node) for node in group.nodes] or [0]
        low, high = format(min(numbers), form), format(max(numbers), form)
        return low if low == high else f"{low}-{high}"

    return of_group


def _why(part: Callable[[World, str], str], otherwise: str) -> _Say:
    def of_group(group: NodeGroup) -> str:
        has_one = bool(group.names) and group.world.cluster.nodes[group.names[0]].why is not None
        return part(group.world, group.names[0]) if has_one else otherwise

    return of_group


def reason_of(world: World, name: str) -> str:
    """Why a node takes no jobs."""
    why = world.cluster.nodes[name].why
    return why.reason if why else ""


def _user(world: World, name: str) -> str:
    why = world.cluster.nodes[name].why
    return why.user if why else ""


def _since(world: World, name: str) -> str:
    why = world.cluster.nodes[name].why
    return moment(world, why.at_us) if why else ""


def _always(text: str) -> _Say:
    return lambda group: text


def _slashes(numbers: Iterable[int]) -> str:
    return "/".join(str(number) for number in numbers)


_STATE: Field[NodeGroup] = Field("STATE", lambda g: short_state(g.states) if g.names else "n/a")
_LONG_STATE: Field[NodeGroup] = Field("STATE", lambda g: long_state(g.states) if g.names else "n/a")

NODE_FIELDS: dict[str, Field[NodeGroup]] = {
    "a": Field("AVAIL", _always("up")),
    "b": Field("ACTIVE_FEATURES", _first(lambda world, node: features_of(world, node.name))),
    "c": Field("CPUS", _always(str(CPUS))),
    "d": Field("TMP_DISK", _always("0")),
    "e": Field("FREE_MEM", _range(free_memory_mb, "d")),
    "f": Field("AVAIL_FEATURES", _first(lambda world, node: features_of(world, node.name))),
    "g": Field("GROUPS", _always("all")),
    "h": Field("OVERSUBSCRIBE", _always("NO")),
    "l": Field("TIMELIMIT", _always("infinite")),
    "m": Field("MEMORY", _always(str(MEMORY_MB))),
    "n": Field("HOSTNAMES", lambda group: compress(group.names)),
    "o": Field("NODE_ADDR", lambda group: compress(group.names)),
    "p": Field("PRIO_TIER", _always("1")),
    "r": Field("ROOT", _always("no")),
    "s": Field("JOB_SIZE", _always("1-infinite")),
    "t": _STATE,
    "u": Field("USER", _why(_user, "Unknown")),
    "v": Field("VERSION", _always(VERSION)),
    "w": Field("WEIGHT", _always("1")),
    "z": Field("S:C:T", _always(f"{SOCKETS}:{CPUS // SOCKETS}:1")),
    "A": Field("NODES(A/I)", lambda group: _slashes(node_states_counted(group)[:2])),
    "B": Field("MAX_CPUS_PER_NODE", _always("UNLIMITED")),
    "C": Field("CPUS(A/I/O/T)", lambda group: _slashes(cpu_states(group))),
    "D": Field("NODES", lambda group: str(len(group.names))),
    "E": Field("REASON", _why(reason_of, "none")),
    "F": Field("NODES(A/I/O/T)", lambda group: _slashes(node_states_counted(group))),
    "G": Field("GRES", _first(lambda world, node: gres_of(node))),
    "H": Field("TIMESTAMP", _why(_since, "Unknown")),
    "I": Field("PRIO_JOB_FACTOR", _always("1")),
    "L": Field("DEFAULTTIME", _always("n/a")),
    "M": Field("PREEMPT_MODE", _always("OFF")),
    "N": Field("NODELIST", lambda group: compress(group.names)),
    "O": Field("CPU_LOAD", _range(cpu_load, ".2f")),
    "P": Field("PARTITION", _always(f"{PARTITION}*")),
    "R": Field("PARTITION", _always(PARTITION)),
    "S": Field("ALLOCNODES", _always("all")),
    "T": _LONG_STATE,
    "U": Field("USER", _why(lambda w, n: f"{_user(w, n)}({user_number(_user(w, n))})", "Unknown")),
    "V": Field("CLUSTER", _always("N/A")),
    "X": Field("SOCKETS", _always(str(SOCKETS))),
    "Y": Field("CORES", _always(str(CPUS // SOCKETS))),
    "Z": Field("THREADS", _always("1")),
}

_RESERVATION: Field[NodeGroup] = Field(
    "RESERVATION",
    _first(
        lambda world, node: (
            kept.name if (kept := world.cluster.nodes[node.name].reservation) else ""
        )
    ),
)

_LETTERS = {
    "available": "a", "cpus": "c", "disk": "d", "freemem": "e", "features": "f",
    "features_act": "b", "groups": "g", "oversubscribe": "h", "share": "h", "time": "l",
    "memory": "m", "nodehost": "n", "nodeaddr": "o", "prioritytier": "p", "root": "r", "size": "s",
    "statecompact": "t", "user": "u", "version": "v", "weight": "w", "socketcorethread": "z",
    "nodeai": "A", "maxcpuspernode": "B", "cpusstate": "C", "nodes": "D", "reason": "E",
    "nodeaiot": "F", "gres": "G", "timestamp": "H", "priorityjobfactor": "I", "defaulttime": "L",
    "preemptmode": "M", "nodelist": "N", "cpusload": "O", "partition": "P", "partitionname": "R",
    "allocnodes": "S", "statelong": "T", "userlong": "U", "cluster": "V", "sockets": "X",
    "cores": "Y", "threads": "Z",
}  # fmt: skip

NODE_LONG_FIELDS: dict[str, Field[NodeGroup]] = {
    **{name: NODE_FIELDS[letter] for name, letter in _LETTERS.items()},
    "allocmem": Field("ALLOCMEM", lambda group: str(MEMORY_MB if cpu_states(group)[0] else 0)),
    "comment": Field(
        "COMMENT", _first(lambda world, node: world.cluster.nodes[node.name].comment or "(null)")
    ),
    "extra": Field(
        "EXTRA", _first(lambda world, node: world.cluster.nodes[node.name].extra or "(null)")
    ),
    "gresused": Field("GRES_USED", _first(gres_used)),
    "port": Field("PORT", _always("6818")),
    "reservation": _RESERVATION,
    "statecomplete": Field("STATE", lambda group: full_state(group.states).lower()),
}

NODE_FIELDS["i"] = _RESERVATION


def every_node_field() -> Form[NodeGroup]:
    """What ``-o %all`` prints: bars between, and a blank too after capital letters."""
    columns = [
        Column(field, after="|" if letter.islower() else " |")
        for letter, field in NODE_FIELDS.items()
        if letter != "i"
    ]
    return Form([*columns[:-1], Column(columns[-1].field, after=" ")])
