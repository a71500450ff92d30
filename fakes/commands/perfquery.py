"""``perfquery``: the counters of an InfiniBand port (infiniband-diags 39).

Names are those of the PortCounters attribute (InfiniBand specification, volume 1, 16.1.3.5); what
the kernel shows of it in sysfs has the same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.infiniband import Adapter
from fakes.node import Node
from fakes.world import World

_FLAGS = {"x": "extended"}
_VALUES = {"C": "Ca", "P": "Port"}
_COUNTERS = (
    ("SymbolErrorCounter", "symbol_error"),
    ("LinkErrorRecoveryCounter", "link_error_recovery"),
    ("LinkDownedCounter", "link_downed"),
    ("PortRcvErrors", "port_rcv_errors"),
    ("PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors"),
    ("PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors"),
    ("PortXmitDiscards", "port_xmit_discards"),
    ("PortXmitConstraintErrors", "port_xmit_constraint_errors"),
    ("PortRcvConstraintErrors", "port_rcv_constraint_errors"),
    ("LocalLinkIntegrityErrors", "local_link_integrity_errors"),
    ("ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors"),
    ("VL15Dropped", "VL15_dropped"),
    ("PortXmitData", "port_xmit_data"),
    ("PortRcvData", "port_rcv_data"),
    ("PortXmitPkts", "port_xmit_packets"),
    ("PortRcvPkts", "port_rcv_packets"),
    ("PortXmitWait", "port_xmit_wait"),
)
_DATA_COUNTERS = ("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts")
_TO = 33
"""The column of the values: dots fill what is before it."""


@command("perfquery", latency_us=20_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Those of the first port, or of ``-C DEVICE``; ``-x`` shows the wide ones of data alone."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as unknown:
        err.write(f"perfquery: {unknown}\n")
        return NOT_UNDERSTOOD
    if words or options.get("Port", "1") != "1":
        err.write(f"perfquery: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    found = [one for one in node.network.adapters if options.get("Ca", one.name) == one.name]
    if not found or not found[0].is_active:
        name = options.get("Ca", "(null)")
        err.write(f"ibwarn: [1] mad_rpc_open_port: can't open UMAD port ({name}:1)\n")
        err.write(f"perfquery: iberror: failed: Failed to open '{name}' port '1'\n")
        return 1
    extended = "extended" in options
    kind = "Port extended counters" if extended else "Port counters"
    out.write(f"# {kind}: Lid {found[0].lid} port 1 (CapMask: 0x5A00)\n")
    out.writelines(_lines(found[0], world.now_us, extended=extended))
    return 0


def _lines(adapter: Adapter, at_us: int, *, extended: bool) -> Iterator[str]:
    yield _line("PortSelect", "1")
    yield _line("CounterSelect", "0x0000")
    for label, name in _COUNTERS:
        if not extended or label in _DATA_COUNTERS:
            tally = adapter.counters.get(name)
            yield _line(label, str(tally.at(at_us) if tally else 0))


def _line(label: str, value: str) -> str:
    return f"{label + ':':.<{_TO}}{value}\n"
