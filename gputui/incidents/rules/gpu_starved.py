"""A GPU that waits for data, because the host is too busy to bring it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents.averages import mean
from gputui.incidents.history import History
from gputui.incidents.holders import Held, grouped, has_ended, holders
from gputui.incidents.rule import INFO, WARNING, Finding, LookAgain, after, rule
from gputui.model import Action, GpuSample, HostSample, NodeSample

_LOOK_S = 60.0
_LEAST_SAMPLES = 5
_IDLE_PERCENT = 2
_SWING_PERCENT = 50
_SOON_S = 1.0
"""While averages are on their way to what is so now, they are looked at so often."""


@rule(kind="GpuStarved", severity=INFO, holds=after(minutes=2), clears=after(minutes=2))
def gpu_starved(now: NodeSample, past: History) -> Iterator[Finding | LookAgain]:
    """A GPU works, but less than ``starved`` of a minute (60 %), while the host's tasks wait.

    Low utilization alone says nothing (a server waits for requests, a small model needs no more).
    The kernel's pressure says whether the host is short of something: that tasks wait for I/O or
    for a CPU in more than ``pressure`` of the time (20 %; Documentation/accounting/psi.rst: "some"
    is lost time of individual tasks). Without it nothing is told. A warning where a scheduler gave
    the GPUs to a job, else information.
    """
    if not _is_pressed(now.host_readings, past):
        return
    scarce = _scarce(past)
    starved = [gpu for gpu in now.gpus if scarce and _starves(gpu, now, past)]
    if any((gpu in starved) != _is_slow(gpu, now, past) for gpu in now.gpus):
        yield LookAgain(now.time_s + _SOON_S)
    if scarce is None:
        return
    what, percent = scarce
    for held in grouped(now, starved):
        shares = _shares(held.gpus[0], past)
        yield Finding(
            held.subject,
            cause="data-loading",
            cause_text=f"{_used(shares)}, while tasks wait for {what} {percent:.0f} % of the time",
            action=Action.CHECK_STORAGE if what == "I/O" else Action.CHECK_CONFIG,
            action_text="check the storage that the job reads from (iostat -x 1)"
            if what == "I/O"
            else "give the job more CPUs, or fewer loader processes (top -H)",
            evidence=tuple(_evidence(held, past)),
            severity=WARNING if held.is_scheduled else INFO,
        )


def _is_pressed(host: HostSample | None, past: History) -> bool:
    """Whether tasks wait now."""
    return host is not None and max(_io(host), _cpu(host)) >= 100 * past.thresholds.pressure_share


def _scarce(past: History) -> tuple[str, float] | None:
    """What the host's tasks wait for, and for how much of the time."""
    least = 100 * past.thresholds.pressure_share
    readings = [one.host_readings for one in past.samples if one.host_readings is not None]
    if len(readings) < _LEAST_SAMPLES:
        return None
    io, cpu = mean(map(_io, readings)), mean(map(_cpu, readings))
    if max(io, cpu) < least:
        return None
    return ("I/O", io) if io >= cpu else ("a CPU", cpu)


def _io(host: HostSample) -> float:
    return host.io_pressure_percent or 0.0


def _cpu(host: HostSample) -> float:
    return host.cpu_pressure_percent or 0.0


def _computes(gpu: GpuSample, now: NodeSample) -> bool:
    return any(
        one.kind == "compute" and not has_ended(one, is_idle=False) for one in holders(now, gpu)
    )


def _is_slow(gpu: GpuSample, now: NodeSample, past: History) -> bool:
    """Whether it is used little at this moment: if that stays so, the average will say it too."""
    share = gpu.utilization_percent
    most = 100 * past.thresholds.starved_share
    return share is not None and _IDLE_PERCENT < share < most and _computes(gpu, now)


def _starves(gpu: GpuSample, now: NodeSample, past: History) -> bool:
    if not _computes(gpu, now):
        return False
    shares = _shares(gpu, past)
    if len(shares) < _LEAST_SAMPLES:
        return False
    return _IDLE_PERCENT < mean(shares) < 100 * past.thresholds.starved_share


def _shares(gpu: GpuSample, past: History) -> list[int]:
    return [share for _, share in past.series(gpu.index, _utilization, last_s=_LOOK_S)]


def _utilization(gpu: GpuSample) -> int | None:
    return gpu.utilization_percent


def _used(shares: Sequence[int]) -> str:
    if max(shares) - min(shares) >= _SWING_PERCENT:
        return f"used {mean(shares):.0f} %, swinging between {min(shares)} and {max(shares)} %"
    return f"used {mean(shares):.0f} %"


def _evidence(held: Held, past: History) -> Iterator[str]:
    host = past.samples[-1].host_readings
    if host is not None:
        pressures = (("CPU", host.cpu_pressure_percent), ("I/O", host.io_pressure_percent))
        told = ", ".join(f"{name} {value:.0f} %" for name, value in pressures if value is not None)
        yield f"pressure (some avg10): {told}"
    for gpu in held.gpus[:8]:
        yield f"GPU {gpu.index}: {_used(_shares(gpu, past))}"
