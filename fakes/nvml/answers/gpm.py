"""GPU performance monitoring: what a GPU did between two samples of its counters.

Percentages are the mean of both moments, NVLink traffic the difference of two counters. Hopper has
it, and what came later (nvml.h); before, samples cannot be taken.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from fakes.hardware.gpm import Counters, Sample
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require, uint64

_HOPPER = 9
_SUPPORT = Struct("<II")
_HEAD = Struct("<IIQQ")
_METRIC = Struct("<IId24s")
_METRIC_LIMIT = 477  # NVML_GPM_METRIC_MAX
_KIB_PER_MIB = 1024

_SHARES = {
    1: 1.0,  # graphics: any work at all
    2: 0.95,  # SMs busy
    3: 0.25,  # occupancy
    4: 0.15,  # integer
    5: 0.40,  # any tensor
    6: 0.0,  # DFMA tensor
    7: 0.40,  # HMMA tensor
    8: 0.0,  # DMMA tensor
    9: 0.0,  # IMMA tensor
    11: 0.0,  # FP64
    12: 0.10,  # FP32
    13: 0.10,  # FP16
}
"""Parts of the utilization that a training job in half precision spends on each: an estimate."""

_DRAM_BANDWIDTH = 10
_PCIE_SENT, _PCIE_RECEIVED = 20, 21
_VIDEO_ENGINES = {*range(30, 38), *range(40, 48), 50, 51}
_NVLINK_RECEIVED, _NVLINK_SENT, _FIRST_LINK = 60, 61, 62
_OLD_LINKS = 18  # those of later GPUs have numbers of their own

_Metric = Callable[[Counters, Counters], float]


@answers("nvmlGpmQueryDeviceSupport")
def support(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Whether samples can be taken."""
    return _SUPPORT.pack(words[0], _is_capable(gpu))


@answers("nvmlGpmSampleAlloc", client=True, changes=True)
def allocate(node: Node, at_us: int, client: int) -> Value:
    """An empty sample."""
    handle = node.gpm_samples.make(client)
    if handle is None:
        raise NvmlError(Code.MEMORY)
    return uint64(handle)


@answers("nvmlGpmSampleFree", client=True, changes=True)
def free(node: Node, at_us: int, client: int, handle: int) -> Value:
    """Give a sample up."""
    _find(node, handle)
    node.gpm_samples.free(handle, client)
    return ()


@answers("nvmlGpmSampleGet", node=True, changes=True)
def sample(gpu: Gpu, node: Node, at_us: int, handle: int) -> Value:
    """Fill a sample with the counters of a GPU as they are."""
    require(_is_capable(gpu))
    _find(node, handle).counters = Counters.of(gpu, at_us)
    return ()


@answers("nvmlGpmMetricsGet")
def metrics(node: Node, at_us: int, asked: bytes) -> Value:
    """Metrics between two filled samples of one GPU, each with a return code of its own.

    Their names and units stay NULL: they are strings of a library's, which an answer cannot have.
    """
    version, count, first, second = _HEAD.unpack_from(asked)
    earlier, later = _find(node, first).counters, _find(node, second).counters
    if earlier is None or later is None or earlier.gpu != later.gpu:
        raise NvmlError(Code.INVALID_ARGUMENT)
    records = []
    for at in range(_HEAD.size, _HEAD.size + count * _METRIC.size, _METRIC.size):
        number = _METRIC.unpack_from(asked, at)[0]
        metric = _metric(number, node.gpus[later.gpu])
        code = Code.SUCCESS if metric else Code.NOT_SUPPORTED
        if not 0 < number < _METRIC_LIMIT:
            code = Code.INVALID_ARGUMENT
        value = metric(earlier, later) if metric else 0.0
        records.append(_METRIC.pack(number, code, value, bytes(24)))
    return _HEAD.pack(version, count, first, second) + b"".join(records)


def _metric(number: int, gpu: Gpu) -> _Metric | None:
    """How a metric (nvmlGpmMetricId_t) is reckoned; None where this GPU has none of that number."""
    links = gpu.profile.nvlink.links
    if number in _SHARES:
        return lambda earlier, later: _SHARES[number] * _utilization(earlier, later)
    if number in _VIDEO_ENGINES:
        return lambda earlier, later: 0.0
    if number == _DRAM_BANDWIDTH:
        return lambda a, b: (a.memory_utilization_percent + b.memory_utilization_percent) / 2
    if number == _PCIE_SENT:
        return lambda a, b: _mib(a.pcie_sent_kib_per_s + b.pcie_sent_kib_per_s) / 2
    if number == _PCIE_RECEIVED:
        return lambda a, b: _mib(a.pcie_received_kib_per_s + b.pcie_received_kib_per_s) / 2
    if number == _NVLINK_RECEIVED and links:
        return lambda earlier, later: links * _received(earlier, later)
    if number == _NVLINK_SENT and links:
        return lambda earlier, later: links * _sent(earlier, later)
    if _FIRST_LINK <= number < _FIRST_LINK + 2 * min(links, _OLD_LINKS):
        return _sent if (number - _FIRST_LINK) % 2 else _received
    return None


def _is_capable(gpu: Gpu) -> bool:
    return gpu.profile.architecture >= _HOPPER


def _find(node: Node, handle: int) -> Sample:
    found = node.gpm_samples.find(handle)
    if found is None:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return found


def _utilization(earlier: Counters, later: Counters) -> float:
    """Percent."""
    return (earlier.utilization_percent + later.utilization_percent) / 2


def _received(earlier: Counters, later: Counters) -> float:
    """MiB a second over one NVLink."""
    return _rate(later.nvlink_received_kib - earlier.nvlink_received_kib, earlier, later)


def _sent(earlier: Counters, later: Counters) -> float:
    """MiB a second over one NVLink."""
    return _rate(later.nvlink_sent_kib - earlier.nvlink_sent_kib, earlier, later)


def _rate(kib: int, earlier: Counters, later: Counters) -> float:
    lasted_us = later.at_us - earlier.at_us
    return _mib(kib) * 1e6 / lasted_us if lasted_us else 0.0


def _mib(kib: float) -> float:
    return kib / _KIB_PER_MIB
