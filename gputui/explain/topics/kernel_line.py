"""A whole line of a kernel log: what it says, and what the registers in it mean."""

from __future__ import annotations

from dataclasses import replace

from gputui.explain.explanation import Explanation, advice, next_steps
from gputui.explain.topics import kinds
from gputui.explain.topics.codes import of_sxid, of_xid
from gputui.facts import nvlink74
from gputui.facts.compat import Version
from gputui.facts.nvlink5 import XIDS, Nvlink5Error, Reading, decode
from gputui.facts.sxid import sxid_fact
from gputui.facts.xid import xid_fact
from gputui.incidents.init_failure import init_failure
from gputui.incidents.verdict import said_in, severity_of
from gputui.logs.kernel import KernelEvent, KernelParser
from gputui.text import decoded

KNOWN = "a line of a kernel log, pasted whole"

_KINDS = {
    "gpu_lost": "GpuLost",
    "init_failed": "DriverNotLoaded",
    "probe_failed": "DriverNotLoaded",
    "init_reason": "DriverNotLoaded",
    "version_mismatch": "DriverMismatch",
    "aer": "PcieErrors",
    "aer_unrecovered": "PcieErrors",
    "reset_required": "GpuResetRequired",
    "oom_kill": "JobFailed",
    "hung_task": "StorageStall",
    "storage_silent": "StorageStall",
    "dpc": "PcieErrors",
    "pcie_limited": "PcieDegraded",
    "nccl_segfault": "JobFailed",
}
"""Events without a number of their own, and the incidents that they are."""

_XIDS = {"power_cables": 54, "gsp_ratelimit": 119}
"""Messages that stand for an Xid."""

_HARMLESS = {
    "gpu_info": "the driver tells about a GPU; nothing is wrong by it",
    "gpu_uuid": "the driver tells which GPU is at which address, before its first Xid",
    "driver_loaded": "the driver was loaded",
    "storage_back": "a file server answers again",
    "peer_memory": "the module for RDMA to GPU memory says why it gave something up",
    "fabric_manager": "the Fabric Manager tells of its version",
}


def explain(question: str, driver: Version | None) -> Explanation | None:
    """``driver`` is the version of the driver that printed the line, where it is known."""
    lines = [decoded(line.encode()) for line in question.splitlines() if line.strip()]
    if not lines or ("Xid" not in question and len(question.split()) < 4):
        return None
    parser = KernelParser()
    for position, line in enumerate(lines):
        event = parser.parse(line, 0.0, ahead=lambda at=position: lines[at + 1 :])  # type: ignore[misc]
        if event is not None:
            return _of_event(event, driver)
    return None


def _of_event(event: KernelEvent, driver: Version | None) -> Explanation | None:
    said = tuple(_said(event))
    code = event.code if event.code is not None else _XIDS.get(event.kind)
    if event.kind in ("sxid", "fm_sxid") and code is not None:
        return _of_switch(event, code, said)
    if event.kind == "xid" or event.kind in _XIDS:
        decoded5 = decode(code or 0, event.detail, driver) if code in XIDS else None
        details = (*said, *(_registers(decoded5, driver) if decoded5 else ()))
        if code == nvlink74.XID:
            details = (*details, *_bits(event.detail))
        return _with_verdict(of_xid(xid_fact(code or 0), details), event)
    if event.kind in _KINDS:
        failure = init_failure([event]) if event.kind == "init_failed" else None
        said += (failure.text,) if failure is not None else ()
        found = kinds.of_kind(_KINDS[event.kind])
        return None if found is None else replace(found, details=(*said, *found.details))
    meaning = _HARMLESS.get(event.kind)
    if meaning is None:
        return None
    harmless = xid_fact(14)
    return Explanation(
        about=event.kind,
        title=event.kind,
        meaning=meaning,
        action=harmless.action,
        action_text=advice(harmless.action),
        details=said,
        source="texts of the driver",
    )


def _of_switch(event: KernelEvent, code: int, said: tuple[str, ...]) -> Explanation:
    """The driver's word in the line (Fatal, Non-fatal) outranks what vendors say of the code."""
    from gputui.incidents.rules.nvswitch_error import advice_on, severity_told

    severity, fact = severity_told(event), sxid_fact(code)
    action, action_text = advice_on(severity, fact)
    return replace(
        of_sxid(fact, said),
        severity=severity,
        action=action,
        action_text=action_text,
        next_steps=next_steps(action),
    )


def _with_verdict(found: Explanation, event: KernelEvent) -> Explanation:
    """What the driver itself says in the line outranks what anybody says of the code."""
    action = said_in(event)
    if action is None:
        return found
    note = f"the driver's own verdict in this line: {advice(action)} (it outranks the code)"
    return replace(
        found,
        severity=severity_of(action),
        action=action,
        action_text=advice(action),
        details=(*found.details, note),
        next_steps=next_steps(action),
    )


def _said(event: KernelEvent) -> list[str]:
    """The parts of the line, in words."""
    said = []
    if event.bus_id:
        said.append(f"GPU or device at {event.bus_id}")
    if event.gpu_instance is not None:
        instance = f"MIG GPU instance {event.gpu_instance}"
        if event.compute_instance is not None:
            instance += f", compute instance {event.compute_instance}"
        said.append(instance)
    if event.process:
        said.append(f"process {event.process}, pid {event.pid}")
    elif event.pid is not None:
        said.append(f"process id {event.pid}")
    if event.caused_by is not None:
        said.append(f"the driver names Xid {event.caused_by} as its cause: follow that one")
    if event.detail:
        said.append(f"it says: {event.detail}")
    return said


def _bits(detail: str) -> list[str]:
    """What the seven registers of Xid 74 mean, bit by bit."""
    error = nvlink74.decode(detail)
    if error is None:
        return []
    return [
        f"NVLink: link {error.link}; what the registers mean is known for Hopper",
        *(one.text for one in error.found),
    ]


def _registers(error: Nvlink5Error, driver: Version | None) -> list[str]:
    link = "no link" if error.link is None else f"link {error.link}"
    lines = [
        f"NVLink5: unit {error.unit}, {'fatal' if error.is_fatal else 'non-fatal'}, {link}, "
        f"sub-code {error.sub_code}, error status {error.error_status:#010x}"
        + (", injected by a test" if error.injected else "")
    ]
    if driver is None:
        lines.append(
            "the bits of its first register changed with driver branch 575; the driver is not "
            "known (give --driver VERSION), so both readings follow"
        )
    for reading in error.readings:
        lines += _reading(reading)
    if error.blames_peer:
        lines.append("look at the other end of the link: the source of the error is there")
    return lines


def _reading(reading: Reading) -> list[str]:
    if not reading.facts:
        unit = f"unit {reading.unit}, " if reading.unit else ""
        return [f"{reading.layout.value}: {unit}no row of the catalogue fits"]
    fits = "" if reading.fits else " (not the unit that the line names)"
    return [
        f"{reading.layout.value}: {reading.unit}{fits}: {fact.severity}, NVIDIA says "
        f"{fact.nvidia_action}, then {fact.nvidia_investigation}; here: {fact.local_effect}; "
        f"other end: {fact.remote_effect or 'nothing is said'}"
        for fact in reading.facts
    ]
