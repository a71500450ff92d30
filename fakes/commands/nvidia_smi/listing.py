"""``-L``: the GPUs, a line each."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.reading import Gpu, Missing, each_gpu
from fakes.commands.nvidia_smi.selection import Selection


def heading(gpu: Gpu) -> str:
    """A GPU's line: number, name and UUID."""
    name, uuid = gpu.get("nvmlDeviceGetName"), gpu.get("nvmlDeviceGetUUID")
    return f"GPU {gpu.index}: {name} (UUID: {uuid})"


def list_gpus(selection: Selection, ids: Sequence[str]) -> int:
    """Name every GPU. One without a handle is named by its address, in its place.

    Such a line is a line too: who counts lines counts it (that is so with the real command).
    """
    driver, out = selection.driver, selection.out
    chosen = {gpu.index for gpu in selection.gpus(ids)} if ids else None
    listed = 0
    for index, handle in each_gpu(driver):
        if chosen is not None and index not in chosen:
            continue
        listed += 1
        if isinstance(handle, Missing):
            failure = driver.failure_text(handle.code)
            address = selection.address(index)
            out.write(f"Unable to determine the device handle for gpu {address}: {failure}\n")
            continue
        name, uuid = (
            driver.ask(question, handle) for question in ("nvmlDeviceGetName", "nvmlDeviceGetUUID")
        )
        if isinstance(name, Missing) or isinstance(uuid, Missing):
            name = uuid = driver.failure_text(name.code if isinstance(name, Missing) else uuid.code)
        out.write(f"GPU {index}: {name} (UUID: {uuid})\n")
    if not listed:
        selection.none()
    return 0
