"""GPU performance monitoring, on both carriers: what happened between two samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MakeRig = Callable[..., Any]
SECOND = 1_000_000
GRAPHICS, SM, DRAM, PCIE_RX, NVDEC, NVLINK_RX, LINK_0_RX, LINK_17_TX = 1, 2, 10, 21, 30, 60, 62, 97
C2C_TX, NONE_SUCH = 100, 476
INVALID_ARGUMENT, NOT_SUPPORTED = 2, 3


def samples(rig: Any, gap_us: int = SECOND, index: int = 0) -> tuple[Any, Any]:
    """Two samples of a GPU, so long after each other."""
    nvml = rig.nvml
    first, second = nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()
    nvml.nvmlGpmSampleGet(rig.handle(index), first)
    rig.at_us += gap_us
    rig.world.advance(rig.at_us)
    nvml.nvmlGpmSampleGet(rig.handle(index), second)
    return first, second


def asking(rig: Any, first: Any, second: Any, *numbers: int) -> Any:
    """The structure that asks for metrics."""
    asked = rig.nvml.c_nvmlGpmMetricsGet_t()
    asked.version, asked.numMetrics = 1, len(numbers)
    asked.sample1, asked.sample2 = first, second
    for metric, number in zip(asked.metrics, numbers, strict=False):
        metric.metricId, metric.value, metric.nvmlReturn = number, -1.0, 77
    return asked


def metrics(rig: Any, first: Any, second: Any, *numbers: int) -> list[tuple[int, float]]:
    """Return code and value of each metric."""
    asked = asking(rig, first, second, *numbers)
    got = rig.nvml.nvmlGpmMetricsGet(asked)
    assert [each.metricId for each in got.metrics[: len(numbers)]] == list(numbers)
    assert got.metrics[len(numbers)].nvmlReturn == 0  # what lies behind is not touched
    return [(each.nvmlReturn, each.value) for each in got.metrics[: len(numbers)]]


def test_metrics_agree_with_the_other_readings(rig: Any) -> None:
    """Utilization, PCIe and NVLink are those that NVML's other functions tell."""
    gpu, nvml = rig.node.gpus[0], rig.nvml
    began_us = rig.at_us
    first, second = samples(rig)
    found = metrics(rig, first, second, GRAPHICS, DRAM, PCIE_RX, NVDEC, LINK_0_RX, NVLINK_RX)
    codes, values = zip(*found, strict=True)
    assert codes == (0,) * len(found)
    busy, dram, received, decoder, link, links = values
    rates = [gpu.utilization_rates(at_us) for at_us in (began_us, rig.at_us)]
    assert busy == sum(rate[0] for rate in rates) / 2
    assert dram == sum(rate[1] for rate in rates) / 2
    kib = [gpu.pcie_kib_per_s(at_us, received=True) for at_us in (began_us, rig.at_us)]
    assert received == sum(kib) / 2 / 1024
    assert decoder == 0
    over_link = gpu.nvlink_kib(rig.at_us, received=True) - gpu.nvlink_kib(began_us, received=True)
    assert link == over_link / 1024
    assert links == 18 * link > 0
    assert nvml.nvmlGpmQueryDeviceSupport(rig.handle()).isSupportedDevice == 1


def test_an_idle_gpu_did_nothing(make_rig: MakeRig) -> None:
    """No use of its SMs, and nothing over its NVLinks."""
    rig = make_rig(idle=True)
    assert metrics(rig, *samples(rig), SM, NVLINK_RX, LINK_17_TX) == [(0, 0.0)] * 3


def test_each_metric_has_its_own_code(rig: Any) -> None:
    """One that this GPU lacks is not supported, a number that is none is invalid; others come."""
    found = metrics(rig, *samples(rig), SM, C2C_TX, NONE_SUCH, 0, 477, LINK_17_TX)
    assert [code for code, _ in found] == [
        0, NOT_SUPPORTED, NOT_SUPPORTED, INVALID_ARGUMENT, INVALID_ARGUMENT, 0,
    ]  # fmt: skip


def test_samples_must_be_filled_and_of_one_gpu(rig: Any) -> None:
    """An empty sample, one of another GPU, and a handle that is nobody's are invalid arguments."""
    nvml = rig.nvml
    first, second = samples(rig)
    empty = nvml.nvmlGpmSampleAlloc()
    other, _ = samples(rig, index=1)
    for wrong in (empty, other, None):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            nvml.nvmlGpmMetricsGet(asking(rig, first, wrong, SM))
    nvml.nvmlGpmSampleFree(second)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlGpmMetricsGet(asking(rig, first, second, SM))
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlGpmSampleFree(second)


def test_a_sample_stays_as_it_was(rig: Any) -> None:
    """Asked twice, and after the job has ended, the same two samples tell the same."""
    first, second = samples(rig)
    before = metrics(rig, first, second, SM, NVLINK_RX)
    for pid in list(rig.node.processes):
        rig.node.end_process(pid, rig.at_us)
    assert metrics(rig, first, second, SM, NVLINK_RX) == before


@pytest.mark.parametrize("model", ["a100-sxm", "l4"])
def test_older_gpus_have_no_such_samples(make_rig: MakeRig, model: str) -> None:
    """Before Hopper the query says no, and a sample cannot be filled."""
    rig = make_rig(model=model)
    nvml = rig.nvml
    assert nvml.nvmlGpmQueryDeviceSupport(rig.handle()).isSupportedDevice == 0
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlGpmSampleGet(rig.handle(), nvml.nvmlGpmSampleAlloc())


@pytest.mark.parametrize("carrier", ["in process"], indirect=True)
def test_samples_are_freed_with_whoever_made_them(rig: Any) -> None:
    """What a program did not free is freed when it is gone."""
    samples(rig)
    assert len(rig.node.gpm_samples) == 2
    rig.library.close()
    assert len(rig.node.gpm_samples) == 0
