"""New namespaces for a node, as root and as a plain user.

A user namespace comes first: within it a plain user may mount, and root loses all power over the
machine itself (its modules, its kernel log, its devices). Every user and group keeps the number it
has outside; a plain user has only its own.
"""

from __future__ import annotations

import os
from pathlib import Path

from chaos.sandbox.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    unshare,
)

KINDS = {
    "user": CLONE_NEWUSER,
    "ipc": CLONE_NEWIPC,
    "uts": CLONE_NEWUTS,
    "mnt": CLONE_NEWNS,
    "pid": CLONE_NEWPID,
}
"""The namespaces of a node, in the order in which they are joined."""


def new_namespaces(*, user: bool) -> None:
    """Move into new namespaces; ``user`` False does without a user namespace (root only)."""
    flags = sum(flag for kind, flag in KINDS.items() if kind != "user")
    if not user:
        unshare(flags)
    elif os.geteuid() == 0:
        _with_every_user(flags)
    else:
        uid, gid = os.geteuid(), os.getegid()
        unshare(flags | CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def _with_every_user(flags: int) -> None:
    """Map every user. Only one who stays outside may do that: a child, which then ends."""
    inside, outside = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(outside)
            os.read(inside, 1)
            for name in ("uid_map", "gid_map"):
                _write(f"/proc/{parent}/{name}", _identity(f"/proc/self/{name}"))
            status = 0
        finally:
            os._exit(status)
    os.close(inside)
    try:
        unshare(flags | CLONE_NEWUSER)
    finally:
        os.close(outside)
        _, status = os.waitpid(child, 0)
    if status != 0:
        raise PermissionError(1, "the users of a new user namespace cannot be mapped")


def _identity(path: str) -> str:
    """A map of users onto themselves, as far as there are any here."""
    rows = [line.split() for line in Path(path).read_text(encoding="ascii").splitlines()]
    return "".join(f"{first} {first} {count}\n" for first, _, count in rows)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
