"""``nvcc``: the CUDA toolkit's compiler, which tells its version and compiles nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node


@command("nvcc", latency_us=20_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """The toolkit is the newest that the driver supports."""
    if list(argv) not in (["--version"], ["-V"]):
        err.write(f"nvcc: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    release = ".".join(map(str, node.driver.cuda))
    out.write(
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        "Copyright (c) 2005-2025 NVIDIA Corporation\n"
        "Built on Fri_Feb_21_20:23:50_PST_2025\n"
        f"Cuda compilation tools, release {release}, V{release}.93\n"
        f"Build cuda_{release}.r{release}/compiler.0_0\n"
    )
    return 0
