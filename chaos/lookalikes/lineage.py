"""Where a process comes from: what tells processes apart at every run of the same programs.

PIDs of the machine do not, since others take some too. Those of a node's own PID namespace grow
with every process that is started on it, so of two children of one process the elder has the
smaller one, whatever else was started meanwhile (the kernel begins anew only after 32768,
pid_namespaces(7)).
"""

from __future__ import annotations

from pathlib import Path

Lineage = tuple[int, ...]
"""A process's PID on its node, after those of its ancestors there, the eldest first."""


def lineage(pid: int) -> Lineage:
    """The lineage of a process, by its PID as we see it; empty if it has ended."""
    found: list[int] = []
    depth = None
    while pid > 0:
        parent, own = _parent_and_own(pid)
        if depth is None:
            depth = len(own)
        if not own or len(own) < depth or own[-1] == 1:
            break  # gone, off the node, or its first process
        found.append(own[-1])
        pid = parent
    return tuple(reversed(found))


def _parent_and_own(pid: int) -> tuple[int, list[int]]:
    """A process's parent, and its own PIDs in its namespaces, the innermost last (proc(5))."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0, []
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines.get("PPid", "0")), [int(word) for word in lines.get("NSpid", "").split()]
