"""Memory that fails: what is counted, what a reset takes back, and what NVML says of it."""

from __future__ import annotations

from ctypes import byref
from dataclasses import replace
from typing import Any

import pytest

from fakes.hardware.ecc import MOST_PAGES, MemoryErrors, RemappedRows
from fakes.hardware.gpu import Gpu
from fakes.hardware.memory_faults import (
    Uncorrectable,
    correct,
    fail_to_remap,
    mark_bad,
    retire,
    strike,
)
from fakes.node import Node

SECOND = 1_000_000


@pytest.fixture
def old_rig(make_rig: Any) -> Any:
    """GPUs as they were before Ampere: they retire pages."""
    rig = make_rig()
    for gpu in rig.node.gpus:
        gpu.profile = replace(gpu.profile, architecture=5)
    return rig


def lines(node: Node) -> list[str]:
    return [line.text.split("): ")[1] for line in node.kernel_log.lines]


def codes(node: Node) -> list[int]:
    return [int(line.split(",")[0]) for line in lines(node)]


def test_corrected_errors_come_at_their_rate() -> None:
    """In closed form: however it is read, and on from what was counted before."""
    errors = MemoryErrors(10, 0, 100, 0).coming(20, 5 * SECOND)
    assert errors.corrected(5 * SECOND) == 10
    assert errors.corrected(8 * SECOND) == 70
    assert errors.corrected(8 * SECOND, aggregate=True) == 160
    later = errors.coming(0, 10 * SECOND)
    assert later.corrected(99 * SECOND) == 110


def test_a_reset_takes_back_what_is_volatile() -> None:
    """A board's life goes on; a row that was marked is replaced, one that failed is not."""
    errors = MemoryErrors(1, 2, 3, 4, 5, 6).after_reset(SECOND)
    assert (errors.corrected(SECOND), errors.all_volatile_uncorrected) == (0, 0)
    assert errors.corrected(SECOND, aggregate=True) == 3
    assert errors.all_aggregate_uncorrected == 10
    rows = RemappedRows(1, 2, pending=True, failed=True).after_reset()
    assert (rows.uncorrectable, rows.pending, rows.failed) == (2, False, True)


def test_banks_are_spent_one_by_one() -> None:
    """The histogram always counts every bank once."""
    rows = RemappedRows(3, 2, banks_low=4, banks_none=7)
    assert rows.histogram(640) == (624, 5, 0, 4, 7)
    assert sum(RemappedRows(900, 0, banks_none=900).histogram(640)) == 640


@pytest.mark.parametrize(
    ("error", "told", "wants", "ends"),
    [
        (Uncorrectable.DRAM, [48, 63, 154], 1, False),
        (Uncorrectable.SRAM, [48, 154], 1, False),
        (Uncorrectable.CONTAINED, [63, 94, 154], 4, True),
        (Uncorrectable.UNCONTAINED, [95, 154], 1, False),
    ],
)
def test_what_an_error_comes_to(
    rig: Any, error: Uncorrectable, told: list[int], wants: int, ends: bool
) -> None:
    """Its lines in order, what the driver then wants (field 230), and who has to end."""
    gpu = rig.node.gpus[0]
    handle = rig.handle(0)
    strike(rig.node, gpu, error, rig.at_us)
    assert codes(rig.node) == told
    (field,) = rig.nvml.nvmlDeviceGetFieldValues(handle, [230])
    assert field.value.uiVal == wants
    assert gpu.reset_required is not ends
    assert (len(rig.node.processes_on(gpu)) == 0) is ends


def test_nvml_tells_of_each_error_where_it_was(rig: Any) -> None:
    """Totals, places, rows, the SRAM status with its flag: one world, many answers."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    strike(rig.node, gpu, Uncorrectable.CONTAINED, rig.at_us)
    for _ in range(5):
        strike(rig.node, gpu, Uncorrectable.SRAM, rig.at_us)
    gpu.reset_required = False
    assert nvml.nvmlDeviceGetTotalEccErrors(handle, 1, 0) == 6
    assert nvml.nvmlDeviceGetMemoryErrorCounter(handle, 1, 0, 2) == 1
    assert nvml.nvmlDeviceGetMemoryErrorCounter(handle, 1, 1, 7) == 5
    assert nvml.nvmlDeviceGetRemappedRows(handle) == (0, 1, 1, 0)
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, byref(status))
    assert (status.aggregateUncSecDed, status.bThresholdExceeded) == (5, 1)


def test_errors_that_are_corrected_grow_in_every_reading(rig: Any) -> None:
    """The function, the field of it, and the driver's word from ten a second on."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    correct(rig.node, gpu, 9, rig.at_us)
    assert codes(rig.node) == []
    correct(rig.node, gpu, 100, rig.at_us)
    assert codes(rig.node) == [92]
    rig.at_us += 2 * SECOND
    assert nvml.nvmlDeviceGetTotalEccErrors(handle, 0, 0) == 200
    assert nvml.nvmlDeviceGetMemoryErrorCounter(handle, 0, 1, 2) == 200
    (field,) = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL])
    assert field.value.ullVal == 200


def test_counters_can_be_cleared(rig: Any) -> None:
    """Volatile ones, or those of the board's life; nothing else is known."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    gpu.memory_errors = MemoryErrors(1, 2, 3, 4)
    nvml.nvmlDeviceClearEccErrorCounts(handle, nvml.NVML_VOLATILE_ECC)
    kinds = [(kind, counter) for counter in (0, 1) for kind in (0, 1)]
    assert [nvml.nvmlDeviceGetTotalEccErrors(handle, *each) for each in kinds] == [0, 0, 3, 4]
    nvml.nvmlDeviceClearEccErrorCounts(handle, nvml.NVML_AGGREGATE_ECC)
    assert [nvml.nvmlDeviceGetTotalEccErrors(handle, *each) for each in kinds] == [0, 0, 0, 0]
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceClearEccErrorCounts(handle, 2)


def test_a_row_without_a_spare_shows_in_every_reading(rig: Any) -> None:
    """The flag, its field, the bank that has none left, the line."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    fail_to_remap(rig.node, gpu, rig.at_us)
    assert nvml.nvmlDeviceGetRemappedRows(handle)[3] == 1
    (field,) = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_REMAPPED_FAILURE])
    assert field.value.uiVal == 1
    assert nvml.nvmlDeviceGetRowRemapperHistogram(handle).none == 1
    assert codes(rig.node) == [64]


def test_older_gpus_retire_pages(old_rig: Any) -> None:
    """Addresses, times, whether they wait; rows are none of theirs, nor pages of the others."""
    nvml, node = old_rig.nvml, old_rig.node
    gpu, handle = node.gpus[0], old_rig.handle(0)
    mark_bad(node, gpu, 7 * SECOND)
    retire(node, gpu, 8 * SECOND, by_single_bits=True)
    assert codes(node) == [63, 63]
    assert "Dynamic Page Retirement" in lines(node)[0]
    assert len(nvml.nvmlDeviceGetRetiredPages(handle, 0)) == 1
    (page,) = nvml.nvmlDeviceGetRetiredPages_v2(handle, 1)
    assert page["timestamp"] == node.epoch.unix_us(7 * SECOND) // SECOND
    assert nvml.nvmlDeviceGetRetiredPagesPendingStatus(handle) == 1
    fields = nvml.nvmlDeviceGetFieldValues(handle, [29, 30, 31])
    assert [one.value.ullVal for one in fields] == [1, 1, 1]
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetRemappedRows(handle)


def test_newer_gpus_retire_none(rig: Any) -> None:
    """Where rows are replaced, pages are not supported, by function or field."""
    nvml, handle = rig.nvml, rig.handle(0)
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetRetiredPages(handle, 1)
    assert nvml.nvmlDeviceGetFieldValues(handle, [30])[0].nvmlReturn == 3


def test_the_list_of_pages_ends(old_rig: Any) -> None:
    """The sixty-fifth cannot be retired, and the driver says so."""
    gpu: Gpu = old_rig.node.gpus[0]
    for _ in range(MOST_PAGES):
        retire(old_rig.node, gpu, SECOND, by_single_bits=False)
    assert set(codes(old_rig.node)) == {63}
    retire(old_rig.node, gpu, SECOND, by_single_bits=False)
    assert codes(old_rig.node)[-1] == 64
    assert gpu.retired_pages.count == MOST_PAGES
