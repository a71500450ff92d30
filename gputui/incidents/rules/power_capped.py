"""A GPU that its power limit makes slower than its peers."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.neighbours import busy_peers_median
from gputui.incidents.rule import INFO, Finding, Subject, after, rule, samples
from gputui.model import Action, ClockReasons, GpuSample, NodeSample

_BUSY_PERCENT = 50
_CAP, _BRAKE = ClockReasons.SW_POWER_CAP, ClockReasons.HW_POWER_BRAKE_SLOWDOWN


@rule(kind="GpuPowerCapped", severity=INFO, holds=samples(3), clears=after(minutes=1))
def power_capped(now: NodeSample, past: History) -> Iterator[Finding]:
    """A power cap alone is how GPUs run at full load (Azure's node health check ignores it).

    It is worth telling where the clock is below 70 % of that of the node's other working GPUs: then
    a job waits for this one. A limit below theirs is the configuration's.
    """
    for gpu in now.gpus:
        reasons = gpu.clock_reasons or 0
        if not reasons & _CAP or reasons & _BRAKE or gpu.sm_clock_mhz is None:
            continue
        if (gpu.utilization_percent or 0) < _BUSY_PERCENT:
            continue
        peers_mhz = busy_peers_median(gpu, now, _clock, busy_percent=_BUSY_PERCENT)
        if peers_mhz is None or gpu.sm_clock_mhz >= past.thresholds.capped_clock_share * peers_mhz:
            continue
        peers_mw = busy_peers_median(gpu, now, _limit, busy_percent=_BUSY_PERCENT)
        lower = peers_mw is not None and (gpu.power_limit_mw or peers_mw) < peers_mw
        share = f"{100 * gpu.sm_clock_mhz / peers_mhz:.0f} % of its peers' clock"
        set_it = f"nvidia-smi -i {gpu.index} -pl {(peers_mw or 0) / 1000:.0f}"
        yield Finding(
            Subject.of_gpu(gpu),
            cause="configuration" if lower else "limit",
            cause_text=f"held by its power limit at {share}",
            action=Action.CHECK_CONFIG if lower else Action.IGNORE,
            action_text=f"its limit is below its peers': {set_it}" if lower else "nothing to do",
            evidence=(f"SM clock {gpu.sm_clock_mhz} MHz, its peers' {peers_mhz:.0f} MHz",),
        )


def _clock(gpu: GpuSample) -> int | None:
    return gpu.sm_clock_mhz


def _limit(gpu: GpuSample) -> int | None:
    return gpu.power_limit_mw
