"""What is examined: a node, what it told of itself, and what somebody said about it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gputui.config import Config
from gputui.model import GpuSample, LinkSample, NodeSample, Snapshot
from gputui.sources.network import LinkReader
from gputui.text import printable

_TOOL_S = 5.0
_MOST_OUTPUT = 1 << 20


def run_tool(command: Sequence[str]) -> str | None:
    """What a program of the system prints; None if it is not there, fails, or takes too long."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TOOL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return done.stdout[:_MOST_OUTPUT].decode("utf-8", "replace")


def addresses_of(name: str) -> tuple[str, ...]:
    """The addresses that a name resolves to, as any program here would see it. Raises OSError."""
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Site:
    """A node under examination.

    ``snapshot`` is a complete reading, None where there is none, and ``unread`` says why. ``root``
    is the folder below which ``proc``, ``sys``, ``dev`` and ``etc`` lie. ``nodes`` are the names
    that jobs will use; ``supply_w`` is what the power supplies give, in watts.
    """

    snapshot: Snapshot | None = None
    unread: str = ""
    root: Path = Path("/")
    config: Config = field(default_factory=Config)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    nodes: tuple[str, ...] = ()
    supply_w: float | None = None
    tool: Callable[[Sequence[str]], str | None] = run_tool
    resolve: Callable[[str], tuple[str, ...]] = addresses_of

    @property
    def sample(self) -> NodeSample | None:
        """The readings, None where there are none."""
        return None if self.snapshot is None else self.snapshot.sample

    @property
    def gpus(self) -> tuple[GpuSample, ...]:
        """The GPUs that answer."""
        sample = self.sample
        return () if sample is None else tuple(gpu for gpu in sample.gpus if not gpu.return_code)

    @property
    def unasked(self) -> str:
        """Why nothing is known of any GPU; empty where one answers, or where there is none."""
        sample = self.sample
        if sample is None or sample.error:
            return "NVML cannot be asked"
        return "no GPU answers" if sample.gpus and not self.gpus else ""

    def links(self) -> tuple[LinkSample, ...]:
        """The RDMA ports and network interfaces, read now."""
        return LinkReader(self.root).read(0.0)

    def text(self, path: str) -> str | None:
        """A file below the root as printable lines; None if it cannot be read."""
        try:
            data = (self.root / path.lstrip("/")).read_bytes()
        except OSError:
            return None
        lines = data[:_MOST_OUTPUT].decode("utf-8", "replace").splitlines()
        return "\n".join(printable(line.replace("\t", " ")) for line in lines)

    def modules(self) -> frozenset[str]:
        """The kernel modules that are loaded."""
        text = self.text("proc/modules") or ""
        return frozenset(line.split(" ", 1)[0] for line in text.splitlines())
