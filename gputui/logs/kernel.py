"""Kernel lines in, typed events out.

The grammar of an Xid line is the driver's (kernel_rc.c of open-gpu-kernel-modules)::

    NVRM: Xid (PCI:dddd:bb:dd[ GPU-I:ii[ GPU-CI:cc]]): code[, pid=P, name=N][, text]

with what five generations of drivers left out or added, and what logs put in front. A line counts
only if the kernel printed it: text quoted inside another message is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from gputui.bus import parse_bus_id
from gputui.logs.prefix import Stamp, split_prefix

KERNEL = "kernel"
"""The name of this log among the sources of log lines."""

BUS = r"(?P<bus>[0-9a-fA-F]{1,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.[0-7])?"


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One thing the kernel said about a GPU or what it hangs on.

    ``kind`` is ``xid``, ``sxid``, ``gpu_lost`` or another name in ``_EXPRESSIONS``. ``time_s`` is
    Unix time, ``text`` is the message without what the log put in front. What the line does not
    have is None; an empty process name is None as well. ``told_by`` is the log's name: NVML tells
    of Xids as well.
    """

    kind: str
    time_s: float
    text: str
    bus_id: str | None = None
    code: int | None = None
    pid: int | None = None
    process: str | None = None
    detail: str = ""
    told_by: str = KERNEL


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A kind of message, and how its groups (bus, code, pid, process, detail) are found."""

    kind: str
    match: Callable[[str], re.Match[str] | None]


_OWNER = (
    r"(?:,\s*pid=(?:'?<unknown>'?|(?P<pid>\d+)))?"
    r"(?:,\s*name=(?:<unknown>|(?P<process>.*?))(?=,|$))?"
)


@cache
def _patterns() -> tuple[_Pattern, ...]:
    """All kinds, the commonest first; compiled when the first line of a driver's comes."""
    return tuple(_Pattern(kind, re.compile(expression).match) for kind, expression in _EXPRESSIONS)


_EXPRESSIONS = (
    (
        "xid",
        r"(?:NVRM:|\S+\s+\[\d+\]\s+\S+\s+[\d.]+:\s+nvidia_dev_xid:)\s*Xid\s*"
        rf"\((?:PCI:)?{BUS}(?P<mig>(?:\s+GPU-C?I:\d+)*)\):?\s*(?P<code>\d+)\b{_OWNER}"
        r"[,\s]*(?P<detail>.*)",
    ),
    (
        "sxid",
        rf"nvidia-nvswitch\d+:\s*SXid\s*\((?:PCI:)?{BUS}\):?\s*(?P<code>\d+)\b,?\s*(?P<detail>.*)",
    ),
    (
        "fm_sxid",
        r"(?:\[[^\]]*\]\s*)*detected NVSwitch \S+ error (?P<code>\d+) on fid \d+ on NVSwitch "
        rf"pci bus id {BUS}(?P<detail>.*)",
    ),
    ("gpu_lost", rf"NVRM: GPU {BUS}: GPU has fallen off the bus"),
    ("gpu_named", rf"NVRM: The NVIDIA GPU {BUS}"),
    (
        "gpu_lost_continued",
        r"NVRM: (?:\(PCI ID: \S+\) installed in this system has|"
        r"fallen off the bus and is not responding to commands)",
    ),
    ("gpu_uuid", rf"NVRM: GPU at (?:PCI:)?{BUS}: (?P<detail>GPU-[0-9a-f-]+)"),
    (
        "gsp_ratelimit",
        rf"NVRM: Rate limiting GSP RPC error prints for GPU at (?:PCI:)?{BUS}(?P<detail>.*)",
    ),
    ("init_failed", rf"NVRM: GPU {BUS}: (?:RmInitAdapter|rm_init_adapter) failed"),
    (
        "power_cables",
        rf"NVRM: GPU {BUS}: GPU does not have the necessary power cables connected",
    ),
    ("gpu_info", rf"NVRM: GPU {BUS}: (?P<detail>.*)"),
    (
        "version_mismatch",
        r"NVRM: API mismatch: the client '(?P<process>[^']*)' \(pid (?P<pid>\d+)\)",
    ),
    (
        "version_mismatch_continued",
        r"NVRM: (?:has the version \S+, but this kernel module has|the version \S+\.|"
        r"Please make sure that this)",
    ),
    ("driver_loaded", r"NVRM: loading NVIDIA UNIX (?P<detail>.*)"),
    ("peer_memory", r"nvidia-peermem (?P<detail>.*)"),
    ("dpc", rf"pcieport {BUS}: DPC: (?P<detail>containment event.*)"),
    (
        "aer",
        r"pcieport \S+: AER: (?P<detail>.*?) (?:error|error message) received"
        rf"(?: from|:) {BUS}",
    ),
    ("aer", rf"\S+ {BUS}: (?P<detail>PCIe Bus Error: .*)"),
    ("aer", rf"\S+ {BUS}:\s+(?P<detail>device \[[0-9a-f:]+\] error status/mask=.*)"),
    (
        "pcie_limited",
        rf"pci {BUS}: (?P<detail>[\d.]+ Gb/s available PCIe bandwidth, limited by .*)",
    ),
    (
        "nccl_segfault",
        r"(?P<process>.+)\[(?P<pid>\d+)\]: segfault at .* in (?P<detail>libnccl\S*)\[",
    ),
)

_IMPLIED_CODE = {"power_cables": 54}
"""Messages that some drivers print instead of the Xid, and the Xid that they stand for."""

_INTERESTING = re.compile(
    r"NVRM|Xid|nvidia|NVSwitch|AER:|DPC:|PCIe Bus Error|error status/mask|PCIe bandwidth|libnccl"
)

BOOT = re.compile(r"Linux version \d")
"""The kernel's first line: what stands before it is of another boot."""


def is_interesting(line: str) -> bool:
    """Whether a line may be about a GPU or what it hangs on: a quick look, before a close one."""
    return _INTERESTING.search(line) is not None


def parse_message(message: str) -> tuple[str, dict[str, str | None]] | None:
    """Return the kind of a message without its prefix, and its parts; None if it is none of ours.

    >>> parse_message("NVRM: Xid (PCI:0000:06:00): 79, GPU has fallen off the bus.")[0]
    'xid'
    """
    for pattern in _patterns():
        if found := pattern.match(message):
            return pattern.kind, found.groupdict()
    return None


class KernelParser:
    """Reads kernel lines in order; remembers what a record that takes several lines began with.

    ``boot_s`` is when the machine was started (Unix time): stamps that count from the boot become
    times with it.
    """

    def __init__(self, boot_s: float | None = None) -> None:
        self._boot_s = boot_s
        self._named: str | None = None

    def parse(self, line: str, now_s: float, *, live: bool = True) -> KernelEvent | None:
        """Return the event on a line, or None.

        A ``live`` line happened now; one that is read back happened when its stamp says, or now if
        it has none that can be used.
        """
        if not is_interesting(line):
            return None
        stamp, message = split_prefix(line, now_s)
        parsed = parse_message(message)
        if parsed is None:
            return None
        kind, parts = parsed
        code, pid, bus = parts.get("code"), parts.get("pid"), parts.get("bus")
        bus_id = parse_bus_id(bus) if bus else None
        if kind == "gpu_named":
            self._named = bus_id
        elif kind == "gpu_lost_continued" and self._named and "fallen" in message:
            kind, bus_id, self._named = "gpu_lost", self._named, None
        return KernelEvent(
            kind=kind,
            time_s=now_s if live else self._time_s(stamp, now_s),
            text=message.strip(),
            bus_id=bus_id,
            code=int(code) if code else _IMPLIED_CODE.get(kind),
            pid=int(pid) if pid else None,
            process=parts.get("process") or None,
            detail=(parts.get("detail") or "").strip(),
        )

    def _time_s(self, stamp: Stamp, now_s: float) -> float:
        if stamp.wall_s is not None:
            return min(stamp.wall_s, now_s)
        if stamp.uptime_s is not None and self._boot_s is not None:
            return min(self._boot_s + stamp.uptime_s, now_s)
        return now_s
