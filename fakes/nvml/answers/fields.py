"""Field values: many readings in one call, each with its own return code.

A field's id says what it is, its scope which link, lane or module. Ids and the types of their
values are NVML_FI_* of nvml.h; an id without a row here is one that this GPU does not support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

from fakes.hardware.ecc import RemappedRows, RetiredPages
from fakes.hardware.gpu import Gpu
from fakes.hardware.links import Nvlink, far_end
from fakes.hardware.pcie import AerError
from fakes.hardware.thermal import Limit
from fakes.node import Node
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require

_RECORD = Struct("<IIqqII8s")
_ASKED = Struct("<II32x")

_DOUBLE = (0, Struct("<d").pack)
_UNSIGNED = (1, Struct("<I4x").pack)
_UNSIGNED_LONG_LONG = (3, Struct("<Q").pack)
_SIGNED = (5, Struct("<i4x").pack)
_Type = tuple[int, Callable[..., bytes]]

Reading = Callable[[Gpu, int, int], float]
"""A field's value, from the GPU, the moment and the scope."""

_RECOVERY_ACTION = 230
_GPU_RESET = 1
_REMOTE_LINK = 146
_SCOPE_GPU = 0


def _fixed(value: int) -> Reading:
    return lambda gpu, at_us, scope: value


def _limited(*limits: Limit) -> Reading:
    """Nanoseconds for which ``limits`` kept clocks down."""
    return lambda gpu, at_us, scope: 1000 * sum(gpu.limited_us(each, at_us) for each in limits)


def _of_gpu(reading: Callable[[Gpu, int], int]) -> Reading:
    """A power reading, of the GPU alone: there is no module round it."""

    def read(gpu: Gpu, at_us: int, scope: int) -> int:
        if scope != _SCOPE_GPU:
            raise NvmlError(Code.NOT_SUPPORTED)
        return reading(gpu, at_us)

    return read


def _of_link(reading: Callable[[Gpu, int], int]) -> Reading:
    """A reading of the link that the scope names."""

    def read(gpu: Gpu, at_us: int, scope: int) -> int:
        if not gpu.profile.nvlink.links:
            raise NvmlError(Code.NOT_SUPPORTED)
        if scope >= gpu.profile.nvlink.links:
            raise NvmlError(Code.INVALID_ARGUMENT)
        return reading(gpu, at_us)

    return read


_ALL_LINKS = 0xFFFFFFFF


def _of_links(reading: Callable[[Gpu, int], int]) -> Reading:
    """A counter of the link that the scope names, or of all together."""
    of_one = _of_link(reading)

    def read(gpu: Gpu, at_us: int, scope: int) -> float:
        if scope == _ALL_LINKS:
            return gpu.profile.nvlink.links * of_one(gpu, at_us, 0)
        return of_one(gpu, at_us, scope)

    return read


_ECC: dict[int, tuple[_Type, Reading]] = {
    1: (_UNSIGNED, lambda gpu, at_us, _: gpu.settings.ecc),
    2: (_UNSIGNED, lambda gpu, at_us, _: gpu.settings.ecc_pending),
    3: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.corrected(at_us)),
    4: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.all_volatile_uncorrected),
    5: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: _corrected_for_life(gpu, at_us)),
    6: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.all_aggregate_uncorrected),
    11: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.corrected(at_us)),
    12: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.volatile_uncorrected),
    22: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: _corrected_for_life(gpu, at_us)),
    23: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.memory_errors.aggregate_uncorrected),
    29: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: len(_pages(gpu).single_bit_us)),
    30: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: len(_pages(gpu).double_bit_us)),
    31: (_UNSIGNED, lambda gpu, at_us, _: _pages(gpu).pending),
    142: (_UNSIGNED, lambda gpu, at_us, _: _rows(gpu).correctable),
    143: (_UNSIGNED, lambda gpu, at_us, _: _rows(gpu).uncorrectable),
    144: (_UNSIGNED, lambda gpu, at_us, _: _rows(gpu).pending),
    145: (_UNSIGNED, lambda gpu, at_us, _: _rows(gpu).failed),
}

_HEAT: dict[int, tuple[_Type, Reading]] = {
    82: (_UNSIGNED, lambda gpu, at_us, _: _memory_temperature(gpu, at_us)),
    193: (_SIGNED, lambda gpu, at_us, _: _margin(gpu, gpu.profile.thermal.shutdown_c)),
    194: (_SIGNED, lambda gpu, at_us, _: _margin(gpu, gpu.profile.thermal.slowdown_c)),
    195: (_SIGNED, lambda gpu, at_us, _: _memory_margin(gpu)),
    196: (_SIGNED, lambda gpu, at_us, _: _margin(gpu, gpu.profile.thermal.max_operating_c)),
    308: (_DOUBLE, lambda gpu, at_us, _: gpu.true_temperature_c(at_us)),
}

_POWER: dict[int, tuple[_Type, Reading]] = {
    83: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.energy_mj(at_us)),
    185: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.power_mw(at_us))),
    186: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.instant_power_mw(at_us))),
    187: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.profile.power.limit_min_mw)),
    188: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.profile.power.limit_max_mw)),
    189: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.profile.power.limit_mw)),
    190: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.power_limit_mw)),
    191: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: gpu.energy_mj(at_us)),
    192: (_UNSIGNED, _of_gpu(lambda gpu, at_us: gpu.power_limit_mw)),
}

_CLOCKS_KEPT_DOWN: dict[int, tuple[_Type, Reading]] = {
    74: (_UNSIGNED_LONG_LONG, _limited(Limit.POWER)),
    75: (_UNSIGNED_LONG_LONG, _limited(Limit.HEAT, Limit.HARDWARE_HEAT)),
    **dict.fromkeys(range(76, 80), (_UNSIGNED_LONG_LONG, _fixed(0))),
    80: (
        _UNSIGNED_LONG_LONG,
        _limited(Limit.POWER, Limit.BRAKE, Limit.HEAT, Limit.HARDWARE_HEAT),
    ),
    81: (_UNSIGNED_LONG_LONG, _limited(Limit.HARDWARE_HEAT)),
    269: (_UNSIGNED_LONG_LONG, _limited(Limit.HEAT)),
    270: (_UNSIGNED_LONG_LONG, _limited(Limit.HARDWARE_HEAT)),
    271: (_UNSIGNED_LONG_LONG, lambda gpu, at_us, _: 1000 * gpu.braked_us(at_us)),
}


def _total(read: Callable[[Nvlink], int]) -> Reading:
    """A count over all links."""
    return lambda gpu, at_us, scope: sum(read(link) for link in gpu.nvlinks)


def _of_end(read: Callable[[Nvlink], int]) -> Reading:
    """A reading of the GPU's end of the link that the scope names."""

    def of_one(gpu: Gpu, at_us: int, scope: int) -> int:
        require(gpu.profile.nvlink.links)
        if scope >= len(gpu.nvlinks):
            raise NvmlError(Code.INVALID_ARGUMENT)
        return read(gpu.nvlinks[scope])

    return of_one


_LINKS: dict[int, tuple[_Type, Reading]] = {
    **dict.fromkeys((38, 160), (_UNSIGNED_LONG_LONG, _fixed(0))),
    45: (_UNSIGNED_LONG_LONG, _total(lambda link: link.crc)),
    52: (_UNSIGNED_LONG_LONG, _total(lambda link: link.replays)),
    59: (_UNSIGNED_LONG_LONG, _total(lambda link: link.recoveries)),
    90: (_UNSIGNED, lambda gpu, at_us, _: gpu.profile.nvlink.mb_per_s),
    91: (_UNSIGNED, lambda gpu, at_us, _: gpu.profile.nvlink.links),
    94: (_UNSIGNED, lambda gpu, at_us, _: gpu.pcie.replays),
    95: (_UNSIGNED, _fixed(0)),
    138: (_UNSIGNED_LONG_LONG, _of_links(lambda gpu, at_us: gpu.nvlink_kib(at_us, received=False))),
    139: (_UNSIGNED_LONG_LONG, _of_links(lambda gpu, at_us: gpu.nvlink_kib(at_us, received=True))),
    140: (_UNSIGNED_LONG_LONG, _of_links(lambda gpu, at_us: _raw(gpu, at_us, received=False))),
    141: (_UNSIGNED_LONG_LONG, _of_links(lambda gpu, at_us: _raw(gpu, at_us, received=True))),
    161: (_UNSIGNED_LONG_LONG, _of_end(lambda link: link.replays)),
    162: (_UNSIGNED_LONG_LONG, _of_end(lambda link: link.recoveries)),
    163: (_UNSIGNED_LONG_LONG, _of_end(lambda link: link.crc)),
    164: (_UNSIGNED, _of_link(lambda gpu, at_us: gpu.profile.nvlink.mb_per_s)),
    165: (_UNSIGNED, _of_end(lambda link: link.up)),
    166: (_UNSIGNED, _of_link(lambda gpu, at_us: gpu.profile.nvlink.version)),
    170: (_UNSIGNED, _fixed(0)),
    **dict.fromkeys(range(174, 184), (_UNSIGNED, _fixed(0))),
    173: (_UNSIGNED, lambda gpu, at_us, _: gpu.pcie.errors[AerError.CORRECTED]),
    179: (_UNSIGNED, lambda gpu, at_us, _: gpu.pcie.errors[AerError.NONFATAL]),
    180: (_UNSIGNED, lambda gpu, at_us, _: gpu.pcie.errors[AerError.FATAL]),
    _RECOVERY_ACTION: (
        _UNSIGNED,
        lambda gpu, at_us, _: _GPU_RESET if gpu.reset_required else gpu.recovery_action,
    ),
}

_KEPT = frozenset((*_ECC, _RECOVERY_ACTION))
"""What the driver keeps by itself: operators are told to read it before they reset a GPU."""
_FIELDS = {**_ECC, **_HEAT, **_POWER, **_CLOCKS_KEPT_DOWN, **_LINKS}


@answers("nvmlDeviceGetFieldValues", node=True, reach=Reach.DRIVER)
def field_values(gpu: Gpu, node: Node, at_us: int, asked: bytes) -> Value:
    """Each record's value, type, return code and time stamp (microseconds since 1970).

    A GPU that waits for its reset says so in every field but the recovery action, and those of
    memory errors.
    """
    stamp_us = node.epoch.unix_us(at_us)
    return b"".join(_records(gpu, node, at_us, stamp_us, asked))


def _records(gpu: Gpu, node: Node, at_us: int, stamp_us: int, asked: bytes) -> Iterator[bytes]:
    for field, scope in _ASKED.iter_unpack(asked):
        kind, value = 0, bytes(8)
        code = Code.SUCCESS
        try:
            kind, value = _read(gpu, node, at_us, field, scope)
        except NvmlError as error:
            code = error.code
        yield _RECORD.pack(field, scope, stamp_us, 0, kind, code, value)


def _read(gpu: Gpu, node: Node, at_us: int, field: int, scope: int) -> tuple[int, bytes]:
    if gpu.reset_required and field not in _KEPT:
        raise NvmlError(Code.RESET_REQUIRED)
    if field == _REMOTE_LINK:
        kind, pack = _UNSIGNED
        return kind, pack(_remote_link(gpu, node, scope))
    if field not in _FIELDS:
        raise NvmlError(Code.NOT_SUPPORTED)
    (kind, pack), reading = _FIELDS[field]
    return kind, pack(reading(gpu, at_us, scope))


def _remote_link(gpu: Gpu, node: Node, link: int) -> int:
    """The number that a link has at its other end."""
    require(gpu.profile.nvlink.links)
    if link >= len(gpu.nvlinks):
        raise NvmlError(Code.INVALID_ARGUMENT)
    return far_end(node, gpu, link).number


def _corrected_for_life(gpu: Gpu, at_us: int) -> int:
    return gpu.memory_errors.corrected(at_us, aggregate=True)


def _rows(gpu: Gpu) -> RemappedRows:
    require(gpu.profile.remaps_rows)
    return gpu.remapped_rows


def _pages(gpu: Gpu) -> RetiredPages:
    require(not gpu.profile.remaps_rows)
    return gpu.retired_pages


def _memory_temperature(gpu: Gpu, at_us: int) -> int:
    require(gpu.profile.can.memory_sensor)
    return gpu.memory_temperature_c(at_us)


def _margin(gpu: Gpu, limit_c: int) -> int:
    """A limit as the margin ("T.Limit") that is left when the GPU is that hot."""
    require(gpu.profile.can.thermal_margins)
    return gpu.profile.thermal.max_operating_c - limit_c


def _memory_margin(gpu: Gpu) -> int:
    require(gpu.profile.can.memory_sensor)
    return _margin(gpu, gpu.profile.thermal.max_operating_c)


def _raw(gpu: Gpu, at_us: int, *, received: bool) -> int:
    """Data and what the protocol adds: a header's 16 bytes to a packet's 256."""
    return gpu.nvlink_kib(at_us, received=received) * 17 // 16
