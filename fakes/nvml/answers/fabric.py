"""The NVLink fabric: whether the GPU has been registered with it by the fabric manager."""

from __future__ import annotations

from struct import Struct

from fakes.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.values import require

_CLUSTER = bytes(16)
_SUCCESS = 0
_CLIQUE = 0
_COMPLETED = 3
_NO_HEALTH_MASK = 0
_NO_SUMMARY = 0
_V1 = Struct("<16sIIB3x")
_V2 = Struct("<I16sIIB3xI")
_V3 = Struct("<I16sIIB3xIB3x")
_V2_WORD = 0x2000024


@answers("nvmlDeviceGetGpuFabricInfo")
def fabric_info(gpu: Gpu, at_us: int) -> Value:
    """Cluster, status, clique and state: registration is complete (captures)."""
    require(gpu.profile.can.fabric)
    return _V1.pack(_CLUSTER, _SUCCESS, _CLIQUE, _COMPLETED)


@answers("nvmlDeviceGetGpuFabricInfoV")
def fabric_info_v(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """The same with health, of which Hopper says nothing: empty mask, no summary."""
    require(gpu.profile.can.fabric)
    version = words[0]
    facts = (version, _CLUSTER, _SUCCESS, _CLIQUE, _COMPLETED, _NO_HEALTH_MASK)
    return _V2.pack(*facts) if version == _V2_WORD else _V3.pack(*facts, _NO_SUMMARY)
