"""What sbatch, srun and salloc are asked for: their options, and the request that these make.

Options are those of sbatch(1); many change nothing here, where a node is a node. A request that no
node can fill is refused in slurmctld's words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from fakes.jobs.records import Request
from fakes.slurm.client import Options, UsageError
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.states import CPUS, MEMORY_MB, PARTITION
from fakes.slurm.times import is_endless, seconds_of
from fakes.world import World

OPTIONS = Options(
    flags={
        "H": "hold", "Q": "quiet", "v": "verbose", "s": "oversubscribe", "W": "wait", "l": "label",
        "K": "kill-on-bad-exit", "u": "unbuffered", "E": "preserve-env", "O": "overcommit",
        "V": "version",
    },
    values={
        "N": "nodes", "n": "ntasks", "J": "job-name", "o": "output", "e": "error", "t": "time",
        "p": "partition", "w": "nodelist", "x": "exclude", "c": "cpus-per-task", "D": "chdir",
        "A": "account", "q": "qos", "G": "gpus", "d": "dependency", "C": "constraint",
        "a": "array", "b": "begin", "i": "input", "k": "no-kill", "L": "licenses", "m":
        "distribution", "M": "clusters", "S": "core-spec", "F": "nodefile", "r": "relative",
        "B": "extra-node-info", "T": "threads", "I": "immediate",
    },
    long_flags=(
        "parsable", "requeue", "no-requeue", "overlap", "pty", "no-shell", "spread-job",
        "contiguous", "test-only", "ignore-pbs", "mpi-combine", "het-group", "multi-prog",
        "use-min-nodes", "reboot", "exact", "disable-status",
    ),
    long_values=(
        "wrap", "gres", "gpus-per-node", "gpus-per-task", "ntasks-per-node", "mem", "mem-per-cpu",
        "mem-per-gpu", "comment", "export", "mail-type", "mail-user", "reservation", "signal",
        "jobid", "open-mode", "mpi", "cpu-bind", "gpu-bind", "container-image", "deadline",
        "container-mounts", "container-name", "container-workdir", "uid", "gid", "priority",
        "switches", "cpus-per-gpu", "tmp", "time-min", "hint", "wait-all-nodes", "chdir-on",
        "nice", "wckey", "task-prolog", "task-epilog", "prolog", "epilog", "network", "thread-spec",
        "slurmd-debug", "ntasks-per-gpu", "ntasks-per-socket", "ntasks-per-core", "gpu-freq",
        "profile", "acctg-freq", "bcast", "propagate", "extra", "container", "segment", "tres-bind",
    ),
    long_optional=("exclusive", "get-user-env"),
)  # fmt: skip

_DIRECTIVE = re.compile(r"#SBATCH\s+(.*?)(?:\s+#.*)?$")
_SLEEP = re.compile(r"(?:^|[;&|\s])sleep\s+(\d+(?:\.\d+)?)([smhd]?)\b")
_EXIT = re.compile(r"(?:^|[;&|\s])exit\s+(\d+)\s*$")
_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_SHORTEST_S = 1.0
_USUAL_S = 60.0

BAD_NODE = "Invalid node name specified"
UNAVAILABLE = "Requested node configuration is not available"
BAD_PARTITION = "Invalid partition name specified"


class RefusedError(Exception):
    """What slurmctld says no to, in its words."""


def directives(script: str) -> list[str]:
    """The options in a script's ``#SBATCH`` lines, which end at its first command."""
    found: list[str] = []
    for line in script.splitlines():
        given = _DIRECTIVE.match(line)
        if given is not None:
            found += shlex.split(given[1])
        elif line.strip() and not line.startswith("#"):
            break
    return found


def is_script(text: str) -> bool:
    """Whether it looks like a batch script."""
    return text.startswith("#!")


def duration_of(script: str) -> float:
    """How long a script is taken to run, in seconds: as long as it sleeps, or a minute."""
    slept = [float(number) * _UNIT_S[unit] for number, unit in _SLEEP.findall(script)]
    lines = [line for line in script.splitlines() if line.strip() and not line.startswith("#")]
    is_short = len(lines) <= 1
    return max(sum(slept), _SHORTEST_S) if slept or is_short else _USUAL_S


def exit_code_of(script: str) -> int:
    """The status that a script ends with, where its last words say so."""
    found = _EXIT.search(script.rstrip())
    return int(found[1]) & 0xFF if found else 0


def request_of(world: World, options: Mapping[str, str], work_dir: str) -> Request:
    """What the options ask for. Raises :class:`RefusedError` and :class:`UsageError`."""
    if options.get("partition", PARTITION) != PARTITION:
        raise RefusedError(BAD_PARTITION)
    wanted = _nodes(world, options.get("nodelist", ""))
    tasks_each = _count(options, "ntasks-per-node", 1)
    nodes = _least(options["nodes"]) if "nodes" in options else 0
    tasks = _count(options, "ntasks", 0)
    if not nodes:
        nodes = max(len(wanted), 1)
        if tasks and "ntasks-per-node" in options:
            nodes = max(nodes, -(-tasks // tasks_each))
    if tasks and "ntasks-per-node" not in options:
        tasks_each = max(-(-tasks // nodes), 1)
    limit_s = None
    if "time" in options and not is_endless(options["time"]):
        limit_s = seconds_of(options["time"])
        if limit_s is None:
            raise UsageError("error: Invalid --time specification")
    request = Request(
        nodes=nodes,
        gpus=_gpus(options, nodes, tasks_each),
        tasks=tasks_each,
        cpus_per_task=_count(options, "cpus-per-task", 1),
        wanted=wanted,
        excluded=_nodes(world, options.get("exclude", "")),
        exclusive="exclusive" in options,
        limit_s=limit_s,
        work_dir=options.get("chdir", work_dir),
        output=options.get("output", "slurm-%j.out"),
        error=options.get("error", ""),
    )
    _check(world, request, options)
    return request


def with_script(request: Request, script: str, command: str, *, real: bool) -> Request:
    """The same with the script that it runs."""
    return replace(
        request,
        script=script,
        command=command,
        duration_s=duration_of(script),
        exit_code=exit_code_of(script),
        real=real,
    )


def _check(world: World, request: Request, options: Mapping[str, str]) -> None:
    most = max(len(node.gpus) for node in world.nodes.values())
    cpus = request.tasks * request.cpus_per_task
    memory = options.get("mem", "0")
    if request.gpus > most or cpus > CPUS or _mebibytes(memory) > MEMORY_MB:
        raise RefusedError(UNAVAILABLE)


def _mebibytes(text: str) -> float:
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", text.upper())
    if found is None:
        raise UsageError("error: Invalid --mem specification")
    return int(found[1]) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1 << 20}[found[2]]


def _nodes(world: World, text: str) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        names = expand(text)
    except HostlistError as error:
        raise RefusedError(BAD_NODE) from error
    if any(name not in world.cluster.nodes for name in names):
        raise RefusedError(BAD_NODE)
    return tuple(names)


def _least(text: str) -> int:
    """The first number of ``2`` or ``2-4``."""
    found = re.fullmatch(r"(\d+)(?:-\d+)?", text)
    if found is None:
        raise UsageError(f'error: "{text}" is not a valid node count')
    return int(found[1])


def _count(options: Mapping[str, str], name: str, otherwise: int) -> int:
    text = options.get(name)
    if text is None:
        return otherwise
    if not text.isdecimal():
        raise UsageError(f'error: Invalid numeric value "{text}" for --{name}.')
    return int(text)


def _gpus(options: Mapping[str, str], nodes: int, tasks: int) -> int:
    """GPUs on each node, whichever way they were asked for: ``gpu:h100:8``, ``h100:8``, ``8``."""
    for name, share in (("gres", 1), ("gpus-per-node", 1), ("gpus-per-task", 0), ("gpus", -1)):
        if name not in options:
            continue
        for part in options[name].split(","):
            words = part.split(":")
            if name == "gres" and words[0] != "gpu":
                continue
            count = int(words[-1]) if words[-1].isdecimal() else 1
            return count * tasks if share == 0 else -(-count // nodes) if share < 0 else count
    return 0
