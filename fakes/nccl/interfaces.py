"""Which interface NCCL takes for itself, by NCCL_SOCKET_IFNAME and by its own preferences.

As findInterfaces and matchIf have it in NCCL's src/misc/socket.cc (2.10 to 2.27): names are
prefixes; ``=`` in front of the list asks for equal names, ``^`` excludes, ``^=`` both. A value of
one character is as good as none. Without a value: an interface that begins with "ib", else any but
loopback and Docker's, else Docker's, else loopback. Whether an interface is up is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from fakes.network.interface import Interface

VARIABLE = "NCCL_SOCKET_IFNAME"

_OWN_CHOICES = ("ib", "^docker,lo", "docker", "lo")


def chosen(interfaces: Sequence[Interface], value: str | None) -> tuple[Interface, ...]:
    """The interfaces that NCCL may use, in the kernel's order; its bootstrap takes the first."""
    if is_set(value):
        return matching(interfaces, value or "")
    for choice in _OWN_CHOICES:
        if found := matching(interfaces, choice):
            return found
    return ()


def is_set(value: str | None) -> bool:
    """Whether NCCL heeds the variable at all."""
    return value is not None and len(value) > 1


def matching(interfaces: Sequence[Interface], text: str) -> tuple[Interface, ...]:
    """The interfaces with an address that a list of names matches."""
    excludes = text.startswith("^")
    rest = text[1:] if excludes else text
    is_exact = rest.startswith("=")
    names = [name.partition(":")[0] for name in rest.removeprefix("=").split(",")]
    names = [name for name in names if name]
    return tuple(
        one
        for one in interfaces
        if one.ip and _is_listed(one.name, names, is_exact=is_exact) != excludes
    )


def _is_listed(name: str, names: Sequence[str], *, is_exact: bool) -> bool:
    """Whether a name is in a list; an empty list has every name in it."""
    if not names:
        return True
    return any(name == one if is_exact else name.startswith(one) for one in names)
