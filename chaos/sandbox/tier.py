"""Which tier of containment there is here, found by trying the best one first."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.errors import UsageError
from chaos.sandbox.host import Containment, NodeEndedError, RefusedError, SandboxHost, Tier
from chaos.sandbox.plan import Root
from chaos.sandbox.view import REAL_GPU

_SETTINGS = (
    (
        Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        Path("/proc/sys/kernel/unprivileged_userns_clone"),
        "0",
        "kernel.unprivileged_userns_clone=1",
    ),
    (Path("/proc/sys/user/max_user_namespaces"), "0", "user.max_user_namespaces=10000"),
)
"""Where a distribution forbids user namespaces: Ubuntu 24.04, older Debian, hardened ones."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tier that was had; ``reason`` says why it is not the best one."""

    containment: Containment
    reason: str = ""

    @property
    def contained(self) -> bool:
        """Whether the node has namespaces of its own."""
        return self.containment.tier is Tier.NAMESPACES

    def sentence(self) -> str:
        """What a user should know about it."""
        if self.contained:
            return "contained by namespaces"
        return (
            f"not contained, by environment variables only ({self.reason}): sudo, setuid and "
            "cleaned environments see this machine's driver, PIDs are this machine's"
        )


def check_uncontained(reason: str, real_gpu: Path = REAL_GPU) -> None:
    """Refuse to do without namespaces where a program could reach a real GPU."""
    if real_gpu.exists():
        raise UsageError(
            f"{real_gpu} exists, and without namespaces a program could act on that real GPU "
            f"({reason}). Run this where user namespaces are allowed, or on a machine without GPUs."
        )


def _remedy() -> str:
    """What allows namespaces where a known setting forbids them."""
    for path, forbids, setting in _SETTINGS:
        try:
            value = path.read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
        if value == forbids:
            return f"; as root, 'sysctl {setting}' allows them"
    return ""


def start_nodes(
    hosts: Sequence[SandboxHost],
    roots: Mapping[str, Root],
    *,
    sandbox: bool = True,
) -> Outcome:
    """Start the first process of every node in the best tier that the first one can have.

    ``roots`` are the nodes' root directories, by name.
    """
    try:
        return _started(hosts, roots, sandbox=sandbox)
    except NodeEndedError as error:
        raise UsageError(f"a node's first process was ended while it started: {error}.") from error


def _started(hosts: Sequence[SandboxHost], roots: Mapping[str, Root], *, sandbox: bool) -> Outcome:
    reason = "--no-sandbox"
    attempts = [Containment(Tier.NAMESPACES)] if sandbox else []
    if sandbox and os.geteuid() == 0:
        # Where user namespaces are switched off, root can do without one.
        attempts.append(Containment(Tier.NAMESPACES, user=False))
    for attempt in attempts:
        try:
            hosts[0].start(attempt, roots[hosts[0].node])
        except RefusedError as error:
            reason = f"namespaces are refused here: {error}{_remedy()}"
            continue
        for host in hosts[1:]:
            host.start(attempt, roots[host.node])
        return Outcome(attempt)
    check_uncontained(reason)
    bare = Containment(Tier.ENVIRONMENT)
    for host in hosts:
        host.start(bare, None)
    return Outcome(bare, reason)
