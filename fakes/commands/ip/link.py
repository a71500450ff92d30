"""``ip link``: interfaces, whether they work, what they counted; and to put them up or down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fakes.actions import Action, Effect
from fakes.commands.ip.invocation import Invocation, NotKnownError, RefusedError, is_show
from fakes.network.interface import Interface, Medium

_KIND = {
    Medium.LOOPBACK: "loopback",
    Medium.ETHERNET: "ether",
    Medium.BRIDGE: "ether",
    Medium.INFINIBAND: "infiniband",
}
_EVERYBODY = {
    Medium.LOOPBACK: "00:00:00:00:00:00",
    Medium.INFINIBAND: "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff",
}
_QUEUE = {Medium.INFINIBAND: 256}
_COLUMNS = (10, 7, 6, 7, 7, 7)
"""The least widths of the columns of counters (size_columns in ip/ipaddress.c)."""

_DISCIPLINE = {Medium.LOOPBACK: "noqueue", Medium.BRIDGE: "noqueue"}


def run(call: Invocation, words: Sequence[str]) -> int:
    """``show`` or ``set``."""
    if is_show(words):
        show(call, call.selected(words[1:]))
        return 0
    if "set".startswith(words[0]):
        _set(call, list(words[1:]))
        return 0
    raise NotKnownError(f"link {words[0]}: this is not known here")


def show(call: Invocation, interfaces: Sequence[Interface]) -> None:
    """Show the links themselves."""
    if call.as_json:
        call.write_json([facts(call, one, mode=True) for one in interfaces])
        return
    for one in interfaces:
        if call.brief:
            flags = ",".join(flags_of(one))
            call.out.write(f"{one.name:<16} {state_of(one):<14} {one.mac} <{flags}> \n")
        else:
            call.write_record([*lines(one, mode=True), *_stats_lines(call, one)])


def flags_of(interface: Interface) -> list[str]:
    """Its flags, in iproute2's order."""
    flags = []
    if interface.is_up and not interface.carrier:
        flags.append("NO-CARRIER")
    if interface.medium is Medium.LOOPBACK:
        flags.append("LOOPBACK")
    else:
        flags += ["BROADCAST", "MULTICAST"]
    if interface.is_up:
        flags.append("UP")
    if interface.works:
        flags.append("LOWER_UP")
    return flags


def state_of(interface: Interface) -> str:
    """Its operational state."""
    return interface.operstate.upper()


def lines(interface: Interface, *, mode: bool) -> list[str]:
    """The two lines of a link."""
    flags = ",".join(flags_of(interface))
    discipline, queue = _queueing(interface)
    shown_mode = " mode DEFAULT" if mode else ""
    return [
        f"{interface.index}: {interface.name}: <{flags}> mtu {interface.mtu} qdisc {discipline} "
        f"state {state_of(interface)}{shown_mode} group default qlen {queue}",
        f"    link/{_KIND[interface.medium]} {interface.mac} brd {_broadcast(interface)}",
    ]


def facts(call: Invocation, interface: Interface, *, mode: bool) -> dict[str, Any]:
    """The same for JSON."""
    discipline, queue = _queueing(interface)
    found: dict[str, Any] = {
        "ifindex": interface.index,
        "ifname": interface.name,
        "flags": flags_of(interface),
        "mtu": interface.mtu,
        "qdisc": discipline,
        "operstate": state_of(interface),
        **({"linkmode": "DEFAULT"} if mode else {}),
        "group": "default",
        "txqlen": queue,
        "link_type": _KIND[interface.medium],
        "address": interface.mac,
        "broadcast": _broadcast(interface),
    }
    if call.stats:
        found["stats64"] = _stats(call, interface)
    return found


def _queueing(interface: Interface) -> tuple[str, int]:
    return _DISCIPLINE.get(interface.medium, "mq"), _QUEUE.get(interface.medium, 1000)


def _broadcast(interface: Interface) -> str:
    return _EVERYBODY.get(interface.medium, "ff:ff:ff:ff:ff:ff")


def _stats(call: Invocation, interface: Interface) -> dict[str, dict[str, int]]:
    counted = {name: tally.at(call.now_us) for name, tally in interface.counters.items()}
    return {
        "rx": {
            "bytes": counted["rx_bytes"],
            "packets": counted["rx_packets"],
            "errors": counted["rx_errors"],
            "dropped": counted["rx_dropped"],
            "over_errors": counted["rx_missed_errors"],
            "multicast": 0,
        },
        "tx": {
            "bytes": counted["tx_bytes"],
            "packets": counted["tx_packets"],
            "errors": counted["tx_errors"],
            "dropped": counted["tx_dropped"],
            "carrier_errors": 0,
            "collisions": 0,
        },
    }


def _stats_lines(call: Invocation, interface: Interface) -> Iterator[str]:
    """The counters under their headings, whose columns are as wide as the largest number."""
    if not call.stats:
        return
    counted = {way: list(map(str, one.values())) for way, one in _stats(call, interface).items()}
    wide = [
        max(least, *(len(cells[at]) for cells in counted.values()))
        for at, least in enumerate(_COLUMNS)
    ]
    for way, last in (("rx", ("missed", "mcast")), ("tx", ("carrier", "collsns"))):
        names = ("bytes", "packets", "errors", "dropped", *last)
        widths = (wide[0] - 4, *wide[1:])
        heading = " ".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
        widths = (wide[0] + 4, *wide[1:])
        row = " ".join(f"{one:>{width}}" for one, width in zip(counted[way], widths, strict=True))
        yield f"    {way.upper()}: {heading}{' ' * 11}"
        yield f"{row} "


def _set(call: Invocation, words: list[str]) -> None:
    """``set [dev] NAME up | down | mtu N``."""
    name, wanted = "", []
    while words:
        word = words.pop(0)
        if word == "dev" and words:
            name = words.pop(0)
        elif word in ("up", "down"):
            wanted.append((word, ""))
        elif word == "mtu" and words:
            wanted.append((word, words.pop(0)))
        elif not name:
            name = word
        else:
            raise NotKnownError(f"link set {word}: this is not known here")
    if not name:
        raise RefusedError('Not enough information: "dev" argument is required.', 255)
    interface = call.interface(name) if call.node.network.interface(name) else None
    if interface is None:
        raise RefusedError(f'Cannot find device "{name}"')
    for what, value in wanted:
        _change(call, interface, what, value)


def _change(call: Invocation, interface: Interface, what: str, value: str) -> None:
    if what == "mtu":
        if not value.isdecimal():
            raise RefusedError(f'Error: argument "{value}" is wrong: Invalid "mtu" value', 255)
        interface.mtu = int(value)
    else:
        interface.is_up = what == "up"
    detail = f"{interface.name} {what} {value}".strip()
    note = Action(call.now_us, Effect.SET_LINK, call.node.name, detail=detail)
    call.node.actions.note(note)
