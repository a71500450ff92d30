"""Memory errors: ECC counters and remapped rows. HBM has no retired pages: those stay N/A."""

from __future__ import annotations

from struct import Struct

from fakes.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32, uint64

_ENABLED = 1
_UNCORRECTED = 1
_AGGREGATE = 1
_DEVICE_MEMORY, _SRAM = 2, 7
_LOCATIONS = 8
_DETAILED = Struct("<4Q")
_HISTOGRAM = Struct("<5I")
_SRAM_STATUS = Struct("<I4x11QI4x")


@answers("nvmlDeviceGetEccMode")
def ecc_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether ECC is on now, and after the next reboot."""
    return uint32(_ENABLED), uint32(_ENABLED)


@answers("nvmlDeviceGetDefaultEccMode")
def default_ecc_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether ECC is on by default."""
    return uint32(_ENABLED)


@answers("nvmlDeviceGetTotalEccErrors")
def total_errors(gpu: Gpu, at_us: int, kind: int, counter: int) -> Value:
    """Errors of a kind (nvmlMemoryErrorType_t) since the driver was loaded, or over its life."""
    return uint64(sum(_errors(gpu, kind, counter)))


@answers("nvmlDeviceGetDetailedEccErrors")
def detailed_errors(gpu: Gpu, at_us: int, kind: int, counter: int) -> Value:
    """The same by place: L1, L2, device memory, register file."""
    dram, sram = _errors(gpu, kind, counter)
    return _DETAILED.pack(0, sram, dram, 0)


@answers("nvmlDeviceGetMemoryErrorCounter")
def memory_error_counter(gpu: Gpu, at_us: int, kind: int, counter: int, location: int) -> Value:
    """The same at one place (nvmlMemoryLocation_t); Hopper tells DRAM and SRAM apart, no more."""
    dram, sram = _errors(gpu, kind, counter)
    if location >= _LOCATIONS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    if location not in (_DEVICE_MEMORY, _SRAM):
        raise NvmlError(Code.NOT_SUPPORTED)
    return uint64(dram if location == _DEVICE_MEMORY else sram)


@answers("nvmlDeviceGetSramEccErrorStatus")
def sram_error_status(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Errors of the on-chip memories, by sort and by unit; too few to pass the threshold.

    Over its life: uncorrected parity, uncorrected SEC-DED and corrected ones; the same since the
    driver was loaded; then the uncorrected ones of L2, SM, PCIe, microcontrollers and others.
    """
    errors = gpu.memory_errors
    volatile, aggregate = errors.volatile_sram_uncorrected, errors.aggregate_sram_uncorrected
    by_unit = (aggregate, 0, 0, 0, 0)
    return _SRAM_STATUS.pack(words[0], 0, aggregate, 0, 0, volatile, 0, *by_unit, 0)


@answers("nvmlDeviceGetRemappedRows")
def remapped_rows(gpu: Gpu, at_us: int) -> Value:
    """Rows remapped for correctable and uncorrectable errors; whether any waits, or failed."""
    rows = gpu.remapped_rows
    return (
        uint32(rows.correctable),
        uint32(rows.uncorrectable),
        uint32(rows.pending),
        uint32(rows.failed),
    )


@answers("nvmlDeviceGetRowRemapperHistogram")
def row_remapper_histogram(gpu: Gpu, at_us: int) -> Value:
    """How many banks have all, most, some, few and no spare rows left.

    A bank that gave a row away has most of them left; each row is taken to be of another bank.
    """
    rows = gpu.remapped_rows
    banks = gpu.profile.memory.banks
    touched = min(banks, rows.correctable + rows.uncorrectable)
    return _HISTOGRAM.pack(banks - touched, touched, 0, 0, 0)


def _errors(gpu: Gpu, kind: int, counter: int) -> tuple[int, int]:
    """Errors in the frame buffer, and in the L2 cache."""
    if kind > _UNCORRECTED or counter > _AGGREGATE:
        raise NvmlError(Code.INVALID_ARGUMENT)
    errors = gpu.memory_errors
    if kind != _UNCORRECTED:
        dram = errors.aggregate_corrected if counter == _AGGREGATE else errors.volatile_corrected
        return dram, 0
    if counter == _AGGREGATE:
        return errors.aggregate_uncorrected, errors.aggregate_sram_uncorrected
    return errors.volatile_uncorrected, errors.volatile_sram_uncorrected
