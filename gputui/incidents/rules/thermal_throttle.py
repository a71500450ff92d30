"""A GPU that lowers its clocks because of heat."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Over, Subject, after, rule, samples
from gputui.model import THERMAL_REASONS, Action, GpuSample, NodeSample


@rule(kind="GpuThermalThrottle", severity=WARNING, holds=samples(3), clears=after(minutes=10))
def thermal_throttle(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """One hot GPU is its heat sink; all hot at once is the room, and one incident of the node.

    The thermal bits flicker when clocks change, so they must hold for three samples (NVML's
    HW_SLOWDOWN bit alone says nothing: it is set for power as well). For the same reason the room
    stays the cause, once all were hot, while more than one of them is.
    """
    hot = _hot(now)
    if len(hot) > 1 and any(_all_hot(sample) for sample in past.samples):
        yield _room(now, hot)
        for gpu in hot:
            yield Over(Subject.of_gpu(gpu))
        return
    answering = len(_answering(now))
    for gpu in hot:
        cause, text, advice = _blame(gpu, len(hot), answering)
        yield Finding(
            Subject.of_gpu(gpu),
            cause=cause,
            cause_text=text,
            action=Action.CHECK_COOLING,
            action_text=advice,
            evidence=(_reading(gpu),),
        )


def _answering(sample: NodeSample) -> list[GpuSample]:
    return [gpu for gpu in sample.gpus if gpu.clock_reasons is not None]


def _hot(sample: NodeSample) -> list[GpuSample]:
    return [gpu for gpu in sample.gpus if (gpu.clock_reasons or 0) & THERMAL_REASONS]


def _all_hot(sample: NodeSample) -> bool:
    return len(_hot(sample)) == len(_answering(sample)) > 1


def _room(now: NodeSample, hot: list[GpuSample]) -> Finding:
    answering = len(_answering(now))
    share = f"all {answering}" if len(hot) == answering else f"{len(hot)} of {answering}"
    temperatures = [gpu.temperature_c for gpu in hot if gpu.temperature_c is not None]
    span = f"{min(temperatures)} to {max(temperatures)} C" if temperatures else "not told"
    return Finding(
        Subject.of_node(now.host),
        cause="room",
        cause_text=f"{share} GPUs are hot",
        action=Action.CHECK_COOLING,
        action_text="check room cooling and airflow",
        evidence=(f"{share} GPUs lower their clocks because of heat; temperatures {span}",),
    )


def _blame(gpu: GpuSample, hot: int, answering: int) -> tuple[str, str, str]:
    if gpu.fan_percent == 0:
        return "fan", "its fan stands still", "cap power, check its fan"
    text = "only this GPU is hot" if hot == 1 and answering > 1 else f"{hot} of {answering} are hot"
    return "heat-sink", text, "cap power, check its heat sink and airflow"


def _reading(gpu: GpuSample) -> str:
    limit = f", slows down at {gpu.temperature_slowdown_c}" if gpu.temperature_slowdown_c else ""
    clock = f"{gpu.sm_clock_mhz} of {gpu.sm_clock_max_mhz} MHz"
    return f"{gpu.temperature_c} C{limit}; SM clock {clock}; reasons {gpu.clock_reasons:#x}"
