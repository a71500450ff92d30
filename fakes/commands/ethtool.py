"""``ethtool``: an interface's link, its driver and its counters (ethtool 6.1; mlx5's names)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.interface import Interface, Medium
from fakes.node import Node
from fakes.world import World

_NO_DEVICE = {"": 75, "-i": 71, "-S": 96}
_COUNTERS = {
    "rx_packets": "rx_packets",
    "rx_bytes": "rx_bytes",
    "tx_packets": "tx_packets",
    "tx_bytes": "tx_bytes",
    "rx_out_of_buffer": "rx_dropped",
    "rx_crc_errors_phy": "rx_crc_errors",
    "rx_discards_phy": "rx_missed_errors",
    "tx_errors_phy": "tx_errors",
    "tx_discards_phy": "tx_dropped",
}
"""The driver's names (Documentation/networking/device_drivers/ethernet/mellanox/mlx5), and ours."""

_ZEROES = ("rx_symbol_err_phy", "rx_pcs_symbol_err_phy", "rx_prio0_discards", "rx_prio0_pause")


@command("ethtool", latency_us=10_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``IF``, ``-i IF`` or ``-S IF``; as the real one ends where there is no such interface."""
    long = {"--driver": "-i", "--statistics": "-S"}
    words = [long.get(word, word) for word in argv]
    what = words.pop(0) if words and words[0].startswith("-") else ""
    if what == "--version":
        out.write("ethtool version 6.1\n")
        return 0
    if what not in _SHOW or len(words) != 1:
        err.write(f"ethtool: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    interface = node.network.interface(words[0])
    if interface is None:
        err.write(_refusal(what))
        return _NO_DEVICE[what]
    out.writelines(f"{line}\n" for line in _SHOW[what](interface, world.now_us))
    return 0


def _refusal(what: str) -> str:
    if what == "-i":
        return "Cannot get driver information: No such device\n"
    if what == "-S":
        return "Cannot get stats strings information: No such device\n"
    return "netlink error: No such device\n" * 4 + "No data available\n"


def _settings(interface: Interface, at_us: int) -> Iterator[str]:
    del at_us
    yield f"Settings for {interface.name}:"
    if interface.medium is Medium.ETHERNET:
        yield "\tSupported ports: [ FIBRE ]"
        yield "\tSupports auto-negotiation: Yes"
        yield "\tAdvertised auto-negotiation: Yes"
    if interface.speed_mbps:
        known = f"{interface.speed_mbps}Mb/s" if interface.works else "Unknown!"
        yield f"\tSpeed: {known}"
        yield f"\tDuplex: {'Full' if interface.works else 'Unknown! (255)'}"
        yield "\tAuto-negotiation: on"
        yield "\tPort: FIBRE"
        yield "\tPHYAD: 0"
        yield "\tTransceiver: internal"
    yield f"\tLink detected: {'yes' if interface.works else 'no'}"


def _driver(interface: Interface, at_us: int) -> Iterator[str]:
    del at_us
    known: Mapping[str, str] = {
        "driver": interface.driver or "bridge",
        "version": "24.10-1.1.4" if interface.pci_address else "2.3",
        "firmware-version": "28.39.1002 (MT_0000000838)" if interface.pci_address else "N/A",
        "expansion-rom-version": "",
        "bus-info": interface.pci_address or "N/A",
        "supports-statistics": "yes" if interface.pci_address else "no",
        "supports-test": "yes" if interface.pci_address else "no",
        "supports-eeprom-access": "no",
        "supports-register-dump": "no",
        "supports-priv-flags": "yes" if interface.pci_address else "no",
    }
    return (f"{name}: {value}" for name, value in known.items())


def _statistics(interface: Interface, at_us: int) -> Iterator[str]:
    yield "NIC statistics:"
    for name, own in _COUNTERS.items():
        yield f"     {name}: {interface.counters[own].at(at_us)}"
    # It came up once, when the node booted.
    downs = (interface.carrier_changes + 1 - interface.carrier) // 2 - 1
    yield f"     link_down_events_phy: {downs}"
    for name in _ZEROES:
        yield f"     {name}: 0"


_SHOW: Mapping[str, Callable[[Interface, int], Iterator[str]]] = {
    "": _settings,
    "-i": _driver,
    "-S": _statistics,
}
