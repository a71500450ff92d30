"""The simulator's side of a node's processes: starts its first process, and gives it orders."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from chaos.sandbox.lines import Lines
from chaos.sandbox.own_files import memory
from chaos.sandbox.plan import NODE, Bind, Entrance, Root
from chaos.sandbox.program import own_program
from chaos.sandbox.rank import environment, find_holder, job_log
from chaos.sandbox.root import GPU_DEVICES
from fakes.jobs.process import ProcessSpec

_FIRST_PID = 4001
_PATIENCE_S = 20.0


class Tier(Enum):
    """How well a program on a node is contained; the best first."""

    NAMESPACES = "namespaces"
    ENVIRONMENT = "environment"


class RefusedError(Exception):
    """The kernel refuses what a tier needs. Its text is the reason."""


class NodeEndedError(Exception):
    """The node's first process is gone, and with it every other."""


@dataclass(frozen=True, slots=True)
class Containment:
    """A tier. ``user`` says that it has a user namespace of its own."""

    tier: Tier
    user: bool = True


class SandboxHost:
    """Starts and ends the real processes that stand for a node's jobs."""

    def __init__(self, node: str, directory: Path, users: Mapping[str, int]) -> None:
        """``directory`` is the node's; ``users`` have numbers of their own, others the caller's."""
        self.node = node
        self.init_pid = 0
        self._directory = directory
        self._holder = find_holder(directory / "jobs")
        self._users = users
        self._door = Entrance()
        self._memory = -1
        self._next_pid = _FIRST_PID
        self._jobs: list[str] = []
        self._exited: list[int] = []
        self._ended = False
        self._orders: Lines | None = None
        self._init: subprocess.Popen[bytes] | None = None
        self._launch()

    def start(self, containment: Containment, root: Root | None) -> None:
        """Let the node's first process begin; ``root`` None: without namespaces.

        After a :class:`RefusedError` there is nothing left of it, and the next start has a new one.
        """
        if self._orders is None:
            self._launch()
        assert self._orders is not None
        self._send(
            {
                "node": self.node,
                "tier": containment.tier.value,
                "user": containment.user,
                "root": root,
            }
        )
        try:
            ready = self._wait_for("ready", "refused")
        except BaseException:
            self.close()
            raise
        self.init_pid = ready["ready"]
        if root is not None:
            handle = f"/proc/{self.init_pid}/fd/{ready['users']}" if ready["users"] >= 0 else ""
            self._door = Entrance(self.init_pid, handle, root.staging)
            seen = f"/proc/{self.init_pid}/root{root.memory}"
            self._memory = os.open(seen, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    @property
    def memory(self) -> Path:
        """Where we see the node's own file system; without namespaces, a directory of the node's.

        It can be written to until this is closed, even if the node has ended.
        """
        if self._memory < 0:
            return memory(self._directory)
        return Path(f"/proc/self/fd/{self._memory}")

    def _launch(self) -> None:
        """Start the node's first process; it comes to itself while we find out what it is to do."""
        self._ended = False
        ours, theirs = socket.socketpair()
        with theirs:
            self._init = subprocess.Popen(
                own_program("chaos.sandbox.init"),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        ours.settimeout(_PATIENCE_S)
        self._orders = Lines(ours)

    def entrance(self, binds: Sequence[Bind] = ()) -> Entrance:
        """How a program gets onto the node, with what it brings along."""
        return self._door._replace(binds=binds)

    def spawn(self, spec: ProcessSpec) -> int:
        """Start a process that stands for a rank; its PID as the node sees it."""
        is_rank = spec.gpu >= 0
        job_number = self._job_number(spec.job) if is_rank else 0
        waiting = self._holder.waiting(spec.command)
        self._send(
            {
                "program": self._seen(waiting.program),
                "directory": self._seen(waiting.directory),
                "spawn": list(waiting.words),
                "environment": environment(spec, self.node, job_number),
                "pid": spec.pid or self._next_pid,
                "user": self._users.get(spec.user, -1),
                "output": str(self.job_log(spec.job)) if is_rank else os.devnull,
                "devices": _devices(spec.gpu) if is_rank else [],
            }
        )
        pid = int(self._wait_for("spawned", "failed")["spawned"])
        if not spec.pid:
            self._next_pid = pid + 1
        return pid

    def job_log(self, job: str) -> Path:
        """The file to which the processes of a job write; it is there."""
        path = job_log(self._directory / "log", self._job_number(job))
        path.touch(0o644)
        return path

    def _job_number(self, job: str) -> int:
        if job not in self._jobs:
            self._jobs.append(job)
        return self._jobs.index(job)

    def _seen(self, path: Path) -> str:
        """Where a process of the node sees a path of ours."""
        if self._door.init and path.is_relative_to(self._directory):
            return f"{NODE}/{path.relative_to(self._directory)}"
        return str(path)

    def kill(self, pid: int) -> None:
        """End a process that this host started. One that is gone already is no error."""
        with contextlib.suppress(NodeEndedError):
            self._send({"kill": pid})

    def leave_zombie(self, pid: int) -> None:
        """End a process that this host started, and let it stand in /proc as ended (Z, ps(1))."""
        with contextlib.suppress(NodeEndedError):
            self._send({"leave": pid})

    def sweep(self, keep: Collection[int]) -> None:
        """End every process on the node but its first one and those in ``keep``."""
        with contextlib.suppress(NodeEndedError):
            self._send({"sweep": sorted(keep)})

    def fileno(self) -> int:
        """Ready for reading when :meth:`exited` has something to tell."""
        if self._orders is None:
            raise NodeEndedError(self.node)
        return self._orders.fileno()

    @property
    def ended(self) -> bool:
        """Whether the node's first process is gone."""
        return self._ended

    @property
    def pending(self) -> bool:
        """Whether :meth:`exited` has something to tell without being ready."""
        return bool(self._exited)

    def exited(self) -> tuple[int, ...]:
        """The processes that ended since the last call, whoever ended them. Call when ready."""
        if not self._exited and not self._ended:
            self._receive()
        pids, self._exited = tuple(self._exited), []
        return pids

    def release(self) -> None:
        """Let the node end, without waiting for it."""
        self._ended = True
        if self._orders is not None:
            self._orders.close()
            self._orders = None

    def close(self) -> None:
        """End the node: every process in it ends with its first one."""
        self.release()
        if self._init is not None:
            if self._init.stderr is not None:
                self._init.stderr.close()
            self._init.wait()
            self._init = None
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1

    def _send(self, message: dict[str, Any]) -> None:
        if self._orders is None or self._ended:
            raise NodeEndedError(self.node)
        try:
            self._orders.send(message)
        except OSError as error:
            self._ended = True
            raise NodeEndedError(self.node) from error

    def _receive(self) -> list[dict[str, Any]]:
        """Wait for messages; those about exits are noted, the others returned."""
        messages = self._orders.receive() if self._orders is not None else None
        if messages is None:
            self._ended = True
            return []
        self._exited += [message["exited"] for message in messages if "exited" in message]
        return [message for message in messages if "exited" not in message]

    def _wait_for(self, good: str, bad: str) -> dict[str, Any]:
        while not self._ended:
            for message in self._receive():
                if bad in message:
                    raise RefusedError(message[bad])
                if good in message:
                    return message
        raise NodeEndedError(f"{self.node}: {self._last_words()}")

    def _last_words(self) -> str:
        """What the first process said when it died."""
        if self._init is None or self._init.stderr is None:
            return "its first process is gone"
        lines = self._init.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "its first process is gone"


def _devices(gpu: int) -> list[str]:
    """What a process on a GPU has open."""
    return [f"/dev/{name}" for name in (f"nvidia{gpu}", *GPU_DEVICES)]
