"""A filter of system calls (seccomp(2)) for the two ways out that no namespace closes.

A program on a node shares its caller's terminal, and could type into it what the caller's shell
reads once the program has ended (TIOCSTI, TIOCLINUX). And sockets of the family AF_VSOCK lead from
a virtual machine to its host, whatever the network. Imports little.
"""

from __future__ import annotations

import errno
import platform
import struct
from typing import NamedTuple

from chaos.sandbox import kernel

_TIOCSTI, _TIOCLINUX, _AF_VSOCK = 0x5412, 0x541C, 40
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16  # struct seccomp_data
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000 | errno.EPERM
_INSTRUCTION = struct.Struct("HBBI")
_X32 = 0x40000000
"""Above this, x86-64 numbers its calls anew; nobody needs those."""


class _Calls(NamedTuple):
    """The numbers of two system calls for programs built for ``machine`` (AUDIT_ARCH_*)."""

    machine: int
    ioctl: int
    socket: int


_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CALLS = {
    "x86_64": (_Calls(0xC000003E, 16, 41), _Calls(0x40000003, 54, 359)),
    "aarch64": (_Calls(0xC00000B7, 29, 198), _Calls(0x40000028, 54, 281)),
}


def filter_calls() -> None:
    """Refuse those calls to this process and its children, for good.

    Needs :func:`chaos.sandbox.kernel.forbid_new_privileges` first. On a machine whose numbers are
    not known here there is no filter.
    """
    machine = platform.machine()
    if machine in _SECCOMP:
        instructions = b"".join(map(_refusals, _CALLS[machine])) + _instruction(_RETURN, _ALLOW)
        kernel.install_filter(_SECCOMP[machine], instructions)


def _refusals(calls: _Calls) -> bytes:
    """Instructions that end in a refusal, or go on to what follows them."""
    body = [
        _instruction(_LOAD, _NUMBER_AT),
        _instruction(_IF_AT_LEAST, _X32, 9, 0),
        _instruction(_IF_EQUAL, calls.socket, 5, 0),
        _instruction(_IF_EQUAL, calls.ioctl, 0, 8),
        _instruction(_LOAD, _ARGUMENTS_AT + 8),
        _instruction(_IF_EQUAL, _TIOCSTI, 5, 0),
        _instruction(_IF_EQUAL, _TIOCLINUX, 4, 0),
        _instruction(_RETURN, _ALLOW),
        _instruction(_LOAD, _ARGUMENTS_AT),
        _instruction(_IF_EQUAL, _AF_VSOCK, 1, 0),
        _instruction(_RETURN, _ALLOW),
        _instruction(_RETURN, _FAIL),
    ]
    head = [
        _instruction(_LOAD, _MACHINE_AT),
        _instruction(_IF_EQUAL, calls.machine, 0, len(body)),
    ]
    return b"".join([*head, *body])


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction; the last two say how many to skip where the condition holds, or does not."""
    return _INSTRUCTION.pack(code, then, otherwise, value)
