"""``smartctl`` (smartmontools): whether a drive thinks that it is well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.drives import BYTES, FIRMWARE, MODEL, WRITTEN_UNITS, Drive, drive_at, drives

_HEAD = (
    "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.15.0-126-generic] (local build)\n"
    "Copyright (C) 2002-20, Bruce Allen, Christian Franke, www.smartmontools.org\n\n"
)
_PARTS = {
    "-a": "iHA", "--all": "iHA", "-x": "iHA", "--xall": "iHA", "-i": "i", "--info": "i",
    "-H": "H", "--health": "H", "-A": "A", "--attributes": "A",
}  # fmt: skip


@command("smartctl", latency_us=100_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Ask one drive, or ``--scan`` for all."""
    if {"--scan", "--scan-open"} & set(argv):
        names = [f"/dev/{drive.name}" for drive in drives(node)]
        out.writelines(f"{name} -d nvme # {name}, NVMe device\n" for name in names)
        return 0
    if {"-V", "--version"} & set(argv):
        out.write(_HEAD)
        return 0
    devices = [word for word in argv if not word.startswith("-") and word != "nvme"]
    asked = [word for word in argv if word.startswith("-") and word != "-d"]
    if len(devices) != 1 or any(word not in _PARTS for word in asked):
        err.write(f"smartctl: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    out.write(_HEAD)
    drive = drive_at(node, devices[0])
    if drive is None:
        out.write(f"Smartctl open device: {devices[0]} failed: No such device\n")
        return 2
    letters = "".join(_PARTS[word] for word in asked)
    if "i" in letters:
        out.write(_information(drive))
    if "H" in letters:
        out.write(
            "=== START OF SMART DATA SECTION ===\n"
            "SMART overall-health self-assessment test result: PASSED\n\n"
        )
    if "A" in letters:
        out.write(_attributes(drive))
    return 0


def _information(drive: Drive) -> str:
    rows = (
        ("Model Number", MODEL),
        ("Serial Number", drive.serial),
        ("Firmware Version", FIRMWARE),
        ("Total NVM Capacity", f"{BYTES:,} [{BYTES / 1e12:.2f} TB]"),
    )
    return f"=== START OF INFORMATION SECTION ===\n{_lines(rows)}\n"


def _attributes(drive: Drive) -> str:
    rows = (
        ("Critical Warning", "0x00"),
        ("Temperature", f"{drive.temperature_c} Celsius"),
        ("Available Spare", "100%"),
        ("Percentage Used", "1%"),
        ("Data Units Written", f"{WRITTEN_UNITS:,} [{WRITTEN_UNITS * 512_000 / 1e12:.1f} TB]"),
        ("Unsafe Shutdowns", "12"),
        ("Media and Data Integrity Errors", "0"),
        ("Error Information Log Entries", "0"),
    )
    return f"SMART/Health Information (NVMe Log 0x02)\n{_lines(rows)}\n"


def _lines(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{label + ':':<36}{value}\n" for label, value in rows)
