"""``nvme`` (nvme-cli): drives, and their own record of health."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.drives import BYTES, FIRMWARE, MODEL, WRITTEN_UNITS, Drive, drive_at, drives

_JSON = ("-o", "json", "--output-format=json", "-ojson", "--output-format")
_WIDTHS = (16, 20, 40, 9, 26, 16, 8)
_TITLES = ("Node", "SN", "Model", "Namespace", "Usage", "Format", "FW Rev")


@command("nvme", latency_us=50_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """List drives, or tell of one."""
    as_json = any("json" in word for word in argv)
    match [word for word in argv if word not in _JSON]:
        case ["list"] | ["list", "-v"]:
            found = drives(node)
            out.write(_json_list(found) if as_json else _listing(found))
        case ["version" | "--version"]:
            out.write("nvme version 1.16\n")
        case ["smart-log", device]:
            drive = drive_at(node, device)
            if drive is None:
                err.write(f"{device}: No such file or directory\n")
                return 1
            out.write(_json_health(drive) if as_json else _health(drive, device))
        case _:
            err.write(f"nvme: {' '.join(argv)}: this is not known here\n")
            return NOT_UNDERSTOOD
    return 0


def _listing(found: Sequence[Drive]) -> str:
    size = f"{BYTES / 1e12:7.2f}  TB"
    rows: list[tuple[str, ...]] = [_TITLES, tuple("-" * width for width in _WIDTHS)]
    rows += [
        (
            f"/dev/{drive.name}n1", drive.serial, MODEL, "1", f"{size} / {size}", "512   B +  0 B",
            FIRMWARE,
        )
        for drive in found
    ]  # fmt: skip
    return "".join(
        " ".join(f"{cell:<{width}}" for cell, width in zip(row, _WIDTHS, strict=True)) + "\n"
        for row in rows
    )


def _json_list(found: Sequence[Drive]) -> str:
    devices = [
        {
            "DevicePath": f"/dev/{drive.name}n1",
            "Firmware": FIRMWARE,
            "ModelNumber": MODEL,
            "SerialNumber": drive.serial,
            "UsedBytes": BYTES,
            "PhysicalSize": BYTES,
            "SectorSize": 512,
        }
        for drive in found
    ]
    return json.dumps({"Devices": devices}, indent=2) + "\n"


def _health(drive: Drive, device: str) -> str:
    rows = (
        ("critical_warning", "0"),
        ("temperature", f"{drive.temperature_c} C"),
        ("available_spare", "100%"),
        ("available_spare_threshold", "10%"),
        ("percentage_used", "1%"),
        ("data_units_written", f"{WRITTEN_UNITS:,}"),
        ("power_cycles", "31"),
        ("unsafe_shutdowns", "12"),
        ("media_errors", "0"),
        ("num_err_log_entries", "0"),
    )
    name = device.removeprefix("/dev/")
    head = f"Smart Log for NVME device:{name} namespace-id:ffffffff\n"
    return head + "".join(f"{label:<36}: {value}\n" for label, value in rows)


def _json_health(drive: Drive) -> str:
    told = {
        "critical_warning": 0,
        "temperature": drive.temperature_c + 273,
        "avail_spare": 100,
        "spare_thresh": 10,
        "percent_used": 1,
        "data_units_written": WRITTEN_UNITS,
        "power_cycles": 31,
        "unsafe_shutdowns": 12,
        "media_errors": 0,
        "num_err_log_entries": 0,
    }
    return json.dumps(told, indent=2) + "\n"
