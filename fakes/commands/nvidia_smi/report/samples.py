"""Recent samples of a reading: shown with their section alone, as ``-d`` has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.report.layout import Group, line
from fakes.commands.nvidia_smi.words import Read
from fakes.nvml.codes import Code


@dataclass(frozen=True, slots=True)
class _Summary:
    """What is told of a row of samples."""

    duration_s: float
    values: tuple[int, ...]


def samples(
    label: str, kind: int, unit: str, *, section: str, by: Callable[[float], str] = "{:.0f}".format
) -> Group:
    """Duration, number, highest, lowest and mean of the samples of a kind (nvmlSamplingType_t)."""

    def told(of: Callable[[_Summary], str]) -> Read:
        def read(gpu: Gpu) -> str:
            try:
                return of(_summary(gpu, kind))
            except Missing as missing:
                if missing.code != Code.NOT_FOUND:
                    raise
                return gpu.driver.error_text(missing.code)

        return read

    def value(of: Callable[[tuple[int, ...]], float]) -> Read:
        return told(lambda summary: f"{by(of(summary.values))} {unit}")

    return Group(
        label=label,
        section=section,
        only_asked=True,
        parts=(
            line("Duration", told(lambda summary: f"{summary.duration_s:.2f} sec")),
            line("Number of Samples", told(lambda summary: str(len(summary.values)))),
            line("Max", value(max)),
            line("Min", value(min)),
            line("Avg", value(lambda values: sum(values) / len(values))),
        ),
    )


def _summary(gpu: Gpu, kind: int) -> _Summary:
    _, taken = gpu.get("nvmlDeviceGetSamples", kind, 0)
    stamps_us = [sample.timeStamp for sample in taken]
    values = tuple(int(sample.sampleValue.uiVal) for sample in taken)
    return _Summary((stamps_us[-1] - stamps_us[0]) / 1e6, values)
