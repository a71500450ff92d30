"""The machine around a fake node's GPUs, as gputui would read it from the node's own files."""

from __future__ import annotations

from collections.abc import Iterator

from fakes.network.infiniband import Adapter
from fakes.network.interface import Interface, Medium
from fakes.node import Node
from gputui.model import HostSample, LinkSample, ListenerSample
from gputui.sources.ethernet import ERROR_COUNTERS
from gputui.sources.infiniband import HARDWARE_COUNTERS, PORT_COUNTER_BITS

_COUNTED_S = 1.0
"""Every reading of a run in virtual time has the counters of its own moment."""

_NOT_MEASURED = dict.fromkeys(("rx_bytes_per_s", "tx_bytes_per_s"), "not measured in virtual time")
_UNKNOWN_SPEED = {"speed_mbps": "not known to the driver"}
_NO_RATE = dict.fromkeys(("speed_mbps", "lanes"), "the link is not up")


def host_of(node: Node) -> HostSample:
    """What the world knows of it: the air that comes in, and whether tasks wait for I/O."""
    return HostSample(inlet_c=round(node.inlet_c, 1), io_pressure_percent=node.io_pressure_percent)


def listeners_of(node: Node) -> tuple[ListenerSample, ...]:
    """The ports that processes on its GPUs have opened to other machines."""
    return tuple(ListenerSample(one.pid, one.port, one.address) for one in node.listening)


def links_of(node: Node, at_us: int) -> tuple[LinkSample, ...]:
    """The links that training's traffic uses, as gputui's reader tells them, in its order.

    Interfaces that their administrator has put down are left out there, and so they are here.
    """
    network = node.network
    ports = (_port(adapter, at_us) for adapter in network.adapters)
    return (*ports, *_interfaces(network.interfaces, at_us))


def _port(adapter: Adapter, at_us: int) -> LinkSample:
    totals = {
        name: tally.at(at_us)
        for counters, wanted in (
            (adapter.counters, PORT_COUNTER_BITS),
            (adapter.hardware_counters, HARDWARE_COUNTERS),
        )
        for name in wanted
        if (tally := counters.get(name)) is not None
    }
    up = adapter.is_active
    return LinkSample(
        f"{adapter.name}/1",
        kind="infiniband",
        state=adapter.state.value[1].lower(),
        physical_state=adapter.physical.value[1].lower(),
        speed_mbps=adapter.rate_gbps * 1000 if up else None,
        lanes=adapter.lanes if up else None,
        counters={name: count for name, count in totals.items() if count},
        growth_s=_COUNTED_S,
        missing=_NOT_MEASURED if up else {**_NOT_MEASURED, **_NO_RATE},
    )


def _interfaces(interfaces: tuple[Interface, ...], at_us: int) -> Iterator[LinkSample]:
    for one in interfaces:
        if one.medium is not Medium.ETHERNET or not one.is_up:
            continue
        totals = {name: one.counters[name].at(at_us) for name in ERROR_COUNTERS}
        yield LinkSample(
            one.name,
            state=one.operstate,
            speed_mbps=one.speed_mbps if one.carrier else None,
            carrier_changes=one.carrier_changes,
            counters={name: count for name, count in totals.items() if count},
            growth_s=_COUNTED_S,
            missing=_NOT_MEASURED if one.carrier else {**_NOT_MEASURED, **_UNKNOWN_SPEED},
        )
