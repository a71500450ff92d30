"""A GPU whose power brake is pulled from outside."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.neighbours import answering, in_how_many
from gputui.incidents.rule import CRITICAL, Finding, Over, Subject, after, rule, samples
from gputui.model import Action, ClockReasons, GpuSample, NodeSample

_BRAKE = ClockReasons.HW_POWER_BRAKE_SLOWDOWN
_AT_ONCE, _TWO = samples(1), samples(2)


@rule(kind="GpuPowerBrake", severity=CRITICAL, holds=_TWO, clears=after(minutes=1))
def power_brake(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """Clocks at half or less because the supply or the rack's controller says so (nvml.h, 0x80).

    In two of three samples: the bit may flicker when clocks change. One GPU's brake is its cable or
    its slot's; all at once are fed by the same supply, and that is the rack's, one incident of the
    node: also while some of them flicker.
    """
    braked, told = _braked(now), answering(now)
    if len(braked) > 1 and any(_all_braked(sample) for sample in past.samples):
        yield _rack(now, braked, past)
        for gpu in braked:
            yield Over(Subject.of_gpu(gpu))
        return
    for gpu in braked:
        subject = Subject.of_gpu(gpu)
        clock = f"SM clock {gpu.sm_clock_mhz} of {gpu.sm_clock_max_mhz} MHz"
        yield Finding(
            subject,
            cause="supply",
            cause_text=f"power brake on {len(braked)} of {len(told)} GPUs",
            action=Action.CHECK_POWER,
            action_text="check its power cable and slot; ipmitool sel list",
            evidence=(f"{clock}; reasons {gpu.clock_reasons:#x}",),
            holds=_AT_ONCE if in_how_many(past, gpu, _is_braked, 3) > 1 else _TWO,
        )


def _braked(sample: NodeSample) -> list[GpuSample]:
    return [gpu for gpu in sample.gpus if _is_braked(gpu)]


def _all_braked(sample: NodeSample) -> bool:
    return len(_braked(sample)) == len(answering(sample)) > 1


def _rack(now: NodeSample, braked: list[GpuSample], past: History) -> Finding:
    clocks = [gpu.sm_clock_mhz for gpu in braked if gpu.sm_clock_mhz is not None]
    span = f"SM clocks {min(clocks)} to {max(clocks)} MHz" if clocks else "SM clocks not told"
    told = len(answering(now))
    share = f"all {told}" if len(braked) == told else f"{len(braked)} of {told}"
    again = all(in_how_many(past, gpu, _is_braked, 3) > 1 for gpu in braked)
    return Finding(
        Subject.of_node(now.host),
        cause="rack",
        cause_text=f"power brake on {share} GPUs",
        action=Action.CHECK_POWER,
        action_text="check supplies and PDU (ipmitool sdr type 'Power Supply'); no higher limits",
        evidence=(f"{span}; the power brake of {share} GPUs is on",),
        holds=_AT_ONCE if again else _TWO,
        others=tuple(Subject.of_gpu(gpu).name for gpu in braked),
    )


def _is_braked(gpu: GpuSample) -> bool:
    return bool((gpu.clock_reasons or 0) & _BRAKE)
