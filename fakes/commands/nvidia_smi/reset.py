"""``-r``: reset GPUs.

NVML has no function that resets a GPU; the real command goes through the driver's private one. So
whoever calls this hands the reset over; without it, this one refuses, in the real command's words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.nvidia_smi.queries.compute_apps import all_apps
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.selection import status_of
from fakes.nvml.codes import Code

_IN_USE_STATUS = 255


def reset(
    gpus: Sequence[Gpu],
    out: TextIO,
    reset_gpu: Callable[[int], Code] | None = None,
    *,
    permitted: bool = True,
    alone: bool = True,
) -> int:
    """Reset ``gpus``; the exit status. ``reset_gpu`` takes an index, and tells what came of it.

    Where GPUs are not reset ``alone``, all that NVLinks join must be named in one call.
    """
    if not permitted:
        why = gpus[0].driver.error_text(Code.NO_PERMISSION)
        out.write(f"Unable to reset GPU {gpus[0].bus_id}: {why}\n")
        return status_of(Code.NO_PERMISSION)
    if not alone and (others := _left_out(gpus)):
        out.write(
            f"GPU {gpus[0].bus_id} is connected to other GPUs by NVLink, and they must be reset "
            f"together. Not among those named: {', '.join(others)}\n"
        )
        return _IN_USE_STATUS
    answers = {gpu: _answer(gpu, reset_gpu) for gpu in gpus}
    refusals = {gpu: code for gpu, code in answers.items() if code != Code.SUCCESS}
    for gpu in answers:
        if gpu not in refusals:
            out.write(f"GPU {gpu.bus_id} was successfully reset.\n")
    if not refusals:
        out.write("All done.\n")
        return 0
    out.write("The following GPUs could not be reset:\n")
    for gpu, code in refusals.items():
        out.write(f"  GPU {gpu.bus_id}: {gpu.driver.error_text(code)}\n")
    in_use = sum(code == Code.IN_USE for code in refusals.values())
    if not in_use:
        return status_of(Code.NOT_SUPPORTED)
    devices, these = "1 device is", "this device"
    if in_use > 1:
        devices, these = f"{in_use} devices are", "these devices"
    out.write(
        f"\n{devices} currently being used by one or more other processes (e.g., Fabric Manager, "
        "CUDA application, graphics application such as an X server, or a monitoring application "
        f"such as another instance of nvidia-smi). Please first kill all processes using {these} "
        "and all compute applications running in the system.\n"
    )
    return _IN_USE_STATUS


def _answer(gpu: Gpu, reset_gpu: Callable[[int], Code] | None) -> Code:
    if reset_gpu is not None:
        return reset_gpu(gpu.index)
    return Code.IN_USE if all_apps(gpu) else Code.NOT_SUPPORTED


def _left_out(gpus: Sequence[Gpu]) -> list[str]:
    """The numbers of the GPUs of the node that are not among ``gpus``."""
    named = {gpu.index for gpu in gpus}
    count = gpus[0].driver.get("nvmlDeviceGetCount")
    return [str(index) for index in range(count) if index not in named]
