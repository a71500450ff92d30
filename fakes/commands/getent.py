"""``getent``: names, addresses, users and groups, as the node's own files have them.

A fake fleet has no name server and no directory: /etc/hosts, /etc/passwd and /etc/group are all
(getent(1), glibc 2.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.hosts import HOSTS, Entry, entries, name_of, resolve
from fakes.node import Node

_NOT_FOUND = 2
_TABLES = {"passwd": "/etc/passwd", "group": "/etc/group", "services": "/etc/services"}
_NUMBER_FIELD = 2


@command("getent", latency_us=2_000)
def main(
    argv: Sequence[str],
    node: Node,
    read_file: Callable[[str], str],
    out: TextIO,
    err: TextIO,
) -> int:
    """Look each key up; 2 if one is not there."""
    if not argv or argv[0].startswith("-"):
        err.write(f"getent: {' '.join(argv) or 'no database'}: this is not known here\n")
        return NOT_UNDERSTOOD
    database, *keys = argv
    hosts = node.files.read(HOSTS) or ""
    if database in ("hosts", "ahosts", "ahostsv4", "ahostsv6"):
        look = _HOSTS[database]
        if not keys:
            out.writelines(f"{_line(entry)}\n" for entry in entries(hosts))
            return 0
        return _write(out, [list(look(hosts, key)) for key in keys])
    if database in _TABLES:
        try:
            rows = read_file(_TABLES[database]).splitlines()
        except OSError:
            rows = []
        if not keys:
            out.writelines(f"{row}\n" for row in rows)
            return 0
        return _write(out, [list(_row(rows, key)) for key in keys])
    err.write(f"getent: {database}: this database is not known here\n")
    return NOT_UNDERSTOOD


def _write(out: TextIO, found: Sequence[Sequence[str]]) -> int:
    for lines in found:
        out.writelines(f"{line}\n" for line in lines)
    return 0 if all(found) else _NOT_FOUND


def _line(entry: Entry) -> str:
    return f"{entry.address:<15} {' '.join(entry.names)}"


def _by_name(hosts: str, key: str) -> Iterator[str]:
    """As gethostbyname2: the IPv6 addresses if there are any, else those of IPv4."""
    addresses = resolve(hosts, key)
    if addresses == (key,):
        entry = name_of(hosts, key)
        if entry is not None:
            yield _line(entry)
        return
    newer = [address for address in addresses if ":" in address]
    for address in newer or addresses:
        known = next(
            entry
            for entry in entries(hosts)
            if entry.address == address and key.lower() in map(str.lower, entry.names)
        )
        yield _line(known)


def _all_kinds(family: str) -> Callable[[str, str], Iterator[str]]:
    """As getaddrinfo: each address three times, by kind of socket."""

    def look(hosts: str, key: str) -> Iterator[str]:
        name: str = key
        for address in resolve(hosts, key):
            if (family == "4" and ":" in address) or (family == "6" and ":" not in address):
                continue
            for kind in ("STREAM", "DGRAM", "RAW"):
                yield f"{address:<15} {kind:<6} {name}".rstrip()
                name = ""

    return look


_HOSTS: dict[str, Callable[[str, str], Iterator[str]]] = {
    "hosts": _by_name,
    "ahosts": _all_kinds(""),
    "ahostsv4": _all_kinds("4"),
    "ahostsv6": _all_kinds("6"),
}


def _row(rows: Sequence[str], key: str) -> Iterator[str]:
    """The row of a name, or of a number."""
    for row in rows:
        cells = row.split(":")
        if cells[0] == key or (len(cells) > _NUMBER_FIELD and cells[_NUMBER_FIELD] == key):
            yield row
            return
