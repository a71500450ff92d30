"""A GPU that lowers its clocks because of heat."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Subject, after, rule, samples
from gputui.model import THERMAL_REASONS, Action, GpuSample, NodeSample


@rule(kind="GpuThermalThrottle", severity=WARNING, holds=samples(3), clears=after(minutes=10))
def thermal_throttle(now: NodeSample, past: History) -> Iterator[Finding]:
    """One hot GPU is its heat sink; all hot at once is the room.

    The thermal bits flicker when clocks change, so they must hold for three samples (NVML's
    HW_SLOWDOWN bit alone says nothing: it is set for power as well).
    """
    answering = [gpu for gpu in now.gpus if gpu.clock_reasons is not None]
    hot = [gpu for gpu in answering if (gpu.clock_reasons or 0) & THERMAL_REASONS]
    for gpu in hot:
        cause, text, advice = _blame(gpu, len(hot), len(answering))
        yield Finding(
            Subject.of_gpu(gpu),
            cause=cause,
            cause_text=text,
            action=Action.CHECK_COOLING,
            action_text=advice,
            evidence=(_reading(gpu),),
        )


def _blame(gpu: GpuSample, hot: int, answering: int) -> tuple[str, str, str]:
    if gpu.fan_percent == 0:
        return "fan", "its fan stands still", "cap power, check its fan"
    if hot == answering and hot > 1:
        return "room", f"all {hot} GPUs are hot", "check room cooling and airflow"
    text = "only this GPU is hot" if hot == 1 and answering > 1 else f"{hot} of {answering} are hot"
    return "heat-sink", text, "cap power, check its heat sink and airflow"


def _reading(gpu: GpuSample) -> str:
    limit = f", slows down at {gpu.temperature_slowdown_c}" if gpu.temperature_slowdown_c else ""
    clock = f"{gpu.sm_clock_mhz} of {gpu.sm_clock_max_mhz} MHz"
    return f"{gpu.temperature_c} °C{limit}; SM clock {clock}; reasons {gpu.clock_reasons:#x}"
