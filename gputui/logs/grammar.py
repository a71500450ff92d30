"""What the kernel says about GPUs and what they hang on: one expression a kind of message.

The grammar of an Xid line is the driver's (kernel_rc.c of open-gpu-kernel-modules)::

    NVRM: Xid (PCI:dddd:bb:dd[ GPU-I:ii[ GPU-CI:cc]]): code[, pid=P, name=N][, text]

with what five generations of drivers left out or added. Expressions see messages without what a log
put in front, and match from the first character on: text quoted inside another message is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from gputui.bus import parse_bus_id
from gputui.logs.host_lines import HOST_EXPRESSIONS

BUS = r"(?P<bus>(?:[0-9a-fA-F]{1,16}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.[0-7])?"
_GPU_AT = rf"NVRM: (?:GPU|GPU at) (?:PCI:)?{BUS}:?\s"
_DEVICE = r"(?:nvidia|pcieport)"
"""Drivers of GPUs, and of the bridges they hang on: errors of other devices are not ours."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message taken apart. What it does not have is None; ``detail`` is what is left of it."""

    kind: str
    bus_id: str | None = None
    code: int | None = None
    pid: int | None = None
    process: str | None = None
    detail: str = ""
    gpu_instance: int | None = None
    compute_instance: int | None = None
    caused_by: int | None = None


_XID = (
    rf"(?:NVRM:|nvidia_dev_xid:)\s*Xid\s*\((?:PCI:)?{BUS}"
    r"(?:\s+GPU-I:(?P<gpu_instance>\d+))?(?:\s+GPU-CI:(?P<compute_instance>\d+))?\s*\)\s*:?\s*"
    r"(?P<code>\d{1,9})\b(?P<detail>.*)"
)
_SXID = (
    rf"nvidia-nvswitch\d+:\s*SXid\s*\((?:PCI:)?{BUS}\)\s*:?\s*(?P<code>\d{{1,9}})\b"
    r"[,\s]*(?P<detail>.*)"
)

_EXPRESSIONS = (
    ("xid", _XID),
    ("sxid", _SXID),
    (
        "fm_sxid",
        r"(?:.*\bnv-fabricmanager\[\d+\]:\s*)?(?:\[[^\]]*\]\s*)*"
        r"detected NVSwitch \S+ error (?P<code>\d+) on (?:fid \d+ on )?NVSwitch "
        rf"pci bus id {BUS}(?P<detail>.*)",
    ),
    ("gpu_lost", rf"{_GPU_AT}(?:GPU )?has fallen off the bus"),
    (
        "gpu_lost",
        rf"NVRM: The NVIDIA GPU {BUS}.*fallen off the bus and is not responding to commands",
    ),
    (
        "probe_failed",
        rf"NVRM: The NVIDIA GPU {BUS} (?P<detail>\(PCI ID: .*)",
    ),
    ("gpu_named", rf"NVRM: The NVIDIA GPU {BUS}\s*$"),
    ("gpu_uuid", rf"NVRM: GPU at (?:PCI:)?{BUS}: (?P<detail>GPU-[0-9a-f-]+)"),
    (
        "gsp_ratelimit",
        rf"NVRM: Rate limiting GSP RPC error prints for GPU at (?:PCI:)?{BUS}(?P<detail>.*)",
    ),
    (
        "init_failed",
        rf"NVRM: (?:GPU (?:at )?(?:PCI:)?{BUS}: )?(?P<detail>(?:RmInitAdapter|rm_init_adapter)\S* "
        r"failed.*)",
    ),
    ("probe_failed", rf"nvidia: (?P<detail>probe of {BUS} failed with error.*)"),
    ("probe_failed", rf"nvidia {BUS}: (?P<detail>probe with driver nvidia failed .*)"),
    (
        "probe_failed",
        r"NVRM: (?P<detail>The NVIDIA probe routine (?:failed|was not called) for .*|"
        r"None of the NVIDIA (?:graphics adapters|devices) were (?:initialized|probed).*)",
    ),
    (
        "power_cables",
        rf"NVRM: GPU {BUS}: GPU does not have the necessary power cables connected",
    ),
    (
        "init_reason",
        rf"NVRM: (?:GPU (?:at )?(?:PCI:)?{BUS}: )?(?P<detail>\S*:? ?unexpected WPR2 already up.*)",
    ),
    ("init_reason", rf"NVRM: (?P<detail>BAR\d is 0M @ \S+ \((?:PCI:)?{BUS}\))"),
    ("init_reason", rf"NVRM: GPU {BUS} (?P<detail>is already bound to \w+)"),
    ("init_reason", r"NVRM: (?P<detail>nouveau, .*(?:rivafb|nvidiafb|rivatv).*)"),
    (
        "init_reason",
        r"nvidia: (?P<detail>version magic '[^']*' should be '.*|"
        r"disagrees about version of symbol \w+.*)",
    ),
    ("gpu_info", rf"NVRM: GPU {BUS}: (?P<detail>.*)"),
    (
        "version_mismatch",
        r"NVRM: API mismatch: the client (?:'(?P<process>.*)' \(pid (?P<pid>\d+)\))?"
        r"(?P<detail>.*)",
    ),
    (
        "fabric_manager",
        r"(?:.*\bnv-fabricmanager\[\d+\]:\s*|(?:\[[^\]]*\]\s*)*)"
        r"(?P<detail>fabric manager NVIDIA GPU driver interface version .*)",
    ),
    ("driver_loaded", r"NVRM: loading NVIDIA UNIX (?P<detail>.*)"),
    ("peer_memory", r"nvidia-peermem (?P<detail>.*)"),
    (
        "dpc",
        rf"pcieport {BUS}: (?:AER: )?DPC: (?P<detail>(?:containment event|unmasked uncorr).*)",
    ),
    (
        "aer",
        rf"pcieport \S+: AER: (?P<detail>.*?) (?:error|error message) received(?: from|:) {BUS}",
    ),
    ("aer", rf"{_DEVICE} {BUS}:\s+(?:AER: )?(?P<detail>PCIe Bus Error: .*)"),
    (
        "aer",
        rf"{_DEVICE} {BUS}:\s+(?:AER: )?\s*(?P<detail>device \[[0-9a-f:]+\] error status/mask=.*)",
    ),
    (
        "aer_unrecovered",
        rf"nvidia {BUS}:\s+(?:AER: )?(?P<detail>can't recover \(no error_detected callback\)|"
        r"device has no AER-aware driver)",
    ),
    (
        "reset_required",
        r"NVRM: (?:GPU\d+ )?\w+: (?:Assertion|Check) failed: "
        r"(?P<detail>Reset required \[NV_ERR_RESET_REQUIRED\].*)",
    ),
    (
        "pcie_limited",
        rf"(?:pci|nvidia) {BUS}: (?P<detail>[\d.]+ Gb/s available PCIe bandwidth, limited by .*)",
    ),
    (
        "nccl_segfault",
        r"(?P<process>.+)\[(?P<pid>\d+)\]: segfault at .* in (?P<detail>libnccl\S*)\[",
    ),
    *HOST_EXPRESSIONS,
)
"""The commonest first; the first that matches counts."""

_IMPLIED_CODE = {"power_cables": 54}
"""Messages that some drivers print instead of the Xid, and the Xid that they stand for."""

_FURTHER = (
    (
        "lost_continued",
        r"NVRM: (?:\(PCI ID: \S+\)\s+installed in this system has\s*$|"
        r"fallen off the bus and is not responding to commands)",
    ),
    (
        "mismatch_continued",
        r"NVRM: (?:has the version [\d.]+|the version [\d.]+|this kernel module has|"
        r"(?:Please )?make sure that this|kernel module and all NVIDIA|components have the same)",
    ),
)
"""What goes on with a record that an earlier line began."""

_PLAIN_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F]+:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})\): (\d{1,9}), "
    r"(?:pid=(?:(\d{1,10})|'?<unknown>'?), name=(?:<unknown>|([^,<]+)), (?!name=))?(.*)"
)
"""How most are written: with a process, known or not, or none, and no MIG."""

_NAME_END = re.compile(r",\s+")
_PID = re.compile(r"[,\s]\s*pid=(?:['\"]?<unknown>['\"]?|(\d{1,10}))(?=[,\s]|$)")
_NAME = re.compile(r"[,\s]\s*name=")
_CAUSED_BY = re.compile(r"caused by previous Xid (\d+)")
_UNKNOWN = re.compile(r"['\"]?<unknown>['\"]?\s*(?=,|$)")

_LONGEST_NAME = 15
"""The kernel's names of tasks have 15 bytes (TASK_COMM_LEN in linux/sched.h)."""

_DRIVERS_TEXT = re.compile(
    r"(?:Ch(?:annel|Id)?\b|channel\b|Graphics\b|Class\b|MMU\b|Row Remapper|DRAM\b|Dynamic Page|"
    r"(?:Unc|C)ontained|NVLink|Timeout|GSP\b|GPU\b|An uncorrectable|Disabling|SPI\b|GDDR|Marking|"
    r"Retiring|errorString|intr\b|engmask|[A-Z][A-Z0-9_/]+ (?:Fatal|Non-?fatal)\b|"
    r"[0-9a-f]{4,8}\b[ (]|caused by previous)"
)
"""How the driver's texts begin, after the name of a process."""
_LIKE_A_TEXT = re.compile(r"[A-Z][\w-]*[ :]")


@lru_cache(maxsize=1024)
def _address(bus: str) -> str | None:
    """The address, where old drivers leave the domain out as well."""
    return parse_bus_id(bus if bus.count(":") > 1 else f"0:{bus}")


@cache
def _matchers() -> tuple[tuple[str, Callable[[str], re.Match[str] | None]], ...]:
    """Compiled when the first line of a driver's comes."""
    return tuple((kind, re.compile(expression).match) for kind, expression in _EXPRESSIONS)


@cache
def _further() -> tuple[tuple[str, Callable[[str], re.Match[str] | None]], ...]:
    return tuple((kind, re.compile(expression).match) for kind, expression in _FURTHER)


def parse_message(message: str) -> Message | None:
    """Take a message without its prefix apart; None if it is none of ours.

    >>> parse_message("NVRM: Xid (PCI:0000:06:00): 79, GPU has fallen off the bus.").code
    79
    """
    plain = plain_xid(message)
    if plain is not None:
        return Message("xid", *plain)
    for kind, match in _matchers():
        if found := match(message):
            return _xid(found) if kind == "xid" else _other(kind, found.groupdict())
    return None


PlainXid = tuple[str | None, int, int | None, str | None, str]
"""Address, code, process id, process and text of an Xid, as they stand in :class:`Message`."""


def plain_xid(message: str) -> PlainXid | None:
    """An Xid as most are written: without MIG, and with one of the driver's texts. None for any
    other message.
    """
    plain = _PLAIN_XID.match(message)
    if plain is None:
        return None
    bus, code, pid, process, detail = plain.groups()
    if "previous" in detail or not _DRIVERS_TEXT.match(detail):
        return None
    return _address(bus), int(code), _number(pid), process, detail.rstrip()


def _xid(found: re.Match[str]) -> Message:
    bus, gpu_instance, compute_instance, code, rest = found.groups()
    pid, process, detail = _owner(rest)
    caused_by = _CAUSED_BY.search(detail) if "previous" in detail else None
    return Message(
        "xid",
        _address(bus),
        int(code),
        pid,
        process,
        detail,
        _number(gpu_instance),
        _number(compute_instance),
        int(caused_by[1]) if caused_by else None,
    )


def _other(kind: str, parts: dict[str, str | None]) -> Message:
    bus, code = parts.get("bus"), parts.get("code")
    return Message(
        kind,
        _address(bus) if bus else None,
        int(code) if code else _IMPLIED_CODE.get(kind),
        _number(parts.get("pid")),
        parts.get("process") or None,
        (parts.get("detail") or "").strip(),
    )


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def parse_continuation(message: str) -> str | None:
    """What a message goes on with, if it is not the first line of its record.

    ``lost_continued`` (a GPU that fell off the bus) or ``mismatch_continued`` (versions).
    """
    for kind, match in _further():
        if match(message):
            return kind
    return None


def is_drivers_text(text: str) -> bool:
    """Whether a text begins as the driver's words on an Xid do."""
    return _DRIVERS_TEXT.match(text) is not None


def _owner(rest: str) -> tuple[int | None, str | None, str]:
    """The process id, its name, and the driver's text, of what follows an Xid's code."""
    pid = None
    if found := _PID.match(rest):
        pid = int(found[1]) if found[1] else None
        rest = rest[found.end() :]
    process = None
    if found := _NAME.match(rest):
        rest = rest[found.end() :]
        if unknown := _UNKNOWN.match(rest):
            rest = rest[unknown.end() :]
        else:
            end, text = _name_ends(rest)
            process, rest = rest[:end] or None, rest[text:]
    return pid, process, rest.lstrip(", ").rstrip()


def _name_ends(rest: str) -> tuple[int, int]:
    """Where a name ends and where the text after it begins: names may have commas as well.

    The first comma that is followed by one of the driver's texts ends it; else one followed by what
    looks like a sentence; else the first, for no text of the driver's is without its comma.
    """
    first = _NAME_END.search(rest)
    if first is None:
        bare = rest[:-1] if rest.endswith(",") else rest
        return len(bare), len(rest)
    if _DRIVERS_TEXT.match(rest, first.end()):
        return first.span()
    commas = [found.span() for found in _NAME_END.finditer(rest)]
    near = [span for span in commas if span[0] <= _LONGEST_NAME] or commas[:1]
    for looks_so in (_DRIVERS_TEXT, _LIKE_A_TEXT):
        for start, end in near:
            if looks_so.match(rest, end):
                return start, end
    return near[0]
