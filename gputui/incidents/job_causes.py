"""What may be the cause of a job's trouble: something wrong with its GPUs, its node, its network.

A job's dying words come from every rank and in many words; where a GPU of it fell off the bus in
the same minute, that is the incident, and the words hang under it.
"""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.incidents.rule import Cause, Subject

WITHIN_S = 120.0
"""A failure shows in the job's log when the next call, or a time-out of its own, fails."""

_OF_GPU = (
    "GpuLost", "GpuMissing", "GpuHung", "EccUncorrectable", "RowRemapFailure", "GpuThermalShutdown",
    "GpuResetRequired", "NvlinkDown", "NvlinkErrors", "ContainerLostGpu", "GpuOutOfMemory",
    "GpuMemoryHeld", "GpuMemoryPressure", "PcieErrors", "GpuXid",
)  # fmt: skip
"""From what is the likeliest cause down; an Xid may be the job's own fault."""

_OF_NODE = (
    "NodeDown", "NodeRebooted", "DriverNotLoaded", "DriverMismatch", "CudaVersionMismatch",
    "NvswitchError", "FabricNotReady", "ContainerLostGpu", "GpuHung", "GpuMissing", "StorageStall",
)  # fmt: skip

_OF_NIC = ("NicDown", "IbLinkDegraded")

_OF_JOB = ("GpuXid", "GpuOutOfMemory", "NcclInitFailed", "NcclTimeout", "SlowCollective")


def causes_for_job(job: str, past: History, *, within_s: float = WITHIN_S) -> tuple[Cause, ...]:
    """The possible causes of what a job says of itself, the likeliest first.

    For ``under`` of findings whose subject is the job; what it says of itself with more precision
    (a time-out of NCCL's) comes after what is wrong with what it runs on.
    """
    gpus = [Subject.of_gpu(gpu).name for gpu in past.gpus_of_job(job)]
    causes = [Cause(kind, on=gpu, within_s=within_s) for kind in _OF_GPU for gpu in gpus]
    if past.samples:
        sample = past.samples[-1]
        node = Subject.of_node(sample.host).name
        causes += [Cause(kind, on=node, within_s=within_s) for kind in _OF_NODE]
        nics = [Subject.of_nic(link.name).name for link in sample.links]
        causes += [Cause(kind, on=nic, within_s=within_s) for kind in _OF_NIC for nic in nics]
    causes += [Cause(kind, within_s=within_s) for kind in _OF_JOB]
    return tuple(causes)
