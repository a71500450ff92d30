"""Which GPU has which PCI address, where lost ones cannot say.

NVML numbers the GPUs of a node in the order of their PCI addresses ("PCI bus ID order",
nvmlDeviceGetHandleByIndex in nvml.h), so that an address tells between which neighbours its GPU
stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from gputui.model import GpuSample


def placed(gpus: Iterable[GpuSample], told: Set[str], on_bus: Set[str]) -> dict[int, str]:
    """Addresses for the GPUs that have none, by index; only those that leave no choice.

    ``told`` are the addresses that the log named, ``on_bus`` those that the PCI bus shows.
    """
    ordered = sorted(gpus, key=lambda gpu: gpu.index)
    taken = {gpu.bus_id for gpu in ordered if gpu.bus_id}
    free = told - taken
    nameless = [gpu.index for gpu in ordered if gpu.bus_id is None]
    if len(nameless) == len(free) == 1:
        return {nameless[0]: next(iter(free))}
    found: dict[int, str] = {}
    for indices, above, below in _runs(ordered):
        for addresses in (free, (told | on_bus) - taken):
            fitting = sorted(
                address
                for address in addresses
                if (above is None or address > above) and (below is None or address < below)
            )
            if len(fitting) == len(indices):
                found |= dict(zip(indices, fitting, strict=True))
                break
    return found


def _runs(ordered: Sequence[GpuSample]) -> Iterator[tuple[list[int], str | None, str | None]]:
    """The GPUs without an address that stand together, and the addresses on either side."""
    indices: list[int] = []
    above: str | None = None
    for gpu in ordered:
        if gpu.bus_id is None:
            indices.append(gpu.index)
            continue
        if indices:
            yield indices, above, gpu.bus_id
        indices, above = [], gpu.bus_id
    if indices:
        yield indices, above, None
