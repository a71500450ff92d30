"""One GPU: its conditions, its regimes, its memory, and what has become of it.

A GPU's readings are functions of time since its conditions last changed. Reading changes nothing,
so nothing depends on when, how often or in which order a GPU is read.

A long module: whatever changes a GPU must close the books of what was, which are all kept here.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from fakes.hardware.ecc import MemoryErrors, RemappedRows, RetiredPages
from fakes.hardware.fabric import Membership
from fakes.hardware.links import Nvlink
from fakes.hardware.memory import Allocation
from fakes.hardware.noise import noise, seed_of
from fakes.hardware.pcie import PcieLink
from fakes.hardware.settings import Settings
from fakes.hardware.thermal import Conditions, Limit, Plan, Regime, VideoClocks, plan, wanted_mw
from fakes.hardware.traffic import traffic
from fakes.profile import MIB, Profile

_BUS_NUMBERS = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)

LEAKED = -1
"""Stands in a GPU's uses for memory that nobody holds (``fakes/hardware/unowned.py``): no PID."""

_SAMPLE_US = 1_000_000
"""Sensors settle once a second: power is averaged over a second on Ampere and later (nvml.h)."""

_FAN_IDLE_PERCENT, _FAN_LOAD_PERCENT = 30, 40


class Lookup(Enum):
    """What a new look-up of a lost GPU's handle answers. Both are seen in the field."""

    UNKNOWN = "unknown"
    LOST = "lost"


class Identity(Enum):
    """Whether a lost GPU's UUID, index, PCI data and name still answer on a handle held before."""

    FAILS = "fails"
    ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Lost:
    """A GPU that no longer answers, since when, and how its absence shows."""

    since_us: int
    lookup: Lookup = Lookup.UNKNOWN
    identity: Identity = Identity.FAILS


@dataclass(frozen=True, slots=True)
class Use:
    """What one process does on a GPU: the memory it holds and the load (0..1) it asks for."""

    memory: Allocation
    load: float


class Gpu:
    """A GPU on a node. Change it through the methods that take ``at_us``; read it at any time.

    ``on_change`` is told whenever its conditions have changed, and when: what it will come to by
    itself (running full, switching itself off) must then be reckoned anew. ``capacity_bytes`` is
    the memory that processes can have: all but what the driver reserves. ``sensor_c`` is what its
    temperature sensor reads instead of the truth, where it lies; ``fan_share`` is the part of the
    speed asked for at which its own fan turns; ``recovery_action`` is what the driver asks for
    (nvmlDeviceGpuRecoveryAction_t) short of ``reset_required``; ``persistence`` says whether the
    driver stays with it when nobody uses it.

    Readings are what a campaign spends its time on: what they need is at hand.
    """

    def __init__(self, profile: Profile, node: str, index: int, seed: int) -> None:
        self.profile = profile
        self.node = node
        self.index = index
        digest = hashlib.sha256(f"{seed}/{node}/{index}".encode()).digest()
        self.uuid = f"GPU-{uuid.UUID(bytes=digest[:16])}"
        self.serial = str(int.from_bytes(digest[16:22], "big") % 10**13).zfill(13)
        self.pci_domain = index // len(_BUS_NUMBERS)
        self.pci_bus = _BUS_NUMBERS[index % len(_BUS_NUMBERS)]
        self.power_limit_mw = profile.power.limit_mw
        self.capacity_bytes = (profile.memory.total_mib - profile.memory.reserved_mib) * MIB
        self.uses: dict[int, Use] = {}
        self.lost: Lost | None = None
        self.reset_required = False
        self.recovery_action = 0
        self.persistence = True
        self.settings = Settings()
        self.memory_errors = MemoryErrors()
        self.remapped_rows = RemappedRows()
        self.retired_pages = RetiredPages()
        self.sensor_c: int | None = None
        self.fan_share = 1.0
        self.pcie = PcieLink()
        self.nvlinks = tuple(Nvlink() for _ in range(profile.nvlink.links))
        self.fabric = Membership()
        self.on_change: Callable[[Gpu, int], None] | None = None
        self._seed = seed_of(seed, node, index)
        self._conditions = Conditions(
            air_c=profile.thermal.air_c, power_limit_mw=self.power_limit_mw
        )
        self._load_percent = 0
        self._received, self._sent = traffic(self.pcie, profile.pcie, 0.0, self._seed)
        self._video_mhz = VideoClocks(profile)
        self._held_bytes: int | None = 0
        self._holders: tuple[tuple[int, int], ...] | None = ()
        self._energy_mj = 0
        self._limited_us = dict.fromkeys(Limit, 0)
        self._brakes: set[str] = set()
        self._braked_us = 0
        self._plan = self._settled(0)

    # --- what it is -----------------------------------------------------------------------------

    @property
    def bus_id(self) -> str:
        """PCI address as the kernel prints it, without the function: ``0000:3b:00``."""
        return f"{self.pci_domain:04x}:{self.pci_bus:02x}:00"

    @property
    def port_bus_id(self) -> str:
        """PCI address of the port of the root complex, or of a switch, that it hangs on."""
        return f"{self.pci_domain:04x}:{self.pci_bus - 1:02x}:01"

    @property
    def conditions(self) -> Conditions:
        """Load, cooling and power limit in force."""
        return self._conditions

    @property
    def changed_us(self) -> int:
        """When its conditions last changed. Readings of a moment before that are not to be had."""
        return self._plan.regimes[0].start_us

    @property
    def shutdown_us(self) -> int:
        """When it switches itself off for heat if nothing changes; ``NEVER_US`` if it does not."""
        return self._plan.shutdown_us

    def next_regime_us(self, at_us: int) -> int:
        """When its regime changes next, by heat alone; ``NEVER_US`` if it does not."""
        return self._plan.next_us(at_us)

    # --- what changes it ------------------------------------------------------------------------

    def set_airflow(self, airflow: float, at_us: int) -> None:
        """Let ``airflow`` (1 is as designed) pass over the heat sink from ``at_us`` on."""
        self._change(replace(self._conditions, airflow=airflow), at_us)

    def set_air(self, air_c: float, at_us: int) -> None:
        """Let air of ``air_c`` reach the heat sink from ``at_us`` on."""
        self._change(replace(self._conditions, air_c=air_c), at_us)

    def set_power_limit(self, limit_mw: int, at_us: int) -> None:
        """Cap the board's power from ``at_us`` on."""
        self.power_limit_mw = limit_mw
        self._change(replace(self._conditions, power_limit_mw=limit_mw), at_us)

    def set_settings(self, settings: Settings, at_us: int) -> None:
        """Be set so from ``at_us`` on."""
        self.settings = settings
        if settings.sm_range != self._conditions.sm_range:
            self._change(replace(self._conditions, sm_range=settings.sm_range), at_us)

    def set_brake(self, by: str, at_us: int, *, on: bool) -> None:
        """Let ``by`` pull the power brake from ``at_us`` on, or let go of it.

        It is on as long as anybody pulls it.
        """
        (self._brakes.add if on else self._brakes.discard)(by)
        if bool(self._brakes) != self._conditions.braked:
            self._change(replace(self._conditions, braked=bool(self._brakes)), at_us)

    def add_use(self, pid: int, memory_bytes: int, load: float, at_us: int) -> None:
        """Let process ``pid`` hold memory and ask for load from ``at_us`` on."""
        self.uses[pid] = Use(Allocation(memory_bytes, at_us), load)
        self._reload(at_us)

    def grow(self, pid: int, bytes_per_s: int, at_us: int) -> None:
        """Let the memory of ``pid`` grow at a rate from ``at_us`` on."""
        use = self.uses[pid]
        self.uses[pid] = replace(use, memory=use.memory.growing(bytes_per_s, at_us))
        self._tell(at_us)

    def hold(self, pid: int, memory_bytes: int, at_us: int) -> None:
        """Let ``pid`` hold so much memory from ``at_us`` on; it grows on as it did."""
        use = self.uses[pid]
        memory = Allocation(memory_bytes, at_us, use.memory.bytes_per_s)
        self.uses[pid] = replace(use, memory=memory)
        self._tell(at_us)

    def ask(self, pid: int, load: float, at_us: int) -> None:
        """Let ``pid`` ask for so much load (0..1) from ``at_us`` on."""
        self.uses[pid] = replace(self.uses[pid], load=load)
        self._reload(at_us)

    def drop_use(self, pid: int, at_us: int) -> None:
        """Let go of whatever ``pid`` held."""
        if self.uses.pop(pid, None):
            self._reload(at_us)

    def set_pcie(self, width: int | None, generation: int | None, at_us: int) -> None:
        """Let the PCIe link run at so many lanes, and at that generation, from ``at_us`` on."""
        self.pcie.width, self.pcie.generation = width, generation
        self._change(self._conditions, at_us)

    def settle(self, at_us: int) -> None:
        """Be as warm as the present conditions make it in the end, as if they had long held."""
        self._account(at_us)
        self._plan = self._settled(at_us)
        self._tell(at_us)

    # --- what it reads --------------------------------------------------------------------------

    def regime(self, at_us: int) -> Regime:
        """The regime in force."""
        return self._plan.at(at_us)

    def true_temperature_c(self, at_us: int) -> float:
        """Temperature without the sensor's noise."""
        return self._plan.at(at_us).temperature_c(at_us)

    def temperature_c(self, at_us: int) -> int:
        """Temperature, whole degrees, as the sensor reads it."""
        if self.sensor_c is not None:
            return self.sensor_c
        jitter = noise(self._seed ^ 1, at_us, 2 * _SAMPLE_US, 30) / 100
        return round(self._plan.at(at_us).temperature_c(at_us) + jitter)

    def memory_temperature_c(self, at_us: int) -> int:
        """Temperature of the HBM: warmer when idle, cooler under load than the GPU (captures)."""
        return round(self.true_temperature_c(at_us) * 0.39 + 32)

    def power_mw(self, at_us: int) -> int:
        """Power over the whole board, with the sensor's noise; within the limit when capped."""
        mean = self._plan.at(at_us).power_mw
        reading = mean + noise(self._seed ^ 2, at_us, _SAMPLE_US, mean // 80 + 1)
        return reading if reading < self.power_limit_mw else self.power_limit_mw

    def instant_power_mw(self, at_us: int) -> int:
        """Power at this instant, not averaged: noisier, and free to pass the limit."""
        mean = self._plan.at(at_us).power_mw
        return mean + noise(self._seed ^ 7, at_us, _SAMPLE_US // 10, mean // 20 + 1)

    def sm_clock_mhz(self, at_us: int) -> int:
        """SM clock."""
        return self._plan.at(at_us).sm_clock_mhz

    @property
    def fan_percent(self) -> int:
        """Speed of the card's own fan: it turns faster the harder the GPU works."""
        return round(
            (_FAN_IDLE_PERCENT + _FAN_LOAD_PERCENT * self._conditions.load) * self.fan_share
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs on it."""
        return self._conditions.load <= 0

    @property
    def performance_state(self) -> int:
        """The N of its performance state PN."""
        return self.profile.clocks.idle_pstate if self.is_idle else 0

    @property
    def memory_clock_mhz(self) -> int:
        """Memory clock."""
        clocks = self.profile.clocks
        if self.settings.locked_memory_mhz:
            return self.settings.locked_memory_mhz
        return clocks.memory_idle_mhz if self.is_idle else clocks.memory_mhz

    @property
    def pcie_generation(self) -> int:
        """The generation at which its link runs."""
        return self.pcie.generation_of(self.profile.pcie, idle=self.is_idle)

    @property
    def pcie_width(self) -> int:
        """The lanes that its link uses."""
        return self.pcie.width_of(self.profile.pcie)

    def video_clock_mhz(self, at_us: int) -> int:
        """Video clock."""
        return self._video_mhz[self._plan.at(at_us).sm_clock_mhz]

    def limit(self, at_us: int) -> Limit:
        """What keeps its clock below the highest."""
        return self._plan.at(at_us).limit

    def utilization_percent(self, at_us: int) -> int:
        """Share of the last second in which a kernel ran."""
        if not self._load_percent:
            return 0
        reading = self._load_percent + noise(self._seed ^ 3, at_us, _SAMPLE_US, 3)
        return 100 if reading > 100 else reading if reading > 0 else 0

    def utilization_rates(self, at_us: int) -> tuple[int, int]:
        """Percent of the last second in which a kernel ran, and in which memory was accessed."""
        percent = self.utilization_percent(at_us)
        return percent, percent * 6 // 10

    def memory_utilization_percent(self, at_us: int) -> int:
        """Share of the last second in which memory was read or written."""
        return self.utilization_rates(at_us)[1]

    def process_utilization_percent(self, pid: int, at_us: int) -> int:
        """The part of the utilization that one process accounts for."""
        total = sum(use.load for use in self.uses.values())
        if pid not in self.uses or total <= 0:
            return 0
        return round(self.utilization_percent(at_us) * self.uses[pid].load / total)

    def process_memory_utilization_percent(self, pid: int, at_us: int) -> int:
        """The part of the memory utilization that one process accounts for."""
        return self.process_utilization_percent(pid, at_us) * 6 // 10

    def pcie_kib_per_s(self, at_us: int, *, received: bool) -> int:
        """Traffic over the link in one direction."""
        return (self._received if received else self._sent).kib_per_s(at_us)

    def energy_mj(self, at_us: int) -> int:
        """Energy since the node's start: the integral of the noiseless power."""
        return self._energy_mj + self._plan.energy_mj(at_us)

    def nvlink_kib(self, at_us: int, *, received: bool) -> int:
        """Traffic over one of its NVLinks in one direction since the node's start.

        Traffic goes with the work done, and work is what takes energy above the idle power.
        """
        power, nvlink = self.profile.power, self.profile.nvlink
        work_mj = self.energy_mj(at_us) - power.idle_mw * at_us // 1_000_000
        kib = work_mj * nvlink.busy_kib_per_s // (power.full_load_mw - power.idle_mw)
        return max(0, kib if received else kib * 31 // 32)

    def limited_us(self, limit: Limit, at_us: int) -> int:
        """For how long, since the node's start, ``limit`` has kept its clock down."""
        return self._limited_us[limit] + self._plan.limited_us(limit, at_us)

    def braked_us(self, at_us: int) -> int:
        """For how long, since the node's start, the power brake has been pulled."""
        lasted_us = max(0, at_us - self.changed_us) if self._conditions.braked else 0
        return self._braked_us + lasted_us

    @property
    def wanted_mw(self) -> int:
        """The power that it would draw if neither heat nor the brake held it."""
        return wanted_mw(self.profile, self._conditions)

    def memory_used_bytes(self, at_us: int) -> int:
        """Memory held by processes, without the driver's reserve."""
        held = self._held_bytes
        if held is None:
            held = 0
            for use in self.uses.values():
                held += use.memory.bytes_at(at_us)
        return held if held < self.capacity_bytes else self.capacity_bytes

    def holders(self, at_us: int) -> tuple[tuple[int, int], ...]:
        """PID and bytes held, by PID, also of those that have ended; a leak has no holder."""
        if self._holders is not None:
            return self._holders
        uses = sorted(self.uses.items())
        return tuple((pid, use.memory.bytes_at(at_us)) for pid, use in uses if pid != LEAKED)

    # --- within ---------------------------------------------------------------------------------

    def _account(self, at_us: int) -> None:
        """Close the books of the plan that ends now."""
        self._energy_mj = self.energy_mj(at_us)
        self._braked_us = self.braked_us(at_us)
        for limit in Limit:
            self._limited_us[limit] = self.limited_us(limit, at_us)

    def _reload(self, at_us: int) -> None:
        load = min(1.0, sum(use.load for use in self.uses.values()))
        self._change(replace(self._conditions, load=load), at_us)

    def _change(self, conditions: Conditions, at_us: int) -> None:
        start_c = self.true_temperature_c(at_us)
        self._account(at_us)
        self._conditions = conditions
        self._load_percent = round(conditions.load * 100)
        self._received, self._sent = traffic(
            self.pcie, self.profile.pcie, conditions.load, self._seed
        )
        self._plan = plan(self.profile, conditions, at_us, start_c)
        self._tell(at_us)

    def _tell(self, at_us: int) -> None:
        held = [use.memory for use in self.uses.values()]
        self._held_bytes = self._holders = None
        if not any(each.bytes_per_s for each in held):
            self._held_bytes = sum(each.held_bytes for each in held)
            self._holders = self.holders(at_us)
        if self.on_change:
            self.on_change(self, at_us)

    def _settled(self, at_us: int) -> Plan:
        solved = plan(self.profile, self._conditions, at_us, self._conditions.air_c)
        return plan(self.profile, self._conditions, at_us, min(solved.regimes[-1].end_c, 200.0))
