"""Expected against seen: the GPUs that should be there and that NVML does not count.

Three things say what should be there: the config (how many, or which), what was seen before on this
node, and the PCI bus. What the config says is stronger than the other two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gputui.model import GpuSample, NodeSample, PciGpu
from gputui.sources.reasons import MISSING, words

Expected = int | tuple[str, ...] | None
"""How many GPUs there should be, or which (UUIDs); None for whatever was seen before."""

_OURS = (None, "nvidia")
"""A GPU that another driver holds was given away on purpose: to a virtual machine, say."""


@dataclass(frozen=True, slots=True)
class SeenGpu:
    """A GPU that this node had, and when it was last read (Unix time)."""

    uuid: str
    index: int
    bus_id: str | None = None
    name: str | None = None
    seen_s: float = 0.0


def bus_of(sample: NodeSample) -> dict[str, PciGpu]:
    """The GPUs on the PCI bus by address; none where it cannot be seen, or is not this node's.

    Every GPU that answers is on the bus of its node: a bus that shows other GPUs says nothing.
    """
    bus = {gpu.bus_id: gpu for gpu in sample.on_bus or ()}
    answering = {gpu.bus_id for gpu in sample.gpus if gpu.return_code == 0 and gpu.bus_id}
    return bus if answering <= bus.keys() else {}


def missing_gpus(
    sample: NodeSample,
    there: Sequence[GpuSample],
    seen: Iterable[SeenGpu],
    expected: Expected,
) -> list[GpuSample]:
    """A row for each GPU that should be there besides those that are ``there``.

    Nothing is missing while the bus has not been looked at: it may show that a GPU is merely hidden
    from this container, or given to somebody else.
    """
    if sample.on_bus is None:
        return []
    bus = bus_of(sample)
    uuids = {gpu.uuid for gpu in there}
    addresses = {gpu.bus_id for gpu in there}
    nameless = sum(gpu.uuid is None and gpu.bus_id is None for gpu in there)
    rows = []
    for one in sorted(seen, key=lambda one: one.index):
        # At the address of another one it was taken out, and that one put in.
        if one.uuid in uuids or one.bus_id in addresses or not _is_ours(bus, one.bus_id):
            continue
        rows.append(GpuSample(one.index, one.uuid, one.bus_id, one.name))
        addresses.add(one.bus_id)
    for address, gpu in sorted(bus.items()):
        if address not in addresses and not gpu.hidden and gpu.driver in _OURS:
            rows.append(GpuSample(len(there), bus_id=address))
    rows = rows[nameless:]
    if isinstance(expected, int):
        rows = rows[: max(expected - len(there), 0)]
        rows += [GpuSample(len(there))] * (expected - len(there) - len(rows))
    elif expected is not None:
        known = {row.uuid: row for row in rows}
        absent = [uuid for uuid in expected if uuid not in uuids]
        rows = [known.get(uuid) or GpuSample(len(there), uuid) for uuid in absent[nameless:]]
    return _placed(rows, there)


def _is_ours(bus: dict[str, PciGpu], address: str | None) -> bool:
    gpu = bus.get(address or "")
    return gpu is None or (not gpu.hidden and gpu.driver in _OURS)


def _placed(rows: Iterable[GpuSample], there: Iterable[GpuSample]) -> list[GpuSample]:
    """The rows, each with an index that nobody else has."""
    taken = {gpu.index for gpu in there}
    placed = []
    for row in rows:
        index = row.index
        while index in taken:
            index += 1
        taken.add(index)
        placed.append(
            replace(
                row, index=index, return_code=MISSING, missing={"temperature_c": words(MISSING)}
            )
        )
    return placed
