"""``rdma`` of iproute2: RDMA links, and what their adapters have counted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.infiniband import Adapter
from fakes.node import Node
from fakes.world import World

_PHYSICAL = {"LinkUp": "LINK_UP", "Polling": "POLLING", "Disabled": "DISABLED"}


@command("rdma", latency_us=5_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``[-j] link | dev | statistic [show [DEVICE[/PORT]]] [-j]``."""
    flags = {word for word in argv if word.startswith("-")}
    words = [word for word in argv if not word.startswith("-")]
    if flags - {"-j", "--json", "-p", "-d"} or not words:
        err.write(f"rdma: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    what, *rest = words
    names = [word.partition("/")[0] for word in rest if word not in ("show", "list", "link")]
    adapters = [one for one in node.network.adapters if not names or one.name in names]
    if names and not adapters:
        err.write("Wrong device name\n")
        return 1
    if "link".startswith(what):
        rows = [_link(one) for one in adapters]
    elif "statistic".startswith(what):
        rows = [_statistics(one, world.now_us) for one in adapters]
    elif "device".startswith(what):
        rows = [_device(at, one) for at, one in enumerate(adapters)]
    else:
        err.write(f"rdma: {what}: this object is not known here\n")
        return NOT_UNDERSTOOD
    if flags & {"-j", "--json"}:
        out.write(json.dumps(rows, separators=(",", ":")) + "\n")
        return 0
    for row in rows:
        out.write(_text("dev" if "device".startswith(what) else "link", row))
    return 0


def _link(adapter: Adapter) -> dict[str, Any]:
    return {
        "ifindex": int(adapter.name.removeprefix("mlx5_")),
        "ifname": adapter.name,
        "port": 1,
        "subnet_prefix": "fe80:0000:0000:0000",
        "lid": adapter.lid if adapter.is_active else 0xFFFF,
        "sm_lid": adapter.subnet_manager_lid,
        "lmc": 0,
        "state": adapter.state.value[1],
        "physical_state": _PHYSICAL[adapter.physical.value[1]],
    }


def _statistics(adapter: Adapter, at_us: int) -> dict[str, Any]:
    counted = {name: tally.at(at_us) for name, tally in adapter.hardware_counters.items()}
    return {"ifname": adapter.name, "port": 1, **counted}


def _device(index: int, adapter: Adapter) -> dict[str, Any]:
    guid = adapter.guid_text
    return {
        "ifindex": index,
        "ifname": adapter.name,
        "node_type": "ca",
        "fw": adapter.generation.firmware,
        "node_guid": guid,
        "sys_image_guid": guid,
    }


def _text(kind: str, row: dict[str, Any]) -> str:
    """As iproute2 writes it: the name, then each word and its value."""
    rest = {name: value for name, value in row.items() if name not in ("ifindex", "ifname", "port")}
    told = " ".join(f"{name} {value}" for name, value in rest.items())
    if kind == "dev":
        return f"{row['ifindex']}: {row['ifname']}: {told} \n"
    return f"link {row['ifname']}/{row['port']} {told} \n"
