"""What GPUs are to be like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from chaos.condition import condition
from chaos.expectation import ReadingContext
from chaos.format.comparison import Comparison, Unit
from chaos.selection import Gpus
from fakes.hardware.gpu import Gpu
from fakes.hardware.thermal import Limit
from fakes.world import World

_GIB = 1 << 30


class GpuWord(str, Enum):
    """The state of a GPU, in gputui's words; what of them is the GPU's own, and no view of it."""

    OK = "ok"
    LOST = "lost"
    RESET_NEEDED = "reset_needed"


class Temperature(Comparison):
    """A comparison in degrees Celsius, as far as an eight-bit sensor reads."""

    units = (Unit("C", 1.0),)
    most = 255.0


class Power(Comparison):
    """A comparison in watts: below ten kilowatts a GPU."""

    units = (Unit("W", 1000.0), Unit("kW", 1_000_000.0))
    most = 10_000_000.0


class Clock(Comparison):
    """A comparison in megahertz: below ten gigahertz."""

    units = (Unit("MHz", 1.0), Unit("GHz", 1000.0))
    most = 10_000.0


class Share(Comparison):
    """A comparison in per cent."""

    units = (Unit("%", 1.0),)
    most = 100.0


class Memory(Comparison):
    """A comparison in bytes."""

    units = (Unit("GiB", _GIB), Unit("MiB", 1 << 20), Unit("KiB", 1 << 10), Unit("B", 1.0))


class Number(Comparison):
    """A comparison of a plain number."""

    counted = True


@condition("gpu")
@dataclass(frozen=True, slots=True)
class GpuCondition:
    """Each of the GPUs is like this: hotness, power, clock, use, memory, state, processes."""

    gpu: Gpus
    temperature: Temperature | None = None
    power: Power | None = None
    clock: Clock | None = None
    utilization: Share | None = None
    memory: Memory | None = None
    throttled: bool | None = None
    state: GpuWord | None = None
    processes: Number | None = None

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """More memory than the GPUs have."""
        most = context.memory_bytes
        if self.memory is not None and most is not None and (idle := self.memory.is_idle(most)):
            yield "memory", f"'{self.memory}' {idle}: these GPUs have {most / _GIB:.0f} GiB."
        measured = self._measures or self.processes is not None
        if self.state is GpuWord.LOST and measured:
            yield "state", "a GPU that is lost can be nothing else besides."

    def broken(self, world: World) -> str:
        """The first thing that is not so, of the first GPU."""
        for gpu in self.gpu.find(world):
            clause = self._broken_of(gpu, world)
            if clause:
                return f"{gpu.node}/{gpu.index}: {clause}"
        return ""

    def _broken_of(self, gpu: Gpu, world: World) -> str:
        now_us = world.now_us
        word = state_of(gpu)
        if self.state is not None and word is not self.state:
            return f"it is {word.value}"
        if self._measures and gpu.lost is not None:
            return "it is lost"
        if self.temperature and not self.temperature.holds(gpu.true_temperature_c(now_us)):
            return f"{gpu.true_temperature_c(now_us):.1f} C"
        if self.power and not self.power.holds(gpu.power_mw(now_us)):
            return f"{gpu.power_mw(now_us) / 1000:.1f} W"
        if self.clock and not self.clock.holds(gpu.sm_clock_mhz(now_us)):
            return f"{gpu.sm_clock_mhz(now_us)} MHz"
        if self.utilization and not self.utilization.holds(gpu.utilization_percent(now_us)):
            return f"{gpu.utilization_percent(now_us)} % used"
        if self.memory and not self.memory.holds(gpu.memory_used_bytes(now_us)):
            return f"{gpu.memory_used_bytes(now_us) / _GIB:.1f} GiB used"
        hot = gpu.limit(now_us) in (Limit.HEAT, Limit.HARDWARE_HEAT)
        if self.throttled is not None and hot != self.throttled:
            return "its clocks are lowered by heat" if hot else "its clocks are not lowered"
        count = len(world.node_of(gpu).processes_on(gpu))
        if self.processes and not self.processes.holds(count):
            return f"{count} processes"
        return ""

    @property
    def _measures(self) -> bool:
        asked = (self.temperature, self.power, self.clock, self.utilization, self.memory)
        return any(one is not None for one in (*asked, self.throttled))


def state_of(gpu: Gpu) -> GpuWord:
    """What a GPU is, whatever shows it."""
    if gpu.lost is not None:
        return GpuWord.LOST
    return GpuWord.RESET_NEEDED if gpu.reset_required else GpuWord.OK
