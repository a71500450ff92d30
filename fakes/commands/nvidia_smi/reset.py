"""``-r``: reset GPUs.

NVML has no function that resets a GPU; the real command goes through the driver's private one. So
this one can refuse, in the real command's words, and no more: a GPU with clients is in use, any
other cannot be reset from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.nvidia_smi.queries.compute_apps import all_apps
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.selection import status_of
from fakes.nvml.codes import Code

_IN_USE_STATUS = 255


def reset(gpus: Sequence[Gpu], out: TextIO) -> int:
    """Refuse to reset ``gpus``; the exit status."""
    refusals = {gpu: Code.IN_USE if all_apps(gpu) else Code.NOT_SUPPORTED for gpu in gpus}
    out.write("The following GPUs could not be reset:\n")
    for gpu, code in refusals.items():
        out.write(f"  GPU {gpu.bus_id}: {gpu.driver.error_text(code)}\n")
    in_use = sum(code == Code.IN_USE for code in refusals.values())
    if not in_use:
        return status_of(Code.NOT_SUPPORTED)
    devices = "1 device is" if in_use == 1 else f"{in_use} devices are"
    out.write(f"\n{devices} currently being used by one or more other processes.\n")
    return _IN_USE_STATUS
