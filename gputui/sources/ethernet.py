"""Network interfaces with a device behind them, and bonds of such.

From /sys/class/net (Documentation/ABI/testing/sysfs-class-net and sysfs-class-net-statistics,
Documentation/networking/bonding.rst). Interfaces that only the kernel knows (lo, veth, bridges,
tunnels) carry nothing of their own, and those that their administrator has put down are nobody's
trouble: both are left out.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from gputui.sources.files import names, read_text, why
from gputui.sources.link import Link

ERROR_COUNTERS = (
    "rx_dropped", "tx_dropped", "rx_errors", "tx_errors", "rx_missed_errors", "rx_crc_errors",
)  # fmt: skip

_IFF_UP = 0x1
_ARPHRD_ETHER = "1"
_SPEED_UNKNOWN = 0xFFFF_FFFF


class Interface(Link):
    """One interface."""

    def __init__(self, name: str, folder: str, turn: int) -> None:
        super().__init__(name, folder, turn)
        self.kind = "bond" if _is_bond(folder) else "ethernet"

    def _often(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """Whether it works: in its own word, or in its bond's where that is worse.

        Drivers that do not keep the operational state say "unknown"; the carrier is known then.
        """
        try:
            state = self.text("operstate", often=True)
            if state == "unknown":
                state = "up" if self.text("carrier") == "1" else "down"
        except OSError as error:
            missing["state"] = why(error)
            return
        if state == "up" and (self._seldom_values or {}).get("bond"):
            # It may have just left its bond.
            with contextlib.suppress(OSError):
                state = self.text("bonding_slave/mii_status") or state
        values["state"] = state

    def _bytes(self, missing: dict[str, str]) -> tuple[int, int] | None:
        return self.traffic("statistics/rx_bytes", "statistics/tx_bytes", missing)

    def _seldom(self, values: dict[str, Any], missing: dict[str, str]) -> dict[str, int]:
        values["bond"] = self._bond()
        speed_mbps = self._speed()
        if speed_mbps is None:
            missing["speed_mbps"] = "not known to the driver"
        values["speed_mbps"] = speed_mbps
        values["carrier_changes"] = self.number("carrier_changes", missing, "carrier_changes")
        totals = {}
        for name in ERROR_COUNTERS:
            count = self.number(f"statistics/{name}", missing, name)
            if count is not None:
                totals[name] = count
        return totals

    def _bond(self) -> str | None:
        """The bond that it is in; a bridge is a master too."""
        master = f"{self.folder}/master"
        if not _is_bond(master):
            return None
        with contextlib.suppress(OSError):
            return Path(master).readlink().name
        return None

    def _speed(self) -> int | None:
        """Megabits a second; drivers tell -1, or refuse, where there is none."""
        try:
            text = self.text("speed")
        except OSError:
            return None
        known = text.isdecimal() and int(text) not in (0, _SPEED_UNKNOWN)
        return int(text) if known else None


def find_interfaces(root: Path) -> dict[str, str]:
    """The folder of each, by its name; raises OSError where they may not be listed."""
    folder = str(root / "sys/class/net")
    try:
        there = names(folder)
    except FileNotFoundError:
        return {}
    return {name: f"{folder}/{name}" for name in there if _matters(f"{folder}/{name}")}


# os.path's questions, unlike Path's, have an answer also where there is no permission.


def _is_bond(folder: str) -> bool:
    return os.path.isdir(f"{folder}/bonding")  # noqa: PTH112


def _matters(folder: str) -> bool:
    if not (os.path.exists(f"{folder}/device") or _is_bond(folder)):  # noqa: PTH110
        return False
    try:
        is_up = int(read_text(f"{folder}/flags"), 16) & _IFF_UP
        # The others are InfiniBand's, whose ports are told already, and oddities.
        return bool(is_up) and read_text(f"{folder}/type") == _ARPHRD_ETHER
    except (OSError, ValueError):
        return False
