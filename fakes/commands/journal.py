"""The journal of a node: the kernel's lines and those of its services, by time, and their forms.

The forms are those of journalctl(1); fields are those of systemd.journal-fields(7).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fakes.node import Node
from fakes.system.services import UnitLine
from fakes.system.uptime import boot_id, uptime_s

KERNEL = "kernel"
WARNING, ERROR, INFO = 4, 3, 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``pid`` is 0 for the kernel, ``unit`` "" for what belongs to none."""

    at_us: int
    identifier: str
    text: str
    pid: int = 0
    unit: str = ""
    priority: int = WARNING


def entries(node: Node) -> Iterator[Entry]:
    """All that the journal has, of every boot, in the order of time."""
    of_kernel = (Entry(line.at_us, KERNEL, line.text) for line in node.kernel_log.lines)
    of_units = (entry_of(line) for line in node.services.journal)
    return iter(sorted((*of_kernel, *of_units), key=lambda entry: entry.at_us))


def entry_of(line: UnitLine) -> Entry:
    """A service's line as an entry."""
    priority = ERROR if line.is_error else INFO
    return Entry(line.at_us, line.program, line.text, line.pid, line.unit, priority)


def written(node: Node, line: UnitLine) -> str:
    """A service's line in the form that people read."""
    return short(node, entry_of(line))


def short(node: Node, entry: Entry) -> str:
    """As syslog has it: ``Jan 01 00:00:00 n0 kernel: ...``."""
    return _line(node, entry, _stamp(node, entry, "%b %d %H:%M:%S"))


def _precise(node: Node, entry: Entry) -> str:
    return _line(node, entry, _stamp(node, entry, "%b %d %H:%M:%S") + f".{_micro(node, entry):06d}")


def _iso(node: Node, entry: Entry) -> str:
    return _line(node, entry, _stamp(node, entry, "%Y-%m-%dT%H:%M:%S+0000"))


def _iso_precise(node: Node, entry: Entry) -> str:
    stamp = _stamp(node, entry, "%Y-%m-%dT%H:%M:%S") + f".{_micro(node, entry):06d}+0000"
    return _line(node, entry, stamp)


def _full(node: Node, entry: Entry) -> str:
    return _line(node, entry, _stamp(node, entry, "%a %Y-%m-%d %H:%M:%S UTC"))


def _unix(node: Node, entry: Entry) -> str:
    unix_us = node.epoch.unix_us(entry.at_us)
    return _line(node, entry, f"{unix_us // 1_000_000}.{unix_us % 1_000_000:06d}")


def _monotonic(node: Node, entry: Entry) -> str:
    return _line(node, entry, f"[{uptime_s(node, entry.at_us):12.6f}]")


def _cat(node: Node, entry: Entry) -> str:
    del node
    return f"{entry.text}\n"


def _json(node: Node, entry: Entry) -> str:
    return json.dumps(_fields(node, entry)) + "\n"


def _json_pretty(node: Node, entry: Entry) -> str:
    return json.dumps(_fields(node, entry), indent="\t") + "\n"


def _verbose(node: Node, entry: Entry) -> str:
    head = _stamp(node, entry, "%a %Y-%m-%d %H:%M:%S") + f".{_micro(node, entry):06d} UTC"
    rows = "".join(f"    {name}={value}\n" for name, value in _fields(node, entry).items())
    return f"{head}\n{rows}"


FORMS: dict[str, Callable[[Node, Entry], str]] = {
    "short": short,
    "short-precise": _precise,
    "short-iso": _iso,
    "short-iso-precise": _iso_precise,
    "short-full": _full,
    "short-unix": _unix,
    "short-monotonic": _monotonic,
    "with-unit": _full,
    "cat": _cat,
    "json": _json,
    "json-pretty": _json_pretty,
    "verbose": _verbose,
    "export": _verbose,
}


def _fields(node: Node, entry: Entry) -> dict[str, str]:
    fields = {
        "__REALTIME_TIMESTAMP": str(node.epoch.unix_us(entry.at_us)),
        "__MONOTONIC_TIMESTAMP": str(round(uptime_s(node, entry.at_us) * 1e6)),
        "_BOOT_ID": boot_id(node, boot_of(node, entry.at_us)).hex,
        "_TRANSPORT": "kernel" if entry.identifier == KERNEL else "journal",
        "SYSLOG_IDENTIFIER": entry.identifier,
        "PRIORITY": str(entry.priority),
        "_HOSTNAME": node.name,
        "MESSAGE": entry.text,
    }
    if entry.unit:
        key = "UNIT" if entry.identifier == "systemd" else "_SYSTEMD_UNIT"
        fields |= {key: entry.unit, "_PID": str(entry.pid), "_COMM": entry.identifier}
    return fields


def boot_of(node: Node, at_us: int) -> int:
    """The number of the boot that a moment lies in: the present one, or the one before it."""
    earlier = node.booted_us is not None and at_us < node.booted_us
    return node.boots - 1 if earlier else node.boots


def _line(node: Node, entry: Entry, stamp: str) -> str:
    who = f"{entry.identifier}[{entry.pid}]" if entry.pid else entry.identifier
    return f"{stamp} {node.name} {who}: {entry.text}\n"


def _stamp(node: Node, entry: Entry, form: str) -> str:
    return time.strftime(form, time.gmtime(node.epoch.unix_us(entry.at_us) / 1e6))


def _micro(node: Node, entry: Entry) -> int:
    return node.epoch.unix_us(entry.at_us) % 1_000_000
