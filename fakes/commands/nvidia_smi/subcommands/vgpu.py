"""``vgpu``: virtual GPUs, which bare metal has none of."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.session import Session


def run(argv: Sequence[str], session: Session) -> int:
    """Say that there are none, whatever is asked about them."""
    del argv
    session.gpus("")
    session.out.write("No supported devices in vGPU mode\n")
    return 0
