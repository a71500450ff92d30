"""What goes into a bundle: each file by its name, as redacted text."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Iterator
from typing import Any

from gputui import __version__
from gputui.bundle.redaction import Redaction
from gputui.bus import parse_bus_id
from gputui.doctor.check import Level
from gputui.doctor.checks import all_checks
from gputui.doctor.examination import examine
from gputui.doctor.reports import text as doctor_text
from gputui.doctor.site import Site
from gputui.logs.find import KernelLog
from gputui.model import GpuSample, Snapshot
from gputui.recording import incident_object, node_object
from gputui.sources.slots import slot_of

_FIRST_PERSON = 1000
"""User ids from here on belong to people (login.defs, UID_MIN)."""

_PURPOSE = """\
Evidence of the GPUs of one node, gathered by gputui {version}.

{files}
Taken out: {redacted}. The same name is the same word in every file.
Left in: serial numbers, UUIDs, slots and PCI addresses of GPUs.
Read it before you send it.
"""


def contents(site: Site, kernel_log: str, gpu: int | None = None) -> dict[str, str]:
    """Every file's text; with ``gpu``, what concerns one GPU alone where that can be told."""
    redaction = Redaction(hosts=_hosts(site), users=_users(site))
    snapshot = site.snapshot
    files: dict[str, str] = {}
    if snapshot is not None:
        files["reading.json"] = _json(_reading(snapshot, redaction, gpu))
        files["incidents.json"] = _json(redaction.value(_incidents(snapshot, gpu)))
        files["boards.json"] = _json([_board(site, one) for one in _chosen(snapshot, gpu)])
    files["doctor.txt"] = redaction.text(_doctor(site))
    files["kernel.log"] = "".join(
        f"{redaction.text(line)}\n" for line in _kernel_lines(snapshot, kernel_log, gpu)
    )
    if told := _own_report(site, gpu):
        files["nvidia-smi-q.txt"] = redaction.text(told)
    files = {name: text for name, text in files.items() if text}
    files["README.txt"] = _PURPOSE.format(
        version=__version__,
        files="".join(f"  {name:18}{_ABOUT[name]}\n" for name in files),
        redacted=_told(redaction),
    )
    return files


_ABOUT = {
    "reading.json": "every reading of the GPUs, and the processes on them without arguments",
    "incidents.json": "what is wrong, since when, with its evidence",
    "boards.json": "which boards these are: serial number, slot, VBIOS",
    "doctor.txt": "the checks of gputui doctor",
    "kernel.log": "what the kernel said about GPUs since it was started",
    "nvidia-smi-q.txt": "nvidia-smi -q",
}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _chosen(snapshot: Snapshot, gpu: int | None) -> list[GpuSample]:
    return [one for one in snapshot.sample.gpus if gpu is None or one.index == gpu]


def _reading(snapshot: Snapshot, redaction: Redaction, gpu: int | None) -> Any:
    shown = node_object(snapshot.sample, snapshot.statuses)
    for process in shown["processes"]:
        if process["command"]:
            process["command"] = redaction.command(process["command"])
    if gpu is not None:
        shown["gpus"] = [one for one in shown["gpus"] if one["index"] == gpu]
        shown["processes"] = [one for one in shown["processes"] if one["gpu"] == gpu]
    return redaction.value(shown)


def _incidents(snapshot: Snapshot, gpu: int | None) -> list[Any]:
    """Those of the GPU, and those of the whole node."""
    return [
        incident_object(one)
        for one in (*snapshot.incidents, *snapshot.recent)
        if gpu is None or one.gpu in (None, gpu)
    ]


def _board(site: Site, gpu: GpuSample) -> dict[str, object]:
    return {
        "gpu": gpu.index,
        "name": gpu.name,
        "uuid": gpu.uuid,
        "serial": gpu.serial,
        "bus_id": gpu.bus_id,
        "slot": slot_of(site.root, gpu.bus_id) if gpu.bus_id else None,
        "vbios": gpu.vbios,
    }


def _doctor(site: Site) -> str:
    found = [one for one in examine(site, all_checks()) if one.result.level != Level.SKIPPED]
    host = site.sample.host if site.sample else os.uname().nodename
    return doctor_text.write(found, host)


def _kernel_lines(snapshot: Snapshot | None, choice: str, gpu: int | None) -> Iterator[str]:
    """The lines on GPUs; of one GPU, those that name it or no GPU at all."""
    others = set()
    if snapshot is not None and gpu is not None:
        others = {one.bus_id for one in snapshot.sample.gpus if one.index != gpu and one.bus_id}
    log = KernelLog(choice)
    try:
        for line in log.read():
            named = {parse_bus_id(word.strip("().,:;")) for word in line.text.split()}
            if not named & others:
                yield line.text
    finally:
        log.close()


def _own_report(site: Site, gpu: int | None) -> str | None:
    """What nvidia-smi says, where a GPU has answered NVML already."""
    if not site.gpus:
        return None
    which = () if gpu is None else ("-i", str(gpu))
    return site.tool(("nvidia-smi", "-q", *which))


def _hosts(site: Site) -> set[str]:
    named = {os.uname().nodename, *site.nodes}
    if site.sample:
        named.add(site.sample.host)
    return named


def _users(site: Site) -> set[str]:
    users = {entry.pw_name for entry in pwd.getpwall() if entry.pw_uid >= _FIRST_PERSON}
    if site.sample:
        users |= {process.user for process in site.sample.processes if process.user}
    return users


def _told(redaction: Redaction) -> str:
    counts = sorted(redaction.counts.items())
    names = ", ".join(f"{count} x {sort}" for sort, count in counts)
    return f"the arguments of processes; {names}" if names else "the arguments of processes"
