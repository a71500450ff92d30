"""``ip neighbour``: the other nodes' hardware addresses, as far as they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fakes.commands.ip.invocation import Invocation, NotKnownError, is_show
from fakes.nccl.job import outcome_of_reaching
from fakes.network.interface import Medium

_MOST = 64


def run(call: Invocation, words: Sequence[str]) -> int:
    """``show``."""
    if not is_show(words):
        raise NotKnownError(f"neighbour {words[0]}: this is not known here")
    chosen = {one.name for one in call.selected(words[1:])}
    found = [one for one in _neighbours(call) if one["dev"] in chosen]
    if call.as_json:
        call.write_json(found)
        return 0
    for one in found:
        lladdr = f" lladdr {one['lladdr']}" if "lladdr" in one else ""
        call.out.write(f"{one['dst']} dev {one['dev']}{lladdr} {one['state'][0]} \n")
    return 0


def _neighbours(call: Invocation) -> Iterator[dict[str, Any]]:
    """The other nodes, each on each of our networks that works."""
    others = [node for node in call.world.nodes.values() if node is not call.node][:_MOST]
    for interface in call.node.network.outward:
        if not interface.works or interface.medium is Medium.BRIDGE:
            continue
        for node in others:
            theirs = node.network.interface(interface.name)
            if theirs is None or not theirs.ip:
                continue
            why = outcome_of_reaching(call.node, interface, node, theirs.ip)
            facts: dict[str, Any] = {"dst": theirs.ip, "dev": interface.name}
            if why is None:
                facts["lladdr"] = theirs.mac
            yield {**facts, "state": ["REACHABLE" if why is None else "FAILED"]}
