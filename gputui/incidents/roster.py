"""Who is who: the GPUs this node has, also while they do not say so themselves.

A GPU that is lost has no name any more, and one that NVML no longer counts is not even listed. The
roster remembers: who stood at which index, at which PCI address, and what was last read of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gputui.incidents.addresses import placed
from gputui.incidents.inventory import Expected, SeenGpu, bus_of, missing_gpus
from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample, NodeSample, PciGpu
from gputui.sources.reasons import GPU_NOT_FOUND, NO_PERMISSION, words

_MOST_GPUS = 256


def has_readings(gpu: GpuSample) -> bool:
    """Whether a GPU said anything about itself beyond who it is."""
    readings = (
        gpu.utilization_percent, gpu.memory_used_bytes, gpu.temperature_c, gpu.power_mw,
        gpu.sm_clock_mhz, gpu.clock_reasons,
    )  # fmt: skip
    return any(reading is not None for reading in readings)


@dataclass(frozen=True, slots=True)
class LastReadings:
    """What was last read of a GPU, and when (Unix time)."""

    time_s: float
    gpu: GpuSample


class Roster:
    """Remembers the GPUs of one node. ``expected`` is what the config says there should be."""

    def __init__(self, expected: Expected = None) -> None:
        self._expected = expected
        self._before: dict[str, SeenGpu] = {}
        self._at_index: dict[int, GpuSample] = {}
        self._bus: dict[str, PciGpu] = {}
        self._addresses_told: set[str] = set()
        self._bus_told: dict[int, str] = {}
        self._uuid_told: dict[str, str] = {}
        self._last: dict[str, LastReadings] = {}

    def recall(self, seen: Iterable[SeenGpu]) -> None:
        """Learn which GPUs this node had before."""
        for one in seen:
            self._before[one.uuid] = one
            self._last[one.uuid] = LastReadings(one.seen_s, _row(one))

    @property
    def seen(self) -> tuple[SeenGpu, ...]:
        """The GPUs that this node has, and had before, for another time to recall."""
        now = [
            SeenGpu(gpu.uuid, gpu.index, gpu.bus_id, gpu.name, self._last[gpu.uuid].time_s)
            for gpu in self._at_index.values()
            if gpu.uuid is not None and gpu.uuid in self._last
        ]
        uuids = {one.uuid for one in now}
        addresses = {one.bus_id for one in now if one.bus_id}
        before = (
            one
            for one in self._before.values()
            if one.uuid not in uuids and one.bus_id not in addresses
        )
        return (*now, *before)

    @property
    def recalled(self) -> tuple[GpuSample, ...]:
        """Rows for the GPUs of before, without readings, as long as nothing else is known."""
        return tuple(_row(one) for one in sorted(self._before.values(), key=lambda one: one.index))

    def identified(self, sample: NodeSample) -> NodeSample:
        """The sample with everybody named, and with those that are not counted.

        Those that were counted before, since the start, have the code ``GPU_NOT_FOUND``, or
        ``NO_PERMISSION`` where they are merely hidden now; those that should be there have
        ``MISSING``. Each has its old index unless another GPU has it now.
        """
        gpus = [self._named(gpu) for gpu in sample.gpus]
        gpus = self._named_by_elimination(gpus)
        for gpu in gpus:
            name = _name(gpu)
            if has_readings(gpu) and (name in self._last or len(self._last) < _MOST_GPUS):
                self._last[name] = LastReadings(sample.time_s, gpu)
        self._bus = bus_of(sample)
        gpus += self._absent(gpus, self._bus)
        self._at_index = {gpu.index: gpu for gpu in gpus}
        gpus += missing_gpus(sample, gpus, self._before.values(), self._expected)
        return replace(sample, gpus=tuple(sorted(gpus, key=lambda gpu: gpu.index)))

    def last_readings(self, gpu: GpuSample) -> LastReadings | None:
        """What was last read of a GPU."""
        return self._last.get(_name(gpu))

    def learn(self, event: KernelEvent) -> bool:
        """Take from the kernel log what a lost GPU cannot say: its address and its UUID.

        An address that nobody has is that of the only GPU without one, or of the one that stands
        where the order of addresses wants it. Returns whether it may name somebody.
        """
        if event.bus_id is None or event.kind not in ("xid", "gpu_lost", "gpu_uuid"):
            return False
        news = event.kind == "gpu_uuid" and event.detail != self._uuid_told.get(event.bus_id)
        if news:
            self._uuid_told[event.bus_id] = event.detail
        if event.bus_id in self._addresses_told or len(self._addresses_told) >= _MOST_GPUS:
            return news
        self._addresses_told.add(event.bus_id)
        gpus = tuple(self._at_index.values())
        if any(gpu.bus_id is None for gpu in gpus):
            on_bus = {address for address, gpu in self._bus.items() if not gpu.hidden}
            self._bus_told |= placed(gpus, self._addresses_told, on_bus)
        return True

    def _named(self, gpu: GpuSample) -> GpuSample:
        before = self._at_index.get(gpu.index)
        if gpu.uuid is None and before is not None and before.return_code != GPU_NOT_FOUND:
            gpu = replace(
                gpu,
                uuid=before.uuid,
                bus_id=gpu.bus_id or before.bus_id,
                name=gpu.name or before.name,
            )
        if gpu.bus_id is None and gpu.index in self._bus_told:
            gpu = replace(gpu, bus_id=self._bus_told[gpu.index])
        if gpu.uuid is None and gpu.bus_id in self._uuid_told:
            gpu = replace(gpu, uuid=self._uuid_told[gpu.bus_id])
        return gpu

    def _named_by_elimination(self, gpus: list[GpuSample]) -> list[GpuSample]:
        """One that was lost before the start is one of those of before that nobody else is.

        The one at its index, if that is free, or the only one that is left.
        """
        uuids = {gpu.uuid for gpu in gpus}
        addresses = {gpu.bus_id for gpu in gpus if gpu.bus_id}
        nameless = [gpu for gpu in gpus if gpu.uuid is None]
        free = {
            one.index: one
            for one in self._before.values()
            if one.uuid not in uuids and one.bus_id not in addresses
        }
        named = {}
        for gpu in nameless:
            known = free.get(gpu.index)
            if known is None and len(free) == len(nameless) == 1:
                known = next(iter(free.values()))
            if known is not None and gpu.bus_id in (None, known.bus_id):
                named[gpu.index] = replace(
                    gpu,
                    uuid=known.uuid,
                    bus_id=gpu.bus_id or known.bus_id,
                    name=gpu.name or known.name,
                )
        return [named.get(gpu.index, gpu) for gpu in gpus]

    def _absent(self, present: list[GpuSample], bus: dict[str, PciGpu]) -> list[GpuSample]:
        names = {_name(gpu) for gpu in present}
        taken = {gpu.index for gpu in present}
        absent = []
        for known in self._at_index.values():
            if known.uuid is None or _name(known) in names:
                continue
            index = known.index
            while index in taken:
                index += 1
            taken.add(index)
            on_bus = bus.get(known.bus_id or "")
            code = NO_PERMISSION if on_bus is not None and on_bus.hidden else GPU_NOT_FOUND
            absent.append(
                GpuSample(
                    index=index,
                    uuid=known.uuid,
                    bus_id=known.bus_id,
                    name=known.name,
                    return_code=code,
                    missing={"temperature_c": words(code)},
                )
            )
        return absent


def _name(gpu: GpuSample) -> str:
    return gpu.uuid or gpu.bus_id or str(gpu.index)


def _row(one: SeenGpu) -> GpuSample:
    return GpuSample(one.index, one.uuid, one.bus_id, one.name)
