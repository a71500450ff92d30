"""``mlxlink``: a port's link, its cable and its errors, as NVIDIA's firmware tools show them.

The headings and the order are those of MFT 4.26.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.infiniband import Adapter
from fakes.node import Node
from fakes.world import World

_FLAGS = {"m": "show_module", "c": "show_counters", "e": "show_eye"}
_VALUES = {"d": "device", "p": "port"}
_BITS_A_GBPS = 1e9

Section = tuple[str, dict[str, str]]


@command("mlxlink", latency_us=400_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``-d DEVICE [-p 1] [-m] [-c] [-e] [--port_type PCIE]``; 1 where there is no such device."""
    words = ["-c" if word == "-pc" else word for word in argv]
    try:
        options, rest = parse(words, _FLAGS, _VALUES, ("port_type",), ("json",))
    except UnknownOptionError as unknown:
        err.write(f"mlxlink: {unknown}\n")
        return NOT_UNDERSTOOD
    if rest or "device" not in options or "json" in options:
        err.write(f"mlxlink: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    adapter = _adapter(node, options["device"])
    if adapter is None or options.get("port", "1") not in ("1", "1/1"):
        out.write(
            f'\n-E- Failed to open device: "{options["device"]}", No such file or directory\n'
        )
        return 1
    if options.get("port_type", "").upper() == "PCIE":
        sections = list(_pcie("show_counters" in options))
    else:
        sections = list(_network(adapter, options, world.now_us))
    for title, rows in sections:
        out.write(f"\n{title}\n{'-' * len(title)}\n")
        out.writelines(f"{name:<35}: {value}\n" for name, value in rows.items())
    return 0


def _adapter(node: Node, device: str) -> Adapter | None:
    """By any name that the tool takes: mlx5_0, ib0, an address on PCI, /dev/mst/mt4129_pciconf0."""
    adapters = node.network.adapters
    if "_pciconf" in device:
        number = device.rpartition("_pciconf")[2].partition(".")[0]
        return adapters[int(number)] if number.isdecimal() and int(number) < len(adapters) else None
    found = node.network.adapter(device)
    by_address = (one for one in adapters if one.pci_address.endswith(device.removeprefix("0000:")))
    return found or next(by_address, None)


def _network(adapter: Adapter, options: dict[str, str], at_us: int) -> Iterator[Section]:
    up, generation = adapter.is_active, adapter.generation
    lanes, _, speed = adapter.lanes.partition(" ")
    yield (
        "Operational Info",
        {
            "State": "Active" if up else "Polling",
            "Physical state": adapter.physical.value[1],
            "Speed": f"IB-{speed}" if up else "N/A",
            "Width": lanes.lower() if up else "N/A",
            "FEC": "Standard_RS-FEC - (544,514)" if up else "N/A",
            "Loopback Mode": "No Loopback",
            "Auto Negotiation": "ON",
        },
    )
    yield (
        "Supported Info",
        {
            "Enabled Link Speed": f"0x00000080 ({generation.speed})",
            "Supported Cable Speed": f"0x00000080 ({generation.speed})",
        },
    )
    yield (
        "Troubleshooting Info",
        {
            "Status Opcode": "0" if up else "2",
            "Group Opcode": "N/A" if up else "PHY FW",
            "Recommendation": "No issue was observed" if up else "Negotiation failure",
        },
    )
    yield (
        "Tool Information",
        {
            "Firmware Version": generation.firmware,
            "amBER Version": "2.09",
            "MFT Version": "mft 4.26.1-3",
        },
    )
    if "show_module" in options:
        yield _module(adapter)
    if "show_counters" in options:
        yield _counters(adapter, at_us)
    if "show_eye" in options:
        yield "EYE Opening Info", {"FOM Mode": "SNR_3EYE", "Lane": "0, 1, 2, 3"}


def _module(adapter: Adapter) -> Section:
    return (
        "Module Info",
        {
            "Identifier": "OSFP" if adapter.generation.speed == "NDR" else "QSFP56",
            "Compliance": "N/A",
            "Cable Technology": "Copper cable unequalized",
            "Cable Type": "Passive copper cable",
            "OUI": "Mellanox",
            "Vendor Name": "NVIDIA",
            "Vendor Part Number": "MCP4Y10-N001",
            "Vendor Serial Number": adapter.serial,
            "Rev": "A2",
        },
    )


def _counters(adapter: Adapter, at_us: int) -> Section:
    """Errors since they were last cleared, which was when the node came up."""
    symbols = adapter.counters["symbol_error"].at(at_us)
    seconds = max(at_us / 1e6, 1.0)
    rate = symbols / seconds / (adapter.rate_gbps * _BITS_A_GBPS)
    effective = f"{rate:.0E}".replace("E-0", "E-") if symbols else "15E-255"
    return (
        "Physical Counters and BER Info",
        {
            "Time Since Last Clear [Min]": f"{at_us / 60e6:.1f}",
            "Symbol Errors": str(symbols),
            "Symbol BER": effective,
            "Effective Physical Errors": str(symbols),
            "Effective Physical BER": effective,
            "Raw Physical Errors Per Lane": "0,0,0,0",
            "Raw Physical BER": "1E-8",
            "Link Down Counter": str(adapter.counters["link_downed"].at(at_us)),
            "Link Error Recovery Counter": str(adapter.counters["link_error_recovery"].at(at_us)),
        },
    )


def _pcie(counters: bool) -> Iterator[Section]:
    yield (
        "PCIe Operational (Enabled) Info",
        {
            "Depth, pcie index, node": "0, 0, 0",
            "Link Speed Active (Enabled)": "32G-Gen 5 (32G-Gen 5)",
            "Link Width Active (Enabled)": "16X (16X)",
        },
    )
    if counters:
        names = ("RX Errors", "TX Errors", "CRC Error dllp", "CRC Error tlp")
        yield "Management PCIe Performance Counters Info", dict.fromkeys(names, "0")
