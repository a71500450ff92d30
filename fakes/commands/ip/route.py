"""``ip route``: where what goes, and by which interface one address is reached."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from fakes.commands.ip.invocation import Invocation, NotKnownError, RefusedError, is_show
from fakes.network.interface import Interface


def run(call: Invocation, words: Sequence[str]) -> int:
    """``show`` or ``get``."""
    if is_show(words):
        _show(call, list(words[1:]))
        return 0
    if words[0] == "get" and len(words) > 1:
        _get(call, words[1])
        return 0
    raise NotKnownError(f"route {words[0]}: this is not known here")


def _routes(call: Invocation) -> list[dict[str, Any]]:
    """The routes: out by the first interface, and one to the network of each."""
    outward = [one for one in call.node.network.outward if one.is_up and one.address]
    routes: list[dict[str, Any]] = []
    if outward:
        first = outward[0]
        routes.append({"dst": "default", "gateway": gateway(first), "dev": first.name, "flags": []})
    for one in outward:
        routes.append(
            {
                "dst": one.network,
                "dev": one.name,
                "protocol": "kernel",
                "scope": "link",
                "prefsrc": one.ip,
                "flags": [] if one.carrier else ["linkdown"],
            }
        )
    return routes


def gateway(interface: Interface) -> str:
    """The router of its network: the last address of it."""
    return str(ip_network(interface.network)[-2])


def _show(call: Invocation, words: list[str]) -> None:
    routes = _routes(call)
    while words:
        word = words.pop(0)
        if word == "dev" and words:
            name = call.interface(words.pop(0)).name
            routes = [one for one in routes if one["dev"] == name]
        elif word in ("default", "0.0.0.0/0"):
            routes = [one for one in routes if one["dst"] == "default"]
        elif word in ("table", "via", "proto", "scope", "type"):
            raise NotKnownError(f"route show {word}: this is not known here")
        else:
            routes = [one for one in routes if one["dst"] == word]
    if call.as_json:
        call.write_json(routes)
        return
    for one in routes:
        via = f" via {one['gateway']}" if "gateway" in one else ""
        rest = (
            f" proto {one['protocol']} scope {one['scope']} src {one['prefsrc']}"
            if "protocol" in one
            else ""
        )
        flags = "".join(f" {flag}" for flag in one["flags"])
        call.out.write(f"{one['dst']}{via} dev {one['dev']}{rest}{flags} \n")


def _get(call: Invocation, text: str) -> None:
    try:
        ip_address(text)
    except ValueError as error:
        said = f'Error: any valid prefix is expected rather than "{text}".'
        raise RefusedError(said) from error
    network = call.node.network
    own = network.owner_of(text)
    outward = [one for one in network.outward if one.is_up and one.address]
    direct = next((one for one in outward if one.reaches(text)), None)
    if own is not None or ip_address(text).is_loopback:
        found = {"dst": text, "dev": "lo", "prefsrc": text}
        line = f"local {text} dev lo src {text} uid 0 "
    elif direct is not None:
        found = {"dst": text, "dev": direct.name, "prefsrc": direct.ip}
        line = f"{text} dev {direct.name} src {direct.ip} uid 0 "
    elif outward:
        first = outward[0]
        found = {"dst": text, "gateway": gateway(first), "dev": first.name, "prefsrc": first.ip}
        line = f"{text} via {gateway(first)} dev {first.name} src {first.ip} uid 0 "
    else:
        raise RefusedError("RTNETLINK answers: Network is unreachable", 2)
    if call.as_json:
        call.write_json([{**found, "flags": [], "uid": 0, "cache": []}])
    else:
        call.out.write(f"{line}\n    cache \n")
