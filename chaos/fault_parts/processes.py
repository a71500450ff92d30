"""Which of the processes on a GPU a fault means."""

from __future__ import annotations

from chaos.fault import FaultError
from chaos.selection import JobId
from fakes.hardware.gpu import Gpu
from fakes.jobs.process import Process
from fakes.world import World


def find_process(world: World, gpu: Gpu, *, pid: int | None, job: JobId | None) -> Process:
    """The process ``pid`` on a GPU, or that of ``job``, or the one that holds the most memory.

    Raises :class:`FaultError` where there is none.
    """
    candidates = [
        process
        for process in world.node_of(gpu).processes_on(gpu)
        if pid in (None, process.pid) and (job is None or process.spec.job == job.text)
    ]
    if not candidates:
        wanted = f"process {pid}" if pid is not None else "process"
        wanted += f" of job '{job}'" if job else ""
        raise FaultError(f"there is no {wanted} on {gpu.node}/{gpu.index}")
    return max(candidates, key=lambda one: (_held(gpu, one, world.now_us), -one.pid))


def _held(gpu: Gpu, process: Process, at_us: int) -> int:
    return gpu.uses[process.pid].memory.bytes_at(at_us)
