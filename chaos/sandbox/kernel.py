"""The few system calls that Python 3.10 has no function for. Imports little: PID 1 uses it."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 0x2, 0x4, 0x8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces (unshare(2)); a new PID namespace is its children's."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Join a namespace (setns(2)); a PID namespace is joined by the children."""
    _check(_libc.setns(descriptor, kind), "setns")


def _mount(source: str, target: str, kind: str | None, flags: int) -> None:
    words = [os.fsencode(source), os.fsencode(target), kind.encode() if kind else None]
    _check(_libc.mount(*words, flags, None), f"mount {target}")


def make_mounts_private() -> None:
    """Keep what is mounted from now on within this mount namespace."""
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)


def mount_proc() -> None:
    """Put a /proc of this PID namespace over the old one."""
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def bind(source: str, target: str) -> None:
    """Let ``target`` show ``source``; both are files or both are directories."""
    _mount(source, target, None, _MS_BIND | _MS_REC)
