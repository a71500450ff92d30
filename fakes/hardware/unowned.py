"""Memory of a GPU that no living process holds: what the driver forgot, what the dead left behind.

Both happen on real nodes. A *leak* is counted as used, and the driver lists nobody for it, until
the GPU is reset. A *zombie* has ended, and the driver still lists its PID: a thread of it is stuck
in a driver call, or its parent has not taken note of its end.
"""

from __future__ import annotations

from fakes.hardware.gpu import LEAKED, Gpu


def leaked_bytes(gpu: Gpu, at_us: int) -> int:
    """Memory that the driver forgot to free."""
    use = gpu.uses.get(LEAKED)
    return use.memory.bytes_at(at_us) if use else 0


def leak(gpu: Gpu, by_bytes: int, at_us: int) -> None:
    """Let so much more memory be used by nobody; less, where it is negative."""
    leaked = leaked_bytes(gpu, at_us) + by_bytes
    if leaked > 0:
        gpu.add_use(LEAKED, leaked, 0.0, at_us)
    else:
        gpu.drop_use(LEAKED, at_us)


def is_held(gpu: Gpu) -> bool:
    """Whether a process, living or not, has the GPU open."""
    return any(pid != LEAKED for pid in gpu.uses)


def free(gpu: Gpu, at_us: int) -> None:
    """Let go of whatever is still held, as a driver does that begins anew with a GPU."""
    for pid in tuple(gpu.uses):
        gpu.drop_use(pid, at_us)
