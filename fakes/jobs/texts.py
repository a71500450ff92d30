"""What a training job prints when something under it fails: PyTorch's and its launcher's words.

The words are those of PyTorch 2.5 (c10/cuda/CUDACachingAllocator.cpp, c10/cuda/CUDAException.cpp)
and of torchrun, and of the CUDA runtime (cudaGetErrorString). What they mean is the monitor's
business, from its own sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.jobs.process import Process

if TYPE_CHECKING:
    from fakes.hardware.gpu import Gpu
    from fakes.node import Node

_MIB = 1 << 20
_GIB = 1 << 30

_CONTEXT_BYTES = 500 * _MIB
"""What CUDA itself takes for a process, beside what PyTorch asks for."""

_CUDA_WORDS = {
    13: "an illegal memory access was encountered",
    31: "an illegal memory access was encountered",
    43: "unspecified launch failure",
    48: "uncorrectable ECC error encountered",
    74: "uncorrectable NVLink error detected during the execution",
    79: "unspecified launch failure",
    94: "uncorrectable ECC error encountered",
    95: "uncorrectable ECC error encountered",
}
"""The CUDA error that a process gets from its next call after an Xid on its GPU."""


def say_cuda_error(node: Node, gpu: Gpu, code: int, at_us: int) -> None:
    """Let the processes on a GPU say what an Xid has done to them; most codes do nothing."""
    words = _CUDA_WORDS.get(code)
    if words is None:
        return
    for process in node.processes_on(gpu):
        _raise(node, process, f"RuntimeError: CUDA error: {words}", at_us)


def say_out_of_memory(node: Node, gpu: Gpu, process: Process, at_us: int) -> None:
    """Let a process say that its next allocation failed."""
    total = gpu.profile.memory.total_mib * _MIB
    used = gpu.memory_used_bytes(at_us)
    own = gpu.uses[process.pid].memory.bytes_at(at_us)
    others = "".join(
        f" Process {other.pid} has {_size(gpu.uses[other.pid].memory.bytes_at(at_us))} memory in "
        "use."
        for other in node.processes_on(gpu)
        if other.pid != process.pid
    )
    allocated = max(own - _CONTEXT_BYTES - own // 50, 0)
    text = (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {_size(2 * _GIB)}. GPU 0 "
        f"has a total capacity of {_size(total)} of which {_size(max(total - used, 0))} is free."
        f"{others} Including non-PyTorch memory, this process has {_size(own)} memory in use. Of "
        f"the allocated memory {_size(allocated)} is allocated by PyTorch, and {_size(own // 50)} "
        "is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
        "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
        "documentation for Memory Management"
    )
    _raise(node, process, text, at_us)
    _report_end(node, process, at_us)


def _report_end(node: Node, process: Process, at_us: int) -> None:
    """What torchrun says of a rank that ended (elastic/multiprocessing/api.py)."""
    spec = process.spec
    node.job_log.write(
        at_us,
        spec.job,
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: "
        f"{spec.local_rank} (pid: {process.pid}) of binary: /usr/bin/{process.name}",
    )


def _raise(node: Node, process: Process, words: str, at_us: int) -> None:
    """A traceback as Python prints it under torchrun; a process has but one."""
    if process.pid in node.job_log.dying:
        return
    node.job_log.dying.add(process.pid)
    spec = process.spec
    script = next((word for word in spec.command if word.endswith(".py")), "train.py")
    for line in (
        "Traceback (most recent call last):",
        f'  File "/home/{spec.user}/{script}", line 118, in <module>',
        "    main()",
        f'  File "/home/{spec.user}/{script}", line 92, in main',
        "    loss.backward()",
        words,
    ):
        node.job_log.write(at_us, spec.job, f"[rank{spec.rank}]: {line}", process)


def _size(count: int) -> str:
    """As PyTorch's allocator formats it (format_size in CUDACachingAllocator.cpp)."""
    if count < _GIB:
        return f"{count / _MIB:.2f} MiB"
    return f"{count / _GIB:.2f} GiB"
