"""RDMA ports: InfiniBand, RDMA over Ethernet, and what clouds have in their place.

From /sys/class/infiniband (Documentation/ABI/stable/sysfs-class-infiniband).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gputui.model import CONGESTION_COUNTERS
from gputui.sources.files import names, why
from gputui.sources.link import Link
from gputui.sources.reasons import garbage

PORT_COUNTER_BITS = {
    "symbol_error": 16,
    "link_error_recovery": 8,
    "link_downed": 8,
    "port_rcv_errors": 16,
    "port_xmit_discards": 16,
    "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4,
}
"""Errors in ``counters``, and their widths: at all ones they stand still
(PortCounters, InfiniBand specification volume 1, 16.1.3.5; drivers/infiniband/core/sysfs.c)."""

HARDWARE_COUNTERS = (
    # mlx5: lost, late and repeated packets of RDMA over Ethernet
    "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
    "out_of_buffer", "implied_nak_seq_err", "roce_adp_retrans",
    # EFA
    "rx_drops", "retrans_pkts", "retrans_timeout_events",
    # bnxt_re
    "to_retransmits", "seq_err_naks_rcvd", "rnr_naks_rcvd",
    *sorted(CONGESTION_COUNTERS),
)  # fmt: skip
"""Of the drivers' own, in ``hw_counters``, those that tell of trouble."""

_KINDS = {"infiniband": "infiniband", "ethernet": "roce"}
_ACTIVE = "active"
_RATE = re.compile(r"([\d.]+) Gb/sec(?: \(([^)]*)\))?")
_SPEED = ("speed_mbps", "lanes")


class Port(Link):
    """One port of one adapter."""

    def __init__(self, name: str, folder: str, turn: int) -> None:
        super().__init__(name, folder, turn)
        try:
            layer = self.text("link_layer").lower()
        except OSError:
            layer = ""
        self.kind = _KINDS.get(layer, "rdma")
        self._counters = [
            *self._there("counters", PORT_COUNTER_BITS),
            *self._there("hw_counters", HARDWARE_COUNTERS),
        ]

    def _often(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """The logical state, and the physical one where it explains the other."""
        self._state("state", "state", values, missing)
        if values.get("state") != _ACTIVE:
            self._state("physical_state", "phys_state", values, missing)

    def _bytes(self, missing: dict[str, str]) -> tuple[int, int] | None:
        """Octets divided by four, as the specification counts them; EFA counts its own octets."""
        reasons: dict[str, str] = {}
        words = self.traffic("counters/port_rcv_data", "counters/port_xmit_data", reasons)
        if words is not None:
            return words[0] * 4, words[1] * 4
        octets = self.traffic("hw_counters/rx_bytes", "hw_counters/tx_bytes", {})
        if octets is None:
            missing.update(reasons)
        return octets

    def _seldom(self, values: dict[str, Any], missing: dict[str, str]) -> dict[str, int]:
        self._state("physical_state", "phys_state", values, missing)
        self._rate(values, missing)
        if self.kind == "roce":
            try:
                values["interface"] = self.text("gid_attrs/ndevs/0") or None
            except OSError:
                values["interface"] = None  # no address yet, which the kernel tells as an error
        totals: dict[str, int] = {}
        for file in self._counters:
            name = file.rpartition("/")[2]
            count = self.number(file, missing, name)
            if count is not None:
                totals[name] = count
        for name, bits in PORT_COUNTER_BITS.items():
            if totals.get(name) == (1 << bits) - 1:
                missing[name] = f"stands at {totals[name]}, its maximum, until it is reset"
        return totals

    def _there(self, folder: str, wanted: Iterable[str]) -> list[str]:
        """The counters that the adapter has, of those that are wanted; not every one has both."""
        try:
            there = frozenset(names(f"{self.folder}/{folder}"))
        except OSError:
            return []
        return [f"{folder}/{name}" for name in wanted if name in there]

    def _state(
        self, field: str, file: str, values: dict[str, Any], missing: dict[str, str]
    ) -> None:
        """A state, as ``4: ACTIVE`` or ``5: LinkUp``."""
        try:
            values[field] = self.text(file, often=field == "state").partition(": ")[2].lower()
        except OSError as error:
            missing[field] = why(error)

    def _rate(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """Speed and lanes: ``400 Gb/sec (4X NDR)``.

        Of a link that is not up the kernel tells the slowest that there is.
        """
        try:
            if not self.text("state").endswith("ACTIVE"):
                missing.update(dict.fromkeys(_SPEED, "the link is not up"))
                return
            text = self.text("rate")
        except OSError as error:
            missing.update(dict.fromkeys(_SPEED, why(error)))
            return
        found = _RATE.match(text)
        if found is None:
            missing.update(dict.fromkeys(_SPEED, garbage(repr(text))))
            return
        values["speed_mbps"] = round(float(found[1]) * 1000)
        values["lanes"] = found[2]


def find_ports(root: Path) -> dict[str, str]:
    """The folder of each port, by ``device/port``; raises OSError where they may not be listed."""
    folder = str(root / "sys/class/infiniband")
    found = {}
    try:
        devices = names(folder)
    except FileNotFoundError:
        return {}
    for device in devices:
        try:
            ports = names(f"{folder}/{device}/ports")
        except FileNotFoundError:
            continue  # it went while it was looked at
        for port in ports:
            found[f"{device}/{port}"] = f"{folder}/{device}/ports/{port}"
    return found
