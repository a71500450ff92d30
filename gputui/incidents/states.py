"""Which state a GPU is in, and why: the worst that applies (see :class:`gputui.model.GpuState`)."""

from __future__ import annotations

from collections.abc import Iterable

from gputui.model import (
    THERMAL_REASONS,
    ClockReasons,
    GpuSample,
    GpuState,
    Incident,
    Severity,
)
from gputui.sources.reasons import (
    GPU_NOT_FOUND,
    LOST_CODES,
    MISSING,
    NO_PERMISSION,
    RESET_REQUIRED,
    TIMEOUT,
    is_failure,
    words,
)

_LOWERED = int(THERMAL_REASONS | ClockReasons.HW_POWER_BRAKE_SLOWDOWN)
"""Heat and power brake. A software power cap alone is how a GPU at full load runs."""

DOES_NOT_RETURN = "a call to it does not return"

_TOLD_BY_THROTTLED = frozenset({"GpuThermalThrottle", "GpuPowerBrake"})
"""Incidents that THROTTLED says better than DEGRADED would."""


def state_of(gpu: GpuSample, incidents: Iterable[Incident]) -> tuple[GpuState, str]:
    """Return the state of a GPU that was just read, and one clause that says why (may be empty).

    ``incidents`` are the open ones; only those on this GPU count, not those of a job
    that used it, and only as long as they hold.
    """
    if gpu.return_code in LOST_CODES:
        return GpuState.LOST, _why_lost(gpu)
    if gpu.return_code == MISSING:
        return GpuState.LOST, _why_missing(gpu, incidents)
    if gpu.return_code == NO_PERMISSION:
        return GpuState.HIDDEN, "this container or job was given no access to it"
    if gpu.return_code == RESET_REQUIRED:
        return GpuState.RESET_NEEDED, "the driver wants a reset before it is used again"
    if gpu.return_code == TIMEOUT:
        return GpuState.HUNG, DOES_NOT_RETURN
    if gpu.return_code:
        return GpuState.DEGRADED, words(gpu.return_code)
    failed = sorted(name for name, reason in gpu.missing.items() if is_failure(reason))
    if failed:
        return GpuState.DEGRADED, f"{failed[0]}: {gpu.missing[failed[0]]}"
    for incident in incidents:
        if (
            incident.gpu == gpu.index
            and not incident.subject.startswith("job:")
            and incident.eased_s is None
            and incident.severity > Severity.INFO
            and incident.kind not in _TOLD_BY_THROTTLED
        ):
            return GpuState.DEGRADED, incident.cause_text
    lowered = ClockReasons((gpu.clock_reasons or 0) & _LOWERED)
    if lowered:
        power = ClockReasons.HW_POWER_BRAKE_SLOWDOWN in lowered
        return GpuState.THROTTLED, "power brake" if power else "heat"
    return GpuState.OK, ""


def _why_missing(gpu: GpuSample, incidents: Iterable[Incident]) -> str:
    for incident in incidents:
        if incident.kind == "GpuMissing" and incident.gpu == gpu.index:
            return f"missing: {incident.cause_text}"
    return "missing: it should be there"


def _why_lost(gpu: GpuSample) -> str:
    if gpu.return_code == GPU_NOT_FOUND:
        return "no longer counted by NVML"
    return f"no answer on the bus ({words(gpu.return_code)})"
