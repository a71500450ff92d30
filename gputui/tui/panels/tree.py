"""The processes on the GPUs below those that started them.

Of the processes above, those are shown that hold several together, and those that started one
directly; the sessions and services above them say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gputui.model import Ancestor, ProcessSample
from gputui.tui.glyphs import Glyphs

NO_GPU = -1
"""Stands in the place of a GPU's index for a process that holds none."""


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process as it is listed.

    ``branch`` is what is drawn before its command. ``below`` counts the rows of GPU processes that
    hang below one that holds no GPU itself; its memory is theirs together.
    """

    process: ProcessSample
    branch: str = ""
    below: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from others: a process on two GPUs is two rows."""
        return self.process.pid, self.process.gpu


def tree(
    processes: Sequence[ProcessSample], ancestors: Sequence[Ancestor], glyphs: Glyphs
) -> list[ProcessRow]:
    """The rows from the top down. ``processes`` are in the order in which siblings stand; a family
    stands where the first of its members would.
    """
    return _Tree(processes, ancestors, glyphs).rows()


class _Tree:
    """Who hangs below whom."""

    def __init__(
        self, processes: Sequence[ProcessSample], ancestors: Sequence[Ancestor], glyphs: Glyphs
    ) -> None:
        self._glyphs = glyphs
        self._ancestors = {one.pid: one for one in ancestors}
        self._on_gpus: dict[int, list[ProcessSample]] = {}
        for process in processes:
            self._on_gpus.setdefault(process.pid, []).append(process)
        chains = {pid: self._above(pid) for pid in self._on_gpus}
        kept = self._worth_showing(chains)
        self._below: dict[int | None, list[int]] = {}
        placed: set[int] = set()
        for pid, chain in chains.items():
            for child, parent in pairwise([pid, *(one for one in chain if one in kept), None]):
                if child is not None and child not in placed:
                    placed.add(child)
                    self._below.setdefault(parent, []).append(child)

    def rows(self) -> list[ProcessRow]:
        """All of them."""
        return [row for pid in self._below.get(None, ()) for row in self._family(pid, "", "")]

    def _above(self, pid: int) -> tuple[int, ...]:
        """Those above a process, the nearest first."""
        found: list[int] = []
        parent = self._parent(pid)
        while parent is not None and parent != pid and parent not in found:
            found.append(parent)
            parent = self._parent(parent)
        return tuple(found)

    def _parent(self, pid: int) -> int | None:
        """The process that started it, if that is known."""
        one = self._on_gpus[pid][0] if pid in self._on_gpus else self._ancestors[pid]
        parent = one.parent_pid
        return parent if parent in self._on_gpus or parent in self._ancestors else None

    def _worth_showing(self, chains: Mapping[int, tuple[int, ...]]) -> set[int]:
        below: dict[int, set[int]] = {}
        for pid, chain in chains.items():
            for child, parent in pairwise((pid, *chain)):
                below.setdefault(parent, set()).add(child)
        together = {pid for pid, children in below.items() if len(children) > 1}
        direct = {chain[0] for chain in chains.values() if chain}
        return {*chains, *together, *direct}

    def _family(self, pid: int, branch: str, lead: str) -> Iterator[ProcessRow]:
        """A process and all below it; ``lead`` is drawn before what hangs below."""
        members: list[ProcessRow] = []
        children = self._below.get(pid, [])
        for child in children:
            is_last = child == children[-1]
            joint = self._glyphs.last_branch if is_last else self._glyphs.branch
            trunk = " " * len(self._glyphs.trunk) if is_last else self._glyphs.trunk
            members += self._family(child, lead + joint, lead + trunk)
        if pid in self._on_gpus:
            for position, process in enumerate(self._on_gpus[pid]):
                yield ProcessRow(process, branch if position == 0 else lead)
        else:
            yield self._ancestor_row(pid, branch, members)
        yield from members

    def _ancestor_row(self, pid: int, branch: str, members: Sequence[ProcessRow]) -> ProcessRow:
        one = self._ancestors[pid]
        below = [row.process for row in members if row.process.gpu != NO_GPU]
        sizes = [process.memory_bytes for process in below if process.memory_bytes is not None]
        process = ProcessSample(
            pid,
            NO_GPU,
            user=one.user,
            command=one.command,
            memory_bytes=sum(sizes) if sizes else None,
            parent_pid=one.parent_pid,
        )
        return ProcessRow(process, branch, below=len(below))
