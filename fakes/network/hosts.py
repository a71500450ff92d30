"""Names and addresses as /etc/hosts has them (hosts(5)).

A fake fleet has no name server: what a node's own file does not know, it cannot resolve.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

HOSTS = "/etc/hosts"

_HEAD = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: an address, its canonical name, and other names."""

    address: str
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of its names."""
        return (self.name, *self.aliases)


def entries(text: str) -> Iterator[Entry]:
    """The lines that say something. One without a valid address or a name is none."""
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if names and _is_address(address):
            yield Entry(address, names[0], tuple(names[1:]))


def resolve(text: str, name: str) -> tuple[str, ...]:
    """The addresses of a name, IPv4 first, in the order of the file; an address is its own."""
    if _is_address(name):
        return (name,)
    wanted = name.lower()
    found = [
        entry.address
        for entry in entries(text)
        if any(known.lower() == wanted for known in entry.names)
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda address: ":" in address))


def name_of(text: str, address: str) -> Entry | None:
    """The first line of an address."""
    return next((entry for entry in entries(text) if entry.address == address), None)


def is_loopback(address: str) -> bool:
    """Whether an address means each machine itself (127.0.0.0/8, ::1)."""
    return _is_address(address) and ip_address(address).is_loopback


def hosts_text(nodes: Iterable[tuple[str, str]]) -> str:
    """The file of a fleet in order: a line for each node, (address, name)."""
    return _HEAD + "".join(f"{address} {name}\n" for address, name in nodes)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
