"""A temperature that cannot be true."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gputui.incidents.history import History
from gputui.incidents.rule import (
    WARNING,
    Finding,
    LookAgain,
    Noticed,
    Subject,
    after,
    rule,
    samples,
)
from gputui.model import Action, ClockReasons, GpuSample, NodeSample
from gputui.sources.reasons import code_of, is_failure

_COLDEST_C = 5
"""No GPU in a room where people work is colder: its sensor reads nothing."""

_JUMP_K, _JUMP_WITHIN_S = 40, 5.0
"""A chip that starts to work warms by 10 to 20 degrees in the first seconds; its heat sink takes
over then. So much in so little time is none of its own, up or down."""

_OFF_K = 2
"""What a reading may be off by, against the limit that the firmware goes by."""

_LOOKS_BACK_S = 10.0

_HELD = ClockReasons.HW_THERMAL_SLOWDOWN | ClockReasons.SW_THERMAL_SLOWDOWN


@rule(kind="ThermalSensorFault", severity=WARNING, holds=samples(2), clears=after(minutes=1))
def thermal_sensor_fault(now: NodeSample, past: History) -> Iterator[Noticed]:
    """Nothing read, 0 C, more than where it would have slowed down, or a jump.

    A GPU that works and tells its power, but whose temperature fails while its neighbours' do not,
    counts as well. What reads too much and slows itself down for it is hot until proven otherwise.
    """
    for gpu in now.gpus:
        wrong = _what_is_wrong(gpu, now, past)
        if wrong is not None:
            text, reading = wrong
            # A jump is seen for as long as it is among the samples that are looked at.
            yield LookAgain(now.time_s + _LOOKS_BACK_S + 1.0)
            yield Finding(
                Subject.of_gpu(gpu),
                cause="sensor",
                cause_text=text,
                action=Action.REPLACE_GPU,
                action_text=f"compare nvidia-smi -q -i {gpu.index} -d TEMPERATURE with its peers; "
                "at the next drain reset it, then have it replaced",
                evidence=(reading,),
                under=("GpuLost", "GpuHung", "GpuResetRequired"),
            )


def _what_is_wrong(gpu: GpuSample, now: NodeSample, past: History) -> tuple[str, str] | None:
    if gpu.return_code:
        return None
    degrees = gpu.temperature_c
    if degrees is None:
        why = gpu.missing.get("temperature_c", "")
        if not is_failure(why) or not why or code_of(why) is not None:
            return _alone_without(gpu, now)
        return f"its temperature sensor reads {why.removeprefix('garbage: ')} C", why
    if degrees <= _COLDEST_C:
        return f"its temperature sensor reads {degrees} C", f"temperature {degrees} C"
    limit_c = gpu.temperature_slowdown_c or gpu.temperature_shutdown_c
    if limit_c is not None and degrees > limit_c + _OFF_K and _runs_free(gpu):
        text = f"it reads {degrees} C and does not slow down, as it would at {limit_c}"
        return text, f"temperature {degrees} C; reasons {gpu.clock_reasons or 0:#x}"
    if jump := _jump(gpu, past):
        return f"its temperature jumped by {jump} degrees", f"temperature {degrees} C"
    return None


def _runs_free(gpu: GpuSample) -> bool:
    """Whether it tells that no heat holds its clocks down."""
    return gpu.clock_reasons is not None and not gpu.clock_reasons & _HELD


def _alone_without(gpu: GpuSample, now: NodeSample) -> tuple[str, str] | None:
    """A sensor that fails while all neighbours of the same model have theirs."""
    peers = [one for one in now.gpus if one.index != gpu.index and one.name == gpu.name]
    why = gpu.missing.get("temperature_c", "")
    told = [one for one in peers if one.return_code == 0]
    if gpu.power_mw is None or not told or any(one.temperature_c is None for one in told):
        return None
    return "it tells no temperature, its neighbours do", f"temperature: {why or 'missing'}"


def _jump(gpu: GpuSample, past: History) -> int | None:
    """The largest step of the last seconds; samples that are far apart tell of none."""
    series = past.series(gpu.index, _temperature, last_s=_LOOKS_BACK_S)
    for (before_s, before_c), (after_s, after_c) in pairwise(series):
        if after_s - before_s <= _JUMP_WITHIN_S and abs(after_c - before_c) >= _JUMP_K:
            return abs(after_c - before_c)
    return None


def _temperature(gpu: GpuSample) -> int | None:
    return gpu.temperature_c
