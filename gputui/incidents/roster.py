"""Who is who: the GPUs this node has, also while they do not say so themselves.

A GPU that is lost has no name any more, and one that NVML no longer counts is not even listed. The
roster remembers: who stood at which index, at which PCI address, and what was last read of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample, NodeSample
from gputui.sources.reasons import GPU_NOT_FOUND, words

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
    """Remembers the GPUs of one node."""

    def __init__(self) -> None:
        self._at_index: dict[int, GpuSample] = {}
        self._bus_told: dict[int, str] = {}
        self._uuid_told: dict[str, str] = {}
        self._last: dict[str, LastReadings] = {}

    def identified(self, sample: NodeSample) -> NodeSample:
        """The sample with everybody named, and with those that are not counted any more.

        They have the code ``GPU_NOT_FOUND``, and their old index unless another GPU has it now.
        """
        gpus = [self._named(gpu) for gpu in sample.gpus]
        for gpu in gpus:
            name = _name(gpu)
            if has_readings(gpu) and (name in self._last or len(self._last) < _MOST_GPUS):
                self._last[name] = LastReadings(sample.time_s, gpu)
        gpus += self._absent(gpus)
        self._at_index = {gpu.index: gpu for gpu in gpus}
        return replace(sample, gpus=tuple(sorted(gpus, key=lambda gpu: gpu.index)))

    def last_readings(self, gpu: GpuSample) -> LastReadings | None:
        """What was last read of a GPU."""
        return self._last.get(_name(gpu))

    def learn(self, event: KernelEvent) -> None:
        """Take from the kernel log what a lost GPU cannot say.

        An address that nobody has must be that of the only GPU without one.
        """
        if event.bus_id is None:
            return
        if event.kind == "gpu_uuid":
            self._uuid_told[event.bus_id] = event.detail
        if event.kind not in ("xid", "gpu_lost", "gpu_uuid"):
            return
        gpus = self._at_index.values()
        if any(gpu.bus_id == event.bus_id for gpu in gpus):
            return
        nameless = [gpu.index for gpu in gpus if gpu.bus_id is None]
        if len(nameless) == 1:
            self._bus_told[nameless[0]] = event.bus_id

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

    def _absent(self, present: list[GpuSample]) -> list[GpuSample]:
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
            absent.append(
                GpuSample(
                    index=index,
                    uuid=known.uuid,
                    bus_id=known.bus_id,
                    name=known.name,
                    return_code=GPU_NOT_FOUND,
                    missing={"temperature_c": words(GPU_NOT_FOUND)},
                )
            )
        return absent


def _name(gpu: GpuSample) -> str:
    return gpu.uuid or gpu.bus_id or str(gpu.index)
