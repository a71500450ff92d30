"""The NVLink fabric: whether the GPU has been registered with it by the fabric manager."""

from __future__ import annotations

from struct import Struct

from fakes.hardware.fabric import FabricState, FabricTrouble
from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.values import require

_CLUSTER = bytes(16)
_CLIQUE = 0
_V1 = Struct("<16sIIB3x")
_V2 = Struct("<I16sIIB3xI")
_V3 = Struct("<I16sIIB3xIB3x")
_V2_WORD = 0x2000024

_STATES = {FabricState.NOT_STARTED: 1, FabricState.IN_PROGRESS: 2, FabricState.COMPLETED: 3}
_SHIFTS = {
    FabricTrouble.DEGRADED_BANDWIDTH: 0,
    FabricTrouble.ROUTE_RECOVERY: 2,
    FabricTrouble.ROUTE_UNHEALTHY: 4,
    FabricTrouble.ACCESS_TIMEOUT: 6,
}
"""Where in the health mask each trouble has its two bits: 1 is yes, 2 is no."""

_YES, _NO = 1, 2
_CONFIGURATION_SHIFT, _RIGHT, _TOO_FEW_LINKS = 8, 1, 5
_NOTHING_SAID, _UNHEALTHY = 0, 2


@answers("nvmlDeviceGetGpuFabricInfo")
def fabric_info(gpu: Gpu, at_us: int) -> Value:
    """Cluster, status, clique and state (captures: registration is complete)."""
    require(gpu.profile.can.fabric)
    return _V1.pack(_CLUSTER, gpu.fabric.status, _CLIQUE, _STATES[gpu.fabric.state])


@answers("nvmlDeviceGetGpuFabricInfoV")
def fabric_info_v(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """The same with health: of a healthy one Hopper says nothing, an empty mask and no summary."""
    require(gpu.profile.can.fabric)
    version, fabric = words[0], gpu.fabric
    mask = _health_mask(fabric.trouble) if fabric.trouble else _NOTHING_SAID
    facts = (version, _CLUSTER, fabric.status, _CLIQUE, _STATES[fabric.state], mask)
    if version == _V2_WORD:
        return _V2.pack(*facts)
    return _V3.pack(*facts, _UNHEALTHY if fabric.trouble else _NOTHING_SAID)


def _health_mask(trouble: FabricTrouble) -> int:
    """The mask of a GPU with one trouble, and without the others."""
    mask = sum((_YES if each is trouble else _NO) << shift for each, shift in _SHIFTS.items())
    wrong = trouble is FabricTrouble.INCORRECT_CONFIGURATION
    return mask | (_TOO_FEW_LINKS if wrong else _RIGHT) << _CONFIGURATION_SHIFT
