"""``ip address``: the addresses of interfaces, and to give or take one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Address, ip_interface
from typing import Any

from fakes.actions import Action, Effect
from fakes.commands.ip import link
from fakes.commands.ip.invocation import Invocation, NotKnownError, RefusedError, is_show
from fakes.network.interface import Interface, Medium

_FOR_EVER = 4_294_967_295


def run(call: Invocation, words: Sequence[str]) -> int:
    """``show``, ``add`` or ``del``."""
    if is_show(words):
        _show(call, call.selected(words[1:]))
        return 0
    deed = next((d for d in ("add", "delete", "flush") if d.startswith(words[0])), None)
    if deed is None:
        raise NotKnownError(f"address {words[0]}: this is not known here")
    _change(call, deed, list(words[1:]))
    return 0


def _show(call: Invocation, interfaces: Sequence[Interface]) -> None:
    shown = [
        (one, [each for each in _addresses(call, one) if each["scope"] in call.scopes])
        for one in interfaces
    ]
    if call.family in ("inet", "inet6") or len(call.scopes) == 1:
        shown = [(one, addresses) for one, addresses in shown if addresses]
    if call.as_json:
        call.write_json(
            [
                {**link.facts(call, one, mode=False), "addr_info": list(map(_facts, addresses))}
                for one, addresses in shown
            ]
        )
        return
    for one, addresses in shown:
        if call.brief:
            listed = "".join(f"{each['local']}/{each['prefixlen']} " for each in addresses)
            call.out.write(f"{one.name:<16} {link.state_of(one):<14} {listed}\n")
        elif call.one_line:
            for each in addresses:
                first, second = _lines(each)
                call.out.write(f"{one.index}: {one.name}{first}\\{second}\n")
        else:
            call.out.write("".join(f"{line}\n" for line in link.lines(one, mode=False)))
            for each in addresses:
                call.out.write("".join(f"{line}\n" for line in _lines(each)))


def _addresses(call: Invocation, interface: Interface) -> Iterator[dict[str, Any]]:
    """The addresses of an interface, as JSON has them."""
    own = "host" if interface.medium is Medium.LOOPBACK else "global"
    if interface.address and call.family in ("", "inet"):
        address = ip_interface(interface.address)
        yield {
            "family": "inet",
            "local": str(address.ip),
            "prefixlen": address.network.prefixlen,
            "broadcast": None if own == "host" else interface.broadcast,
            "scope": own,
            "label": interface.name,
        }
    if call.family not in ("", "inet6") or not interface.works:
        return
    if own == "host":
        yield {"family": "inet6", "local": "::1", "prefixlen": 128, "scope": "host"}
    else:
        local = _link_local(interface.mac)
        yield {"family": "inet6", "local": local, "prefixlen": 64, "scope": "link"}


def _link_local(mac: str) -> str:
    """The address that the kernel makes of a hardware address (RFC 4291, appendix A; RFC 4391)."""
    octets = [int(part, 16) for part in mac.split(":")]
    if len(octets) == 6:
        octets = [octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]]
    else:
        octets = [octets[-8] | 2, *octets[-7:]]
    return str(IPv6Address(b"\xfe\x80" + bytes(6) + bytes(octets)))


def _lines(each: dict[str, Any]) -> tuple[str, str]:
    broadcast = f" brd {each['broadcast']}" if each.get("broadcast") else ""
    label = f" {each['label']}" if "label" in each else " "
    first = (
        f"    {each['family']} {each['local']}/{each['prefixlen']}{broadcast} scope "
        f"{each['scope']}{label}"
    )
    return first, "       valid_lft forever preferred_lft forever"


def _facts(each: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in each.items() if value is not None}
    return {**known, "valid_life_time": _FOR_EVER, "preferred_life_time": _FOR_EVER}


def _change(call: Invocation, deed: str, words: list[str]) -> None:
    """``add ADDRESS/PREFIX dev NAME``, ``del`` the same, ``flush dev NAME``."""
    address, name = "", ""
    while words:
        word = words.pop(0)
        if word == "dev" and words:
            name = words.pop(0)
        elif word in ("brd", "broadcast", "label", "scope") and words:
            words.pop(0)
        elif not address:
            address = word
        else:
            raise NotKnownError(f"address {deed} {word}: this is not known here")
    interface = call.interface(name)
    if deed == "add":
        try:
            interface.address = str(ip_interface(address))
        except ValueError as error:
            said = f'Error: any valid prefix is expected rather than "{address}".'
            raise RefusedError(said) from error
    elif deed == "delete" and ip_interface(address).ip != ip_interface(interface.address).ip:
        raise RefusedError("RTNETLINK answers: Cannot assign requested address", 2)
    else:
        interface.address = ""
    detail = f"{name} {deed} {address}".strip()
    call.node.actions.note(Action(call.now_us, Effect.SET_LINK, call.node.name, detail=detail))
