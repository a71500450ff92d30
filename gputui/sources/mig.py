"""The MIG instances of a GPU: the parts into which it is divided (MIG User Guide; nvml.h)."""

from __future__ import annotations

import re

from gputui.model import MigInstance
from gputui.sources.readings import Handle, Nvml
from gputui.sources.reasons import INVALID_ARGUMENT, NOT_FOUND
from gputui.sources.values import text

_PROFILE = re.compile(r"\bMIG (\S+)")
_MOST_INSTANCES = 64
"""More than any GPU can have; a number beyond it is rubbish."""


def mig_instances(nvml: Nvml, handle: Handle) -> tuple[tuple[MigInstance, ...]]:
    """Those there are, by NVML's order; none while MIG is off."""
    most = min(int(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)), _MOST_INSTANCES)
    found = []
    for index in range(most):
        try:
            device = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except nvml.NVMLError as error:
            if error.value in (NOT_FOUND, INVALID_ARGUMENT):
                continue  # numbers have gaps where an instance was destroyed
            raise
        found.append(_instance(nvml, device))
    return (tuple(found),)


def _instance(nvml: Nvml, device: Handle) -> MigInstance:
    used = total = None
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(device)
        used, total = int(memory.used), int(memory.total)
    except nvml.NVMLError:
        pass  # it is there all the same
    name = _PROFILE.search(text(nvml.nvmlDeviceGetName(device)))
    return MigInstance(
        gpu_instance=int(nvml.nvmlDeviceGetGpuInstanceId(device)),
        compute_instance=int(nvml.nvmlDeviceGetComputeInstanceId(device)),
        uuid=text(nvml.nvmlDeviceGetUUID(device)),
        profile=name[1] if name else None,
        memory_used_bytes=used,
        memory_total_bytes=total,
    )
