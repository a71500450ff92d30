"""What is asked of NVML for one GPU every ten seconds or less often: one call a reading.

Health (ECC, remapped rows, retired pages, links, recovery action), how long clocks were held down,
and what hardly ever changes. PCIe throughput is here because each of its two calls takes 20 ms.
Numbers are those of nvml.h: an older nvidia-ml-py may not have the names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gputui.bus import bus_id
from gputui.model import MigInstance
from gputui.sources.fabric_health import fabric_health
from gputui.sources.mig import mig_instances
from gputui.sources.readings import Handle, Nvml
from gputui.sources.reasons import (
    GPU_IS_LOST,
    INVALID_ARGUMENT,
    NOT_SUPPORTED,
    OTHER_LIBRARY,
    words,
)
from gputui.sources.turns import HEALTH_S
from gputui.sources.values import MissingError, at_most, celsius, count, flag, text

Value = (
    int | bool | str | tuple[int, ...] | tuple[str, ...] | tuple[MigInstance, ...] | MissingError
)
"""A reading, or why one of several that came together is missing."""

_THROUGHPUT_S = 8.0
_LINKS_S = 30.0
_HARDLY_EVER_S = 60.0

_CORRECTED, _UNCORRECTED = 0, 1
_VOLATILE, _AGGREGATE = 0, 1
_DRAM, _SRAM = 2, 7
_MOST_LINKS = 64


@dataclass(frozen=True, slots=True)
class SlowReading:
    """One NVML call and the fields of :class:`gputui.model.GpuSample` that it fills.

    ``every_s`` is how often it is asked, in seconds.
    """

    fields: tuple[str, ...]
    ask: Callable[[Nvml, Handle], tuple[Value, ...]]
    every_s: float = HEALTH_S


# --- many readings in one call --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of nvmlDeviceGetFieldValues: its number, and how its value is checked."""

    name: str
    number: int
    check: Callable[[int], int]


_FIELDS = (
    _Field("recovery_action", 230, count),
    _Field("memory_temperature_c", 82, celsius),
    _Field("violation_sw_thermal_ns", 269, count),
    _Field("violation_hw_thermal_ns", 270, count),
    _Field("violation_power_brake_ns", 271, count),
    _Field("nvlink_replay_errors", 52, count),
    _Field("nvlink_recovery_errors", 59, count),
    _Field("nvlink_crc_errors", 38, count),
)
_CRC_DATA = 45
_UNSIGNED_LONG, _UNSIGNED_LONG_LONG = 2, 3


def _field_values(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    """Each field has a return code of its own; CRC errors are those of flits and of data."""
    numbers = [*(field.number for field in _FIELDS), _CRC_DATA]
    *answers, crc_data = nvml.nvmlDeviceGetFieldValues(handle, numbers)
    values: list[Value] = []
    for field, answer in zip(_FIELDS, answers, strict=True):
        try:
            values.append(field.check(_value_of(answer)))
        except MissingError as missing:
            values.append(missing)
    flits = values[-1]
    if type(flits) is int and not crc_data.nvmlReturn:
        values[-1] = flits + count(_value_of(crc_data))
    return tuple(values)


def _value_of(answer: Nvml) -> int:
    code = int(answer.nvmlReturn)
    if code == INVALID_ARGUMENT:
        raise MissingError(OTHER_LIBRARY)
    if code:
        raise MissingError(words(code))
    if answer.valueType in (_UNSIGNED_LONG, _UNSIGNED_LONG_LONG):
        return int(answer.value.ullVal)
    return int(answer.value.uiVal)


# --- one reading a call ---------------------------------------------------------------------------


def _ecc_total(kind: int, counter: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (count(nvml.nvmlDeviceGetTotalEccErrors(handle, kind, counter)),)


def _ecc_at(kind: int, counter: int, where: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (
        count(nvml.nvmlDeviceGetMemoryErrorCounter(handle, kind, counter, where)),
    )


def _sram_threshold(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    """Whether the chip's own memories have failed too often (nvmlEccSramErrorStatus_v1_t)."""
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(handle, nvml.byref(status))
    return (flag(status.bThresholdExceeded),)


def _remapped_rows(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    correctable, uncorrectable, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    return count(correctable), count(uncorrectable), bool(pending), bool(failed)


def _remap_banks(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    banks = nvml.nvmlDeviceGetRowRemapperHistogram(handle)
    return count(banks.low), count(banks.none)


def _retired_pages(cause: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (len(nvml.nvmlDeviceGetRetiredPages(handle, cause)),)


def _number(name: str, limit: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (at_most(limit, getattr(nvml, name)(handle)),)


def _flag(name: str) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (flag(getattr(nvml, name)(handle)),)


def _first_flag(name: str) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    """Calls that answer with the present mode and the one after the next reset."""
    return lambda nvml, handle: (flag(getattr(nvml, name)(handle)[0]),)


def _text(name: str) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (text(getattr(nvml, name)(handle)),)


def _violation(policy: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    return lambda nvml, handle: (
        count(nvml.nvmlDeviceGetViolationStatus(handle, policy).violationTime),
    )


def _nvlinks(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    """How many links there are, and which are down: NVML has no list, so each is asked."""
    down: list[int] = []
    for link in range(_MOST_LINKS):
        try:
            up = flag(nvml.nvmlDeviceGetNvLinkState(handle, link))
        except nvml.NVMLError as error:
            if link == 0 or error.value not in (INVALID_ARGUMENT, NOT_SUPPORTED):
                raise
            return link, tuple(down)
        if not up:
            down.append(link)
    return _MOST_LINKS, tuple(down)


def _nvlink_peers(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    """What is at the other end of each link, as far as the driver tells."""
    peers: list[str] = []
    for link in range(_MOST_LINKS):
        try:
            pci = nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, link)
        except nvml.NVMLError as error:
            if error.value == INVALID_ARGUMENT and link:
                break
            if error.value in (INVALID_ARGUMENT, GPU_IS_LOST):
                raise
            peers.append("")
        else:
            peers.append(bus_id(pci.domain, pci.bus, pci.device))
    if not any(peers):
        raise MissingError(words(NOT_SUPPORTED))
    return (tuple(peers),)


_COMPLETED = 3
_FABRIC_STATES = {1: "not started", 2: "in progress", _COMPLETED: "completed"}


def _fabric(nvml: Nvml, handle: Handle) -> tuple[Value, ...]:
    """How far the GPU is in joining its NVLink fabric, and how it is there."""
    info = nvml.c_nvmlGpuFabricInfo_v2_t()
    nvml.nvmlDeviceGetGpuFabricInfoV(handle, nvml.byref(info))
    if info.state not in _FABRIC_STATES:
        raise MissingError(words(NOT_SUPPORTED))
    health: Value = fabric_health(info.healthMask)
    if not health:
        health = MissingError(words(NOT_SUPPORTED))
    if info.status and info.state == _COMPLETED:
        return f"failed: {words(info.status)}", health
    return _FABRIC_STATES[info.state], health


def _throughput(counter: int) -> Callable[[Nvml, Handle], tuple[Value, ...]]:
    """Over a window of 20 ms, which is how long the call takes; NVML tells KiB a second."""
    return lambda nvml, handle: (1024 * count(nvml.nvmlDeviceGetPcieThroughput(handle, counter)),)


SLOW_READINGS = (
    SlowReading(tuple(field.name for field in _FIELDS), _field_values),
    SlowReading(
        (
            "remapped_rows_correctable",
            "remapped_rows_uncorrectable",
            "remap_pending",
            "remap_failed",
        ),
        _remapped_rows,
    ),
    SlowReading(("ecc_corrected_volatile",), _ecc_total(_CORRECTED, _VOLATILE)),
    SlowReading(("pcie_width",), _number("nvmlDeviceGetCurrPcieLinkWidth", 64)),
    SlowReading(("pcie_generation",), _number("nvmlDeviceGetCurrPcieLinkGeneration", 16)),
    SlowReading(("pcie_replays",), _number("nvmlDeviceGetPcieReplayCounter", 1 << 32)),
    SlowReading(("violation_power_ns",), _violation(0)),
    SlowReading(("violation_thermal_ns",), _violation(1)),
    SlowReading(("retired_pages_double_bit",), _retired_pages(1)),
    SlowReading(("retired_pages_pending",), _flag("nvmlDeviceGetRetiredPagesPendingStatus")),
    SlowReading(("nvlinks", "nvlinks_down"), _nvlinks, _LINKS_S),
    SlowReading(("ecc_corrected_aggregate",), _ecc_total(_CORRECTED, _AGGREGATE), _LINKS_S),
    SlowReading(("ecc_uncorrected_aggregate",), _ecc_total(_UNCORRECTED, _AGGREGATE), _LINKS_S),
    *(
        SlowReading(
            (f"ecc_{where_name}_{kind_name}_{counter_name}",),
            _ecc_at(kind, counter, where),
            _LINKS_S,
        )
        for where_name, where in (("sram", _SRAM), ("dram", _DRAM))
        for kind_name, kind in (("corrected", _CORRECTED), ("uncorrected", _UNCORRECTED))
        for counter_name, counter in (("volatile", _VOLATILE), ("aggregate", _AGGREGATE))
    ),
    SlowReading(("ecc_sram_threshold_exceeded",), _sram_threshold, _LINKS_S),
    SlowReading(("remap_banks_low", "remap_banks_none"), _remap_banks, _HARDLY_EVER_S),
    SlowReading(("retired_pages_single_bit",), _retired_pages(0), _HARDLY_EVER_S),
    SlowReading(("violation_sync_boost_ns",), _violation(2), _LINKS_S),
    SlowReading(("violation_board_limit_ns",), _violation(3), _LINKS_S),
    SlowReading(("violation_reliability_ns",), _violation(5), _LINKS_S),
    SlowReading(("nvlink_peers",), _nvlink_peers, _HARDLY_EVER_S),
    SlowReading(("fabric_state", "fabric_health"), _fabric, _LINKS_S),
    SlowReading(("pcie_width_max",), _number("nvmlDeviceGetMaxPcieLinkWidth", 64), _HARDLY_EVER_S),
    SlowReading(
        ("pcie_generation_max",),
        _number("nvmlDeviceGetMaxPcieLinkGeneration", 16),
        _HARDLY_EVER_S,
    ),
    SlowReading(("ecc_enabled",), _first_flag("nvmlDeviceGetEccMode"), _HARDLY_EVER_S),
    SlowReading(("mig_enabled",), _first_flag("nvmlDeviceGetMigMode"), _HARDLY_EVER_S),
    SlowReading(("mig_instances",), mig_instances, _LINKS_S),
    SlowReading(("persistence_enabled",), _flag("nvmlDeviceGetPersistenceMode"), _HARDLY_EVER_S),
    SlowReading(("serial",), _text("nvmlDeviceGetSerial"), _HARDLY_EVER_S),
    SlowReading(("vbios",), _text("nvmlDeviceGetVbiosVersion"), _HARDLY_EVER_S),
    SlowReading(("pcie_rx_bytes_per_s",), _throughput(1), _THROUGHPUT_S),
    SlowReading(("pcie_tx_bytes_per_s",), _throughput(0), _THROUGHPUT_S),
)
"""In the order in which a GPU that was just found is asked: throughput, which takes long, last."""
