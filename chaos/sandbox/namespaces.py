"""New namespaces for a node, as root and as a plain user.

A user namespace comes first: within it a plain user may mount, and root loses all power over the
machine itself (its modules, its kernel log, its devices). Every user and group keeps the number it
has outside; a plain user has only its own. The node's programs get a user namespace below it: what
was mounted above, they cannot undo.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chaos.sandbox import kernel
from chaos.sandbox.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
)
from chaos.sandbox.seccomp import filter_calls

KINDS = {
    "user": CLONE_NEWUSER,
    "ipc": CLONE_NEWIPC,
    "uts": CLONE_NEWUTS,
    "net": CLONE_NEWNET,
    "mnt": CLONE_NEWNS,
    "pid": CLONE_NEWPID,
}
"""The namespaces of a node's first process, in the order in which they are joined."""

_KEPT_CAPABILITIES = sum(
    1 << number
    for number in (
        0,  # CHOWN
        1,  # DAC_OVERRIDE
        3,  # FOWNER
        4,  # FSETID
        5,  # KILL
        6,  # SETGID
        7,  # SETUID
        8,  # SETPCAP
        10,  # NET_BIND_SERVICE
        18,  # SYS_CHROOT
    )
)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_INTERFACE_FLAGS = struct.Struct("16sH22x")  # struct ifreq


def new_namespaces(*, user: bool) -> None:
    """Move into new namespaces; ``user`` False does without a user namespace (root only)."""
    flags = CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWPID
    if not user:
        kernel.unshare(flags)
    elif os.geteuid() == 0:
        _with_every_user(flags)
    else:
        uid, gid = os.geteuid(), os.getegid()
        kernel.unshare(flags | CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")


def new_network(*, user: bool) -> int:
    """Join a new network, loopback and nothing else; the user namespace that owns it, or -1.

    Whoever is root in that one below ours may do with the node's network as it likes.
    """
    if not user:
        kernel.unshare(CLONE_NEWNET)
        users = -1
    else:
        with _child(lambda: kernel.unshare(CLONE_NEWUSER | CLONE_NEWNET)) as helper:
            _map_users(helper)
            users = os.open(f"/proc/{helper}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
            network = os.open(f"/proc/{helper}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        kernel.setns(network, CLONE_NEWNET)
        os.close(network)
    _bring_up("lo")
    # Any user may be a server: on a node of their own nobody is to be protected from them.
    with contextlib.suppress(OSError):
        _write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
    return users


def new_view(root: str, users: int) -> int:
    """A mount namespace that sees ``root`` as its root, for programs in ``users``: a descriptor."""

    def move() -> None:
        see(root)
        kernel.drop_old_root()
        become_powerless(users)

    with _child(move) as helper:
        return os.open(f"/proc/{helper}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)


def see(root: str) -> None:
    """Move into a new mount namespace whose root is the mount on ``root``; the old one lies over it
    until :func:`chaos.sandbox.kernel.drop_old_root`.
    """
    kernel.unshare(CLONE_NEWNS)
    kernel.pivot(root)


def become_powerless(users: int) -> None:
    """Move below the user namespace that mounted what we see, so that it cannot be undone.

    Without user namespaces (``users`` -1), give up the capabilities to undo it. Either way there is
    no way back: set-user-ID programs gain nothing any more.
    """
    if users < 0:
        kernel.keep_capabilities(_KEPT_CAPABILITIES)
    else:
        kernel.setns(users, CLONE_NEWUSER)
        kernel.unshare(CLONE_NEWNS)
    kernel.forbid_new_privileges()
    filter_calls()


def _with_every_user(flags: int) -> None:
    """Map every user. Only one who stays outside may do that: a child, which then ends."""
    inside, outside = os.pipe()
    parent = os.getpid()

    def wait_and_map() -> None:
        os.close(outside)
        os.read(inside, 1)
        _map_users(parent)

    child = _forked(wait_and_map)
    os.close(inside)
    try:
        kernel.unshare(flags | CLONE_NEWUSER)
    finally:
        os.close(outside)
        _, status = os.waitpid(child, 0)
    if status != 0:
        raise PermissionError(1, "the users of a new user namespace cannot be mapped")


def _map_users(pid: int) -> None:
    """Map every user and group of ours onto itself in the new user namespace of a process."""
    for name in ("uid_map", "gid_map"):
        rows = [line.split() for line in Path(f"/proc/self/{name}").read_text().splitlines()]
        _write(f"/proc/{pid}/{name}", "".join(f"{row[0]} {row[0]} {row[2]}\n" for row in rows))


@contextmanager
def _child(action: Callable[[], None]) -> Iterator[int]:
    """A child that has done ``action`` lives inside the ``with``; its PID. Its OSError is ours."""
    told, tells = os.pipe()
    kept, keeps = os.pipe()

    def act_and_wait() -> None:
        os.close(keeps)
        try:
            action()
        except OSError as error:
            os.write(tells, f"{error.errno} {error.strerror}".encode())
            return
        os.close(tells)
        os.read(kept, 1)

    child = _forked(act_and_wait)
    os.close(tells)
    os.close(kept)
    try:
        number, _, text = os.read(told, 1024).decode().partition(" ")
        if number:
            raise OSError(int(number), text)
        yield child
    finally:
        os.close(told)
        os.close(keeps)
        os.waitpid(child, 0)


def _forked(action: Callable[[], None]) -> int:
    """A child that does ``action`` and ends; its status is 0 if that went well."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            status = 0
        finally:
            os._exit(status)
    return child


def _bring_up(interface: str) -> None:
    """Let a network interface work."""
    with socket.socket() as asked:
        request = _INTERFACE_FLAGS.pack(interface.encode(), 0)
        found = fcntl.ioctl(asked, _SIOCGIFFLAGS, request)
        flags = _INTERFACE_FLAGS.unpack(found)[1] | _IFF_UP
        fcntl.ioctl(asked, _SIOCSIFFLAGS, _INTERFACE_FLAGS.pack(interface.encode(), flags))


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
