"""``hostname``: the node's name, and the addresses that it leads to (Debian's hostname 3.23).

``-i`` and ``-f`` look the name up in /etc/hosts, ``-I`` lists the addresses of the interfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.hosts import HOSTS, entries, resolve
from fakes.network.interface import Medium
from fakes.node import Node

_FLAGS = {
    "s": "short", "f": "fqdn", "i": "ip-address", "I": "all-ip-addresses", "d": "domain",
    "A": "all-fqdns", "a": "alias",
}  # fmt: skip


@command("hostname", latency_us=1_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Print what was asked for; 1 where the name leads nowhere."""
    try:
        options, words = parse(argv, _FLAGS, {}, (), ("long",))
    except UnknownOptionError as unknown:
        err.write(f"hostname: {unknown}\n")
        return NOT_UNDERSTOOD
    if words:
        err.write(f"hostname: {words[0]}: to name a node is not known here\n")
        return NOT_UNDERSTOOD
    hosts = node.files.read(HOSTS) or ""
    if {"all-ip-addresses", "all-fqdns"} & set(options):
        out.write("".join(f"{one} " for one in _outward(node)) + "\n")
        return 0
    if {"ip-address", "fqdn", "long", "domain", "alias"} & set(options):
        addresses = resolve(hosts, node.name)
        if not addresses:
            err.write("hostname: Name or service not known\n")
            return 1
        return _looked_up(options, hosts, node.name, addresses, out)
    out.write(f"{node.name.partition('.')[0] if 'short' in options else node.name}\n")
    return 0


def _looked_up(
    options: dict[str, str], hosts: str, name: str, addresses: Sequence[str], out: TextIO
) -> int:
    """What /etc/hosts makes of the name: addresses, or the canonical name of its first line."""
    entry = next(one for one in entries(hosts) if name in one.names)
    if "ip-address" in options:
        out.write(f"{' '.join(addresses)}\n")
    elif "domain" in options:
        out.write(f"{entry.name.partition('.')[2]}\n")
    elif "alias" in options:
        out.write(f"{' '.join(entry.aliases)}\n")
    else:
        out.write(f"{entry.name}\n")
    return 0


def _outward(node: Node) -> list[str]:
    """The addresses of interfaces that are up, but for loopback's."""
    return [
        one.ip
        for one in node.network.interfaces
        if one.is_up and one.ip and one.medium is not Medium.LOOPBACK
    ]
