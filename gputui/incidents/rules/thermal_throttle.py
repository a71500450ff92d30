"""A GPU that lowers its clocks because of heat."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.heat import hot_gpus, is_held, is_slowed, until_held
from gputui.incidents.history import History
from gputui.incidents.neighbours import answering, in_how_many
from gputui.incidents.rule import (
    WARNING,
    Finding,
    LookAgain,
    Noticed,
    Over,
    Span,
    Subject,
    after,
    rule,
    samples,
)
from gputui.model import Action, ClockReasons, GpuSample, NodeSample

_AT_ONCE, _THREE = samples(1), samples(3)
_A_MINUTE = after(seconds=60)

_NEAR_K = 5
"""At its limit by the thermometer as well: five degrees of margin are where NVSentinel's and gpud's
warnings begin."""

_UNDER = ("GpuThermalShutdown", "ThermalSensorFault")


@rule(kind="GpuThermalThrottle", severity=WARNING, holds=_THREE, clears=after(minutes=10))
def thermal_throttle(now: NodeSample, past: History) -> Iterator[Noticed]:
    """One hot GPU is its heat sink; all hot at once is the room, and one incident of the node.

    The thermal bits flicker when clocks change, so they must hold for three samples, the hardware's
    for three of five (its HW_SLOWDOWN bit alone says nothing: it is set for power as well). Where
    only the software slows down and the chip is not near its limit (it may be the memory's heat),
    they must hold for a minute, as at DCGM's. The hardware's own counter, where it grew for most of
    the time between two readings, stands for as many samples. The room stays the cause, once all
    were hot, while more than one of them is.
    """
    hot = hot_gpus(now, past)
    yield from (LookAgain(at_s) for at_s in until_held(now, past))
    if len(hot) > 1 and any(_all_hot(sample) for sample in past.samples):
        yield _room(now, hot)
        for gpu in hot:
            yield Over(Subject.of_gpu(gpu))
        return
    told = len(answering(now))
    for gpu in hot:
        cause, text, advice = _blame(gpu, len(hot), told)
        yield Finding(
            Subject.of_gpu(gpu),
            cause=cause,
            cause_text=text,
            action=Action.CHECK_COOLING,
            action_text=advice,
            evidence=(_reading(gpu),),
            under=_UNDER,
            holds=_holds(gpu, now, past),
        )


def _holds(gpu: GpuSample, now: NodeSample, past: History) -> Span:
    if is_held(gpu, past, now.time_s) or in_how_many(past, gpu, _by_hardware, 5) > 2:
        return _AT_ONCE
    return _THREE if _by_hardware(gpu) or _is_near(gpu) else _A_MINUTE


def _by_hardware(gpu: GpuSample) -> bool:
    return bool((gpu.clock_reasons or 0) & ClockReasons.HW_THERMAL_SLOWDOWN)


def _is_near(gpu: GpuSample) -> bool:
    """Whether its temperature is near its limit; yes where either is not told."""
    if gpu.temperature_c is None or gpu.temperature_slowdown_c is None:
        return True
    return gpu.temperature_c >= gpu.temperature_slowdown_c - _NEAR_K


def _all_hot(sample: NodeSample) -> bool:
    hot = [gpu for gpu in sample.gpus if is_slowed(gpu)]
    return len(hot) == len(answering(sample)) > 1


def _room(now: NodeSample, hot: list[GpuSample]) -> Finding:
    told = len(answering(now))
    share = f"all {told}" if len(hot) == told else f"{len(hot)} of {told}"
    temperatures = [gpu.temperature_c for gpu in hot if gpu.temperature_c is not None]
    span = f"{min(temperatures)} to {max(temperatures)} C" if temperatures else "not told"
    return Finding(
        Subject.of_node(now.host),
        cause="room",
        cause_text=f"{share} GPUs are hot",
        action=Action.CHECK_COOLING,
        action_text="check room cooling and airflow",
        evidence=(f"{share} GPUs lower their clocks because of heat; temperatures {span}",),
        under=("GpuThermalShutdown", "InletOutOfBand"),
        others=tuple(Subject.of_gpu(gpu).name for gpu in hot),
    )


def _blame(gpu: GpuSample, hot: int, told: int) -> tuple[str, str, str]:
    if gpu.fan_percent == 0:
        return "fan", "its fan stands still", "cap power, check its fan"
    text = "only this GPU is hot" if hot == 1 and told > 1 else f"{hot} of {told} are hot"
    return "heat-sink", text, "cap power, check its heat sink and airflow"


def _reading(gpu: GpuSample) -> str:
    limit = f", slows down at {gpu.temperature_slowdown_c}" if gpu.temperature_slowdown_c else ""
    clock = f"{gpu.sm_clock_mhz} of {gpu.sm_clock_max_mhz} MHz"
    return f"{gpu.temperature_c} C{limit}; SM clock {clock}; reasons {gpu.clock_reasons or 0:#x}"
