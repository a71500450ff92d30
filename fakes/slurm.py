"""Slurm's words: lists of hosts, and what it calls the states of nodes and jobs.

From scontrol(1), sinfo(1), squeue(1), and outputs of Slurm 22.05 to 24.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from fakes.cluster import Cluster, ClusterJob, Phase

_PART = re.compile(r"\[([^\][]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)$")
_MOST_HOSTS = 65_536


class HostlistError(Exception):
    """A text that is no list of hosts."""


def expand(text: str) -> list[str]:
    """The hosts of a list. Raises :class:`HostlistError`.

    >>> expand("n[08-10],login")
    ['n08', 'n09', 'n10', 'login']
    """
    names: list[str] = []
    for entry in re.split(r",(?![^\[]*\])", text):
        if not entry or entry.count("[") != len(_PART.findall(entry)):
            raise HostlistError(text)
        pieces = _PART.split(entry)
        choices = [_numbers(piece) if at % 2 else [piece] for at, piece in enumerate(pieces)]
        names += ("".join(parts) for parts in product(*choices))
        if len(names) > _MOST_HOSTS:
            raise HostlistError(text)
    return names


def _numbers(piece: str) -> list[str]:
    found: list[str] = []
    for part in piece.split(","):
        numbers = _RANGE.fullmatch(part)
        if numbers is None:
            raise HostlistError(piece)
        first, last = numbers[1], numbers[2] or numbers[1]
        if int(last) - int(first) > _MOST_HOSTS:
            raise HostlistError(piece)
        found += [f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return found


def compress(names: Iterable[str]) -> str:
    """Hosts as a list, numbers joined into ranges.

    >>> compress(["n0", "n1", "n2", "n7", "login"])
    'n[0-2,7],login'
    """
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        found = _NUMBERED.match(name)
        prefix, number = (found[1], found[2]) if found else (name, "")
        if number and groups and groups[-1][0] == prefix and _go_together(groups[-1][1], number):
            groups[-1][1].append(number)
        else:
            groups.append((prefix, [number]))
    return ",".join(
        prefix + (numbers[0] if len(numbers) == 1 else f"[{','.join(_ranges(numbers))}]")
        for prefix, numbers in groups
    )


def _go_together(numbers: list[str], number: str) -> bool:
    """Whether a number may stand in one list with others: padded ones are of one width."""
    last = numbers[-1]
    padded = any(len(one) > 1 and one.startswith("0") for one in (*numbers, number))
    return bool(last) and (not padded or len(last) == len(number))


def _ranges(numbers: list[str]) -> Iterable[str]:
    first = last = numbers[0]
    for number in [*numbers[1:], ""]:
        if number and int(number) == int(last) + 1:
            last = number
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = number


# --- states ---------------------------------------------------------------------------------------


def node_states(cluster: Cluster, name: str, *, is_up: bool) -> list[str]:
    """A node's states in scontrol's words, the base state first: ``ALLOCATED``, ``DRAIN``."""
    node = cluster.nodes[name]
    busy = bool(cluster.jobs_on(name))
    words = ["DOWN"] if node.down is not None else ["ALLOCATED" if busy else "IDLE"]
    if node.drain is not None:
        words.append("DRAIN")
    if not is_up:
        words.append("NOT_RESPONDING")
    return words


def short_state(words: list[str]) -> str:
    """The states as sinfo's %t writes them: ``drng*``."""
    base, flags = words[0], words[1:]
    star = "*" if "NOT_RESPONDING" in flags else ""
    if base == "DOWN":
        return f"down{star}"
    if "DRAIN" in flags:
        return ("drng" if base == "ALLOCATED" else "drain") + star
    return {"ALLOCATED": "alloc", "IDLE": "idle"}[base] + star


def long_state(words: list[str]) -> str:
    """The states as sinfo's %T writes them: ``draining*``."""
    longer = {"drng": "draining", "drain": "drained", "alloc": "allocated"}
    short = short_state(words)
    star = "*" if short.endswith("*") else ""
    plain = short.removesuffix("*")
    return longer.get(plain, plain) + star


JOB_CODES = {
    Phase.PENDING: "PD",
    Phase.RUNNING: "R",
    Phase.COMPLETED: "CD",
    Phase.FAILED: "F",
    Phase.CANCELLED: "CA",
    Phase.NODE_FAIL: "NF",
}
"""The states of jobs as squeue's %t writes them; %T has the words themselves."""


def job_reason(job: ClusterJob) -> str:
    """Why a job waits, or that there is nothing to say."""
    if job.held:
        return "JobHeldUser"
    return job.reason or "None"
