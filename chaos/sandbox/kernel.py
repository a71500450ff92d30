"""The few system calls that Python 3.10 has no function for. Imports little: PID 1 uses it.

Mounts are made by the calls of Linux 5.12 and later (open_tree, mount_setattr, move_mount): a tree
of mounts is copied, made read-only as a whole while nobody can see it yet, and put in its place. So
there is no moment at which something of the machine lies open.
"""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 0x1, 0x2, 0x4, 0x8
"""Restrictions of a mount; the same bits in mount(2) and in mount_setattr(2)."""

_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_MNT_DETACH = 2
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH = 0x1, 0x4
_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442  # the same on every machine
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_SET_MODE_FILTER, _FILTER_FLAG_SPEC_ALLOW = 1, 4
_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
    return result


def _call(number: int, name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_uint64]) -> int:
    """A system call that the C library may not have."""
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    return _check(result, name)


# --- namespaces ----------------------------------------------------------------------------------


def unshare(flags: int) -> None:
    """Move this process into new namespaces (unshare(2)); a new PID namespace is its children's."""
    _check(_libc.unshare(flags), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Join a namespace (setns(2)); a PID namespace is joined by the children."""
    _check(_libc.setns(descriptor, kind), "setns")


# --- mounts --------------------------------------------------------------------------------------


def mount(kind: str, target: str, restrictions: int = 0, options: str = "") -> None:
    """Mount a new file system of a kind on ``target``."""
    words = [kind.encode(), os.fsencode(target), kind.encode()]
    flags = ctypes.c_ulong(restrictions)
    _check(_libc.mount(*words, flags, os.fsencode(options) or None), f"mount {kind} on {target}")


def make_mounts_private() -> None:
    """Keep what is mounted from now on within this mount namespace, and what others mount out."""
    _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None), "mount /")


def copied(path: str, restrictions: int) -> int:
    """A copy of the mounts at ``path`` and below, each with ``restrictions``: a descriptor."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE
    tree = _call(_SYS_OPEN_TREE, f"open_tree {path}", _AT_FDCWD, os.fsencode(path), flags)
    attributes = (ctypes.c_uint64 * 4)(restrictions, 0, 0, 0)  # set, clear, propagation, users
    flags, size = _AT_EMPTY_PATH | _AT_RECURSIVE, ctypes.sizeof(attributes)
    try:
        _call(_SYS_MOUNT_SETATTR, f"mount_setattr {path}", tree, b"", flags, attributes, size)
    except OSError:
        os.close(tree)
        raise
    return tree


def attach(tree: int, target: str) -> None:
    """Put copied mounts over ``target``, and close the descriptor."""
    try:
        place = (_AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
        _call(_SYS_MOVE_MOUNT, f"move_mount {target}", tree, b"", *place)
    finally:
        os.close(tree)


def pivot(root: str) -> None:
    """Make the mount on ``root`` the root of this mount namespace, over the old one."""
    os.chdir(root)
    _check(_libc.pivot_root(b".", b"."), f"pivot_root {root}")


def drop_old_root() -> None:
    """After :func:`pivot`: let go of the old root. The current directory is the root then."""
    _check(_libc.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


# --- power ---------------------------------------------------------------------------------------


def forbid_new_privileges() -> None:
    """From now on no program gains anything by being set-user-ID (PR_SET_NO_NEW_PRIVS)."""
    one, zero = ctypes.c_ulong(1), ctypes.c_ulong(0)
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, one, zero, zero, zero), "prctl")


def install_filter(number: int, instructions: bytes) -> None:
    """Filter this process's system calls from now on; ``number`` is that of seccomp(2) here."""
    kept = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HxxxxxxP", len(instructions) // 8, ctypes.addressof(kept))
    _call(number, "seccomp", _SET_MODE_FILTER, _FILTER_FLAG_SPEC_ALLOW, program)


def keep_capabilities(kept: int) -> None:
    """Give up every capability but those whose bits are set in ``kept``, for good."""
    zero = ctypes.c_ulong(0)
    for number in range(_LAST_CAPABILITY + 1):
        if not kept >> number & 1:
            # One that this kernel does not know is an error, and no loss.
            _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(number), zero, zero, zero)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    _check(_libc.capget(header, sets), "capget")
    for at in range(6):  # effective, permitted, inheritable of the lower half, then of the upper
        sets[at] &= kept >> (32 * (at // 3)) & 0xFFFFFFFF
    _check(_libc.capset(header, sets), "capset")
