"""What may be the cause of a job's trouble: something wrong with its GPUs, its node, its network.

A job's dying words come from every rank and in many words; where a GPU of it fell off the bus in
the same minute, that is the incident, and the words hang under it.
"""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.incidents.rule import ANYBODY, CRITICAL, Cause, Subject

WITHIN_S = 120.0
"""A failure shows in the job's log when the next call, or a time-out of its own, fails."""

_OF_GPU = (
    "GpuLost", "GpuMissing", "GpuHung", "EccUncorrectable", "RowRemapFailure", "GpuThermalShutdown",
    "GpuResetRequired", "NvlinkDown", "NvlinkErrors", "ContainerLostGpu", "GpuOutOfMemory",
    "GpuMemoryHeld", "GpuMemoryPressure", "PcieErrors", "GpuXid",
)  # fmt: skip
"""From what is the likeliest cause down; an Xid may be the job's own fault."""

_OF_ANY_GPU = (
    "GpuLost", "GpuMissing", "GpuHung", "EccUncorrectable", "RowRemapFailure", "GpuThermalShutdown",
    "GpuResetRequired", "NvlinkDown",
)  # fmt: skip
"""What ends a job, and is never a job's own fault."""

_OF_NODE = (
    "NodeDown", "NodeRebooted", "DriverNotLoaded", "DriverMismatch", "CudaVersionMismatch",
    "NvswitchError", "FabricNotReady", "ContainerLostGpu", "GpuHung", "GpuMissing", "StorageStall",
)  # fmt: skip

_LAST = ("StorageStall",)
"""What the kernel tells once, and holds until it is told to be over."""

_OF_NIC = ("NicDown", "IbLinkDegraded")

HOST_MEMORY = "host-memory"
"""The key of a job's failure for want of host memory, as the kernel told it."""

_OF_JOB = ("GpuXid", "GpuOutOfMemory", "NcclInitFailed", "NcclTimeout", "SlowCollective")


def causes_for_job(
    job: str, past: History, *, event_s: float, within_s: float = WITHIN_S
) -> tuple[Cause, ...]:
    """The possible causes of what a job says of itself at a time, the likeliest first.

    For ``under`` of findings whose subject is the job; what it says of itself with more precision
    (a time-out of NCCL's) comes after what is wrong with what it runs on.
    """
    gpus = [Subject.of_gpu(gpu).name for gpu in past.gpus_of_job(job)]
    own = Subject.of_job(job).name
    causes = [Cause(kind, on=gpu, within_s=within_s) for kind in _OF_GPU for gpu in gpus]
    if not gpus:
        causes += _of_unknown_gpus(job, event_s, past)
    nodes = []
    if past.samples:
        sample = past.samples[-1]
        node = Subject.of_node(sample.host).name
        causes += [
            Cause(kind, on=node, within_s=None if kind in _LAST else within_s) for kind in _OF_NODE
        ]
        nodes.append(node)
        nics = [Subject.of_nic(link.name).name for link in sample.links]
        causes += [Cause(kind, on=nic, within_s=within_s) for kind in _OF_NIC for nic in nics]
    causes += [Cause("JobFailed", HOST_MEMORY, name, within_s) for name in (own, *nodes)]
    causes += [Cause(kind, within_s=within_s) for kind in _OF_JOB]
    return tuple(causes)


def _of_unknown_gpus(job: str, event_s: float, past: History) -> list[Cause]:
    """What may be wrong with the GPUs of a job, where nobody knows which these are: its processes
    had ended before anybody looked. Those on which other jobs are seen are not its own.

    What was so at the first look began at nobody knows what time before.
    """
    sample = past.samples[-1] if past.samples else None
    gpus = () if sample is None else sample.gpus
    others = past.gpus_of_others(job)
    whom = [Subject.of_gpu(gpu).name for gpu in gpus if gpu.index not in others]
    before_all = sample is not None and event_s < past.samples[0].time_s
    within_s = None if before_all else WITHIN_S
    return [
        Cause(kind, on=name, within_s=within_s, at_least=CRITICAL, anew=True)
        for kind in _OF_ANY_GPU
        for name in (whom if gpus else (ANYBODY,))
    ]
