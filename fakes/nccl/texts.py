"""The words of NCCL 2.21, PyTorch 2.5 and Gloo about a start, as their ranks print them.

From NCCL's src/bootstrap.cc, src/misc/socket.cc, src/transport/net_ib.cc and src/misc/ibvwrap.cc,
and PyTorch's torch/csrc/distributed/c10d (socket.cpp, TCPStore.cpp, ProcessGroupGloo.cpp,
ProcessGroupNCCL.cpp, NCCLUtils.hpp). NCCL puts host, process and thread and the CUDA device before
each line; PyTorch's launcher puts the rank before each.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakes.jobs.process import Process
from fakes.nccl.job import Member
from fakes.node import Node

NCCL_VERSION = "2.21.5"

_EXPLAINED = {
    "internal error": (
        "internal error - please report this issue to the NCCL developers",
        "ncclInternalError: Internal check failed.",
    ),
    "system error": (
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or "
        "device error.",
    ),
    "remote error": (
        "remote process exited or there was a network error",
        "ncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely.",
    ),
}
"""What PyTorch makes of NCCL's result: its own words, and the class and its meaning."""


def info(member: Member, process: Process, text: str) -> str:
    """A line of NCCL's news."""
    return f"{_head(member, process)} NCCL INFO {text}"


def warning(member: Member, process: Process, place: str, text: str) -> str:
    """A line of NCCL's on what went wrong, with the place in its source."""
    return f"{_head(member, process)} {place} NCCL WARN {text}"


def _head(member: Member, process: Process) -> str:
    return f"{member.node.name}:{process.pid}:{process.pid} [{process.spec.local_rank}]"


def torch_warning(process: Process, file: str, text: str) -> str:
    """A warning of PyTorch's C++ side."""
    return f"[rank{process.spec.rank}]:[W {file}] {text}"


def nccl_failed(process: Process, result: str, last_error: str) -> Iterator[str]:
    """How PyTorch raises NCCL's failure (checkForNcclError, getNcclErrorDetailStr)."""
    short, meaning = _EXPLAINED[result]
    yield from traceback(process, "dist.barrier()")
    for line in (
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        f"ProcessGroupNCCL.cpp:1970, {short}, NCCL version {NCCL_VERSION}",
        meaning,
        "Last error:",
        last_error,
    ):
        yield f"[rank{process.spec.rank}]: {line}"


def raised(process: Process, error: str) -> Iterator[str]:
    """How Python ends a rank whose process group could not be made."""
    yield from traceback(process, "dist.init_process_group()")
    yield f"[rank{process.spec.rank}]: {error}"


def traceback(process: Process, statement: str) -> Iterator[str]:
    """The lines above an error."""
    spec = process.spec
    script = next((word for word in spec.command if word.endswith(".py")), "train.py")
    for line in (
        "Traceback (most recent call last):",
        f'  File "/home/{spec.user}/{script}", line 118, in <module>',
        "    main()",
        f'  File "/home/{spec.user}/{script}", line 41, in main',
        f"    {statement}",
    ):
        yield f"[rank{spec.rank}]: {line}"


def complete(member: Member, process: Process, ranks: int, first_pid: int) -> str:
    """That a rank is ready; ``first_pid`` tells one communicator from another."""
    spec = process.spec
    _, bus, device = member.node.gpus[spec.gpu].bus_id.split(":")
    return info(
        member,
        process,
        f"comm 0x{0x5581A0000000 + process.pid * 4096:x} rank {spec.rank} nranks {ranks} cudaDev "
        f"{spec.local_rank} nvmlDev {spec.gpu} busId {int(bus, 16):x}{device}0 commId "
        f"0x{first_pid * 2654435761:x} - Init COMPLETE",
    )


def transfer_failed(node: Node, process: Process, peer: Node) -> Iterator[str]:
    """That a transfer over InfiniBand failed after all of its retries (status 12), while it ran."""
    spec = process.spec
    port = 32_768 + process.pid * 13 % 28_000
    last_error = (
        f"NET/IB : Got completion from peer {peer.address}<{port}> with status=12 opcode=0 "
        "len=0 vendor err 129 (Send)"
    )
    head = f"{node.name}:{process.pid}:{process.pid + 100} [{spec.local_rank}]"
    yield f"{head} transport/net_ib.cc:1295 NCCL WARN {last_error}"
    yield (
        f"[rank{spec.rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/"
        "distributed/c10d/ProcessGroupNCCL.cpp:1970, remote process exited or there was a network "
        f"error, NCCL version {NCCL_VERSION}"
    )
    yield f"[rank{spec.rank}]: Last error:"
    yield f"[rank{spec.rank}]: {last_error}"
