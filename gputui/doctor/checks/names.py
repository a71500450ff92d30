"""Names: ranks find each other by them."""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, skipped, warning
from gputui.doctor.site import Site

_PATIENCE_S = 5.0


@check("names")
def names(site: Site) -> Iterator[Result]:
    """Every node's name resolves, to an address that others can reach, and to one of its own."""
    own = (site.text("proc/sys/kernel/hostname") or os.uname().nodename).strip()
    asked = site.nodes or (own,)
    found = _resolved(site, (*asked, own))
    bad = [*_unresolved(asked, found), *_looped(own, found, site.nodes), *_doubled(asked, found)]
    yield from bad
    if bad:
        return
    if site.nodes:
        yield good(f"{len(asked)} names resolve, each to an address of its own")
    else:
        yield skipped(f"{own} resolves; name the nodes of a job with --nodes to check them")


def _resolved(site: Site, asked: tuple[str, ...]) -> dict[str, tuple[str, ...] | str]:
    """The addresses of each name, or why there are none. Nobody waits for a resolver that hangs."""
    found: dict[str, tuple[str, ...] | str] = {}

    def look(name: str) -> None:
        try:
            found[name] = site.resolve(name)
        except OSError as error:
            found[name] = (error.strerror or str(error)).lower()

    threads = [
        threading.Thread(target=look, args=(name,), daemon=True) for name in dict.fromkeys(asked)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE_S)
    return {name: found.get(name, f"no answer in {_PATIENCE_S:g} s") for name in asked}


def _unresolved(
    asked: tuple[str, ...], found: dict[str, tuple[str, ...] | str]
) -> Iterator[Result]:
    for name in asked:
        why = found[name]
        if isinstance(why, str) or not why:
            yield critical(
                f"{name} does not resolve: {why or 'no address'}",
                fix=f"echo ADDRESS {name} >> /etc/hosts, or mend /etc/resolv.conf",
            )


def _looped(
    own: str, found: dict[str, tuple[str, ...] | str], nodes: tuple[str, ...]
) -> Iterator[Result]:
    """A node that calls itself 127.0.1.1 tells others to look for it at home."""
    for name in dict.fromkeys((*nodes, own)):
        addresses = found[name]
        if isinstance(addresses, str) or not addresses:
            continue
        if all(_is_loopback(address) for address in addresses):
            tell = critical if nodes else warning
            yield tell(
                f"{name} resolves to {addresses[0]} here: ranks on other nodes cannot use that",
                fix=f"sed -i 's/^{addresses[0]}.*{name}/ADDRESS {name}/' /etc/hosts",
            )


def _doubled(asked: tuple[str, ...], found: dict[str, tuple[str, ...] | str]) -> Iterator[Result]:
    owners: dict[str, str] = {}
    for name in asked:
        addresses = found[name]
        if isinstance(addresses, str):
            continue
        for address in addresses:
            other = owners.setdefault(address, name)
            if other != name and not _is_loopback(address):
                yield critical(
                    f"{other} and {name} both resolve to {address}",
                    fix=f"grep -n '{address}' /etc/hosts",
                )
                break


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
