"""What goes into a bundle: each file by its name, as redacted text."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Collection, Iterator
from typing import Any

from gputui import __version__
from gputui.bundle.one_gpu import OF_THE_NODE, boards, lines_of, narrowed
from gputui.bundle.redaction import Redaction
from gputui.doctor.check import Level, gpu_list
from gputui.doctor.checks import all_checks
from gputui.doctor.examination import examine
from gputui.doctor.reports import text as doctor_text
from gputui.doctor.site import Site
from gputui.logs.find import KernelLog
from gputui.model import GpuSample, NodeSample, Snapshot
from gputui.recording import incident_object, node_object
from gputui.sources.reasons import words
from gputui.sources.slots import slot_of

_FIRST_PERSON = 1000
"""User ids from here on belong to people (login.defs, UID_MIN)."""

_PURPOSE = """\
Evidence of {whose} of one node, gathered by gputui {version}.

{files}{missing}
Taken out: {redacted}. The same name is the same word in every file.
Left in: serial numbers, UUIDs, slots and PCI addresses of GPUs.
Read it before you send it.
"""


def contents(site: Site, kernel_log: str, gpu: int | None = None) -> dict[str, str]:
    """Every file's text; with ``gpu``, what concerns this one GPU."""
    whole = site
    if gpu is not None:
        site = narrowed(whole, gpu)
    redaction = Redaction(
        hosts=_hosts(site),
        users=_users(whole),
        boards={} if gpu is None else boards(whole.sample, gpu),
    )
    snapshot = site.snapshot
    files: dict[str, str] = {}
    if snapshot is not None:
        files["reading.json"] = _json(_reading(snapshot, redaction))
        files["incidents.json"] = _json(redaction.value(_incidents(snapshot)))
        files["boards.json"] = _json([_board(site, one) for one in snapshot.sample.gpus])
    files["doctor.txt"] = redaction.text(_doctor(site, OF_THE_NODE if gpu is not None else ()))
    files["kernel.log"] = "".join(
        f"{redaction.text(line)}\n" for line in _kernel_lines(whole.sample, kernel_log, gpu)
    )
    if told := _own_report(site, gpu):
        files["nvidia-smi-q.txt"] = redaction.text(told)
    why_not = {name: why for name, why in _reasons(site).items() if not files.get(name)}
    files = {name: text for name, text in files.items() if text}
    files["README.txt"] = _PURPOSE.format(
        version=__version__,
        files="".join(f"  {name:18}{_ABOUT[name]}\n" for name in files),
        missing="".join(f"Missing: {name}: {why}.\n" for name, why in why_not.items()),
        redacted=_told(redaction),
        whose="one GPU" if gpu is not None else "the GPUs",
    )
    return files


def _reasons(site: Site) -> dict[str, str]:
    """Why a file may be missing."""
    silent = [one for one in site.sample.gpus if one.return_code] if site.sample else []
    if site.sample is None or site.sample.error or not site.sample.gpus:
        no_report = f"the driver does not answer ({site.unread or 'no reading came'})"
    elif silent:
        which = gpu_list(one.index for one in silent)
        answer = words(silent[0].return_code)
        verb = "do" if len(silent) > 1 else "does"
        no_report = f"{which} {verb} not answer ({answer}), so nvidia-smi has no report to give"
    else:
        no_report = "nvidia-smi is not there, or gave no report"
    no_reading = site.unread or "no reading came"
    return {
        "nvidia-smi-q.txt": no_report,
        "kernel.log": "it says nothing of GPUs, or may not be read: try as root",
        "reading.json": no_reading,
        "boards.json": no_reading,
    }


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


def _reading(snapshot: Snapshot, redaction: Redaction) -> Any:
    shown = node_object(snapshot.sample, snapshot.statuses)
    for process in (*shown["processes"], *shown["ancestors"]):
        if process["command"]:
            process["command"] = redaction.command(process["command"])
    return redaction.value(shown)


def _incidents(snapshot: Snapshot) -> list[Any]:
    return [incident_object(one) for one in (*snapshot.incidents, *snapshot.recent)]


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


def _doctor(site: Site, without: Collection[str]) -> str:
    checks = [one for one in all_checks() if one.name not in without]
    found = [one for one in examine(site, checks) if one.result.level != Level.SKIPPED]
    host = site.sample.host if site.sample else os.uname().nodename
    return doctor_text.write(found, host)


def _kernel_lines(sample: NodeSample | None, choice: str, gpu: int | None) -> Iterator[str]:
    """The lines on GPUs since the kernel was started."""
    log = KernelLog(choice)
    try:
        lines = [line.text for line in log.read()]
    finally:
        log.close()
    return iter(lines) if gpu is None else lines_of(lines, sample, gpu)


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
