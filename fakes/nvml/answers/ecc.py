"""Memory errors: ECC counters and remapped rows, or retired pages on GPUs before Ampere."""

from __future__ import annotations

from struct import Struct

from fakes.actions import Action, Effect
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require, uint32, uint64

_ENABLED = 1
_UNCORRECTED = 1
_AGGREGATE = 1
_DEVICE_MEMORY, _SRAM = 2, 7
_LOCATIONS = 8
_BY_SINGLE_BITS, _BY_DOUBLE_BIT = 0, 1
_FIRST_PAGE, _PAGE_BYTES = 0x1000, 1 << 16
_DETAILED = Struct("<4Q")
_HISTOGRAM = Struct("<5I")
_SRAM_STATUS = Struct("<I4x11QI4x")


@answers("nvmlDeviceGetEccMode", reach=Reach.DRIVER)
def ecc_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether ECC is on now, and after the next reset."""
    return uint32(gpu.settings.ecc), uint32(gpu.settings.ecc_pending)


@answers("nvmlDeviceGetDefaultEccMode")
def default_ecc_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether ECC is on by default."""
    return uint32(_ENABLED)


@answers("nvmlDeviceGetTotalEccErrors", reach=Reach.DRIVER)
def total_errors(gpu: Gpu, at_us: int, kind: int, counter: int) -> Value:
    """Errors of a kind (nvmlMemoryErrorType_t) since the driver was loaded, or over its life."""
    return uint64(sum(_errors(gpu, at_us, kind, counter)))


@answers("nvmlDeviceGetDetailedEccErrors", reach=Reach.DRIVER)
def detailed_errors(gpu: Gpu, at_us: int, kind: int, counter: int) -> Value:
    """The same by place: L1, L2, device memory, register file."""
    dram, sram = _errors(gpu, at_us, kind, counter)
    return _DETAILED.pack(0, sram, dram, 0)


@answers("nvmlDeviceGetMemoryErrorCounter", reach=Reach.DRIVER)
def memory_error_counter(gpu: Gpu, at_us: int, kind: int, counter: int, location: int) -> Value:
    """The same at one place (nvmlMemoryLocation_t); Hopper tells DRAM and SRAM apart, no more."""
    dram, sram = _errors(gpu, at_us, kind, counter)
    if location >= _LOCATIONS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    if location not in (_DEVICE_MEMORY, _SRAM):
        raise NvmlError(Code.NOT_SUPPORTED)
    return uint64(dram if location == _DEVICE_MEMORY else sram)


@answers("nvmlDeviceGetSramEccErrorStatus", reach=Reach.DRIVER)
def sram_error_status(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Errors of the on-chip memories, by sort and by unit, and whether there were too many.

    Over its life: uncorrected parity, uncorrected SEC-DED and corrected ones; the same since the
    driver was loaded; then the uncorrected ones of L2, SM, PCIe, microcontrollers and others.
    """
    errors = gpu.memory_errors
    volatile, aggregate = errors.volatile_sram_uncorrected, errors.aggregate_sram_uncorrected
    by_unit = (aggregate, 0, 0, 0, 0)
    exceeded = errors.sram_threshold_exceeded
    return _SRAM_STATUS.pack(words[0], 0, aggregate, 0, 0, volatile, 0, *by_unit, exceeded)


@answers("nvmlDeviceClearEccErrorCounts", node=True, changes=True)
def clear_error_counts(gpu: Gpu, node: Node, at_us: int, counter: int) -> Value:
    """Set one sort of counters to zero."""
    if counter > _AGGREGATE:
        raise NvmlError(Code.INVALID_ARGUMENT)
    gpu.memory_errors = gpu.memory_errors.forgotten(at_us, aggregate=counter == _AGGREGATE)
    node.actions.note(Action(at_us, Effect.CLEAR_COUNTERS, node.name, gpu.index))
    return ()


@answers("nvmlDeviceGetRemappedRows", reach=Reach.DRIVER)
def remapped_rows(gpu: Gpu, at_us: int) -> Value:
    """Rows remapped for correctable and uncorrectable errors; whether any waits, or failed."""
    require(gpu.profile.remaps_rows)
    rows = gpu.remapped_rows
    return (
        uint32(rows.correctable),
        uint32(rows.uncorrectable),
        uint32(rows.pending),
        uint32(rows.failed),
    )


@answers("nvmlDeviceGetRowRemapperHistogram", reach=Reach.DRIVER)
def row_remapper_histogram(gpu: Gpu, at_us: int) -> Value:
    """How many banks have all, most, some, few and no spare rows left."""
    require(gpu.profile.remaps_rows)
    return _HISTOGRAM.pack(*gpu.remapped_rows.histogram(gpu.profile.memory.banks))


@answers("nvmlDeviceGetRetiredPages", reach=Reach.DRIVER)
def retired_pages(gpu: Gpu, at_us: int, cause: int) -> Value:
    """The addresses of the pages retired for a cause (nvmlPageRetirementCause_t)."""
    return b"".join(map(uint64, _addresses(_retired_us(gpu, cause))))


@answers("nvmlDeviceGetRetiredPages_v2", node=True, reach=Reach.DRIVER)
def retired_pages_v2(gpu: Gpu, node: Node, at_us: int, cause: int) -> Value:
    """The same, and when each was retired (seconds since 1970)."""
    retired_us = _retired_us(gpu, cause)
    stamps = (node.epoch.unix_us(each) // 1_000_000 for each in retired_us)
    return b"".join(map(uint64, _addresses(retired_us))), b"".join(map(uint64, stamps))


@answers("nvmlDeviceGetRetiredPagesPendingStatus", reach=Reach.DRIVER)
def retired_pages_pending(gpu: Gpu, at_us: int) -> Value:
    """Whether a page waits for the driver to be loaded anew."""
    require(not gpu.profile.remaps_rows)
    return uint32(gpu.retired_pages.pending)


def _retired_us(gpu: Gpu, cause: int) -> tuple[int, ...]:
    if cause not in (_BY_SINGLE_BITS, _BY_DOUBLE_BIT):
        raise NvmlError(Code.INVALID_ARGUMENT)
    require(not gpu.profile.remaps_rows)
    pages = gpu.retired_pages
    return pages.double_bit_us if cause == _BY_DOUBLE_BIT else pages.single_bit_us


def _addresses(pages: tuple[int, ...]) -> range:
    """An address for each page: the driver tells page numbers, nothing follows from which."""
    return range(_FIRST_PAGE, _FIRST_PAGE + len(pages) * _PAGE_BYTES, _PAGE_BYTES)


def _errors(gpu: Gpu, at_us: int, kind: int, counter: int) -> tuple[int, int]:
    """Errors in the frame buffer, and in the L2 cache."""
    if kind > _UNCORRECTED or counter > _AGGREGATE:
        raise NvmlError(Code.INVALID_ARGUMENT)
    errors = gpu.memory_errors
    if kind != _UNCORRECTED:
        return errors.corrected(at_us, aggregate=counter == _AGGREGATE), 0
    if counter == _AGGREGATE:
        return errors.aggregate_uncorrected, errors.aggregate_sram_uncorrected
    return errors.volatile_uncorrected, errors.volatile_sram_uncorrected
