"""Heat, power and clocks of one GPU in closed form.

A GPU under constant conditions passes through a few *regimes*, each with constant power and an
exponential temperature::

    T(t) = T_end + (T_start - T_end) * exp(-(t - t0) / tau)     T_end = air + R * P

R is the heat sink's resistance, which rises as 1/airflow (forced convection at constant air
properties: heat carried off goes as mass flow), and ``tau`` = R * C with a fixed heat capacity C.
So less air is hotter, and the first degrees rise no faster.

When the temperature would pass the highest at which the GPU may run, its firmware lowers the clock
so that the heat just balances: the temperature is pinned and power is solved from it, one regime
until something changes, not a flip-flop. If even the lowest clock is too hot, the temperature rises
on, past the hardware slowdown, to the shutdown. Crossings are solved, not stepped towards.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from fakes.hardware.settings import ANY_CLOCK, ClockRange
from fakes.profile import Profile

NEVER_US = 1 << 62
"""A moment that does not come."""

_MIN_AIRFLOW = 0.01


class Limit(Enum):
    """What keeps a GPU's clock below its highest."""

    NONE = "none"
    IDLE = "idle"
    SETTING = "setting"
    POWER = "power"
    BRAKE = "brake"
    HEAT = "heat"
    HARDWARE_HEAT = "hardware heat"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What decides a GPU's regime. ``load`` is 0..1; ``airflow`` 1 is as designed.

    ``braked`` says that somebody outside pulls the power brake; ``sm_range`` is what the clock was
    set to.
    """

    load: float = 0.0
    airflow: float = 1.0
    air_c: float = 25.0
    power_limit_mw: int = 0
    braked: bool = False
    sm_range: ClockRange = ANY_CLOCK


@dataclass(frozen=True, slots=True)
class Regime:
    """A stretch of constant power, from ``start_us`` until the next regime begins."""

    start_us: int
    start_c: float
    end_c: float
    tau_us: float
    power_mw: int
    sm_clock_mhz: int
    limit: Limit

    def temperature_c(self, at_us: int) -> float:
        """Temperature at ``at_us``, which must not lie before the start."""
        if self.start_c == self.end_c:
            return self.end_c
        return self.end_c + (self.start_c - self.end_c) * math.exp(
            (self.start_us - at_us) / self.tau_us
        )

    def crossing_us(self, limit_c: float) -> int:
        """When a rising temperature first reaches ``limit_c``; ``NEVER_US`` if it does not."""
        if self.start_c >= limit_c:
            return self.start_us
        if self.end_c <= limit_c:
            return NEVER_US
        ratio = (self.end_c - self.start_c) / (self.end_c - limit_c)
        return self.start_us + math.ceil(self.tau_us * math.log(ratio))


@dataclass(frozen=True, slots=True)
class Plan:
    """A GPU's regimes from now on, while its conditions stay as they are.

    ``shutdown_us`` is when it gets so hot that it switches itself off, or ``NEVER_US``.
    """

    regimes: tuple[Regime, ...]
    shutdown_us: int = NEVER_US

    def at(self, at_us: int) -> Regime:
        """The regime in force at ``at_us``."""
        if len(self.regimes) == 1:
            return self.regimes[0]
        return self.regimes[bisect_right(self.regimes, at_us, key=lambda r: r.start_us) - 1]

    def next_us(self, at_us: int) -> int:
        """When the next regime begins after ``at_us``; ``NEVER_US`` if the present one stays."""
        if len(self.regimes) == 1:
            return NEVER_US
        starts = (regime.start_us for regime in self.regimes)
        return next((start_us for start_us in starts if start_us > at_us), NEVER_US)

    def energy_mj(self, until_us: int) -> int:
        """Energy from the plan's start until ``until_us``: the integral of the noiseless power."""
        if len(self.regimes) == 1:  # as it is nearly always
            only = self.regimes[0]
            lasted_us = until_us - only.start_us
            return only.power_mw * lasted_us // 1_000_000 if lasted_us > 0 else 0
        total = sum(regime.power_mw * lasted_us for regime, lasted_us in self.spans(until_us))
        return total // 1_000_000

    def limited_us(self, limit: Limit, until_us: int) -> int:
        """How long ``limit`` was in force from the plan's start until ``until_us``."""
        return sum(lasted for regime, lasted in self.spans(until_us) if regime.limit is limit)

    def spans(self, until_us: int) -> Iterator[tuple[Regime, int]]:
        """Each regime with how long it lasts, in microseconds, until ``until_us``."""
        ends = [regime.start_us for regime in self.regimes[1:]] + [until_us]
        for regime, end_us in zip(self.regimes, ends, strict=True):
            yield regime, max(0, min(end_us, until_us) - regime.start_us)


class VideoClocks(dict[int, int]):
    """The video clock by the SM clock, with which it goes between its two ends."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._clocks = profile.clocks

    def __missing__(self, sm_mhz: int) -> int:
        clocks = self._clocks
        share = (sm_mhz - clocks.idle_mhz) / (clocks.max_mhz - clocks.idle_mhz)
        spread = clocks.video_max_mhz - clocks.video_idle_mhz
        video = self[sm_mhz] = round(clocks.video_idle_mhz + spread * max(0.0, share))
        return video


def _clock_for(profile: Profile, load: float, power_mw: float) -> int:
    """The highest clock step at which a GPU under ``load`` draws at most ``power_mw``."""
    clocks, power = profile.clocks, profile.power
    dynamic_mw = (power.full_load_mw - power.idle_mw) * load
    share = max(0.0, (power_mw - power.idle_mw) / dynamic_mw)
    clock: float = clocks.max_mhz * share ** (1 / clocks.power_exponent)
    stepped: int = int(clock + 1e-6) // clocks.step_mhz * clocks.step_mhz
    return max(clocks.min_mhz, min(clocks.max_mhz, stepped))


def _power_at(profile: Profile, load: float, clock_mhz: int) -> int:
    """Power drawn under ``load`` at a clock."""
    clocks, power = profile.clocks, profile.power
    share = (clock_mhz / clocks.max_mhz) ** clocks.power_exponent
    power_mw: float = power.idle_mw + (power.full_load_mw - power.idle_mw) * load * share
    return round(power_mw)


def _braked_mhz(profile: Profile) -> int:
    """The power brake lowers clocks "by a factor of 2 or more" (nvml.h): by 2 here."""
    clocks = profile.clocks
    return max(clocks.min_mhz, clocks.max_mhz // 2 // clocks.step_mhz * clocks.step_mhz)


def wanted_mw(profile: Profile, conditions: Conditions) -> int:
    """The power that a GPU would draw if neither heat nor the brake held it."""
    if conditions.load <= 0:
        return profile.power.idle_mw
    return _power_at(profile, conditions.load, _free_clock(profile, conditions)[0])


def _free_clock(profile: Profile, conditions: Conditions) -> tuple[int, Limit]:
    """The clock under a load that neither heat nor the brake holds, and what keeps it there."""
    clock = _clock_for(profile, conditions.load, conditions.power_limit_mw)
    limit = Limit.POWER if clock < profile.clocks.max_mhz else Limit.NONE
    highest_mhz = conditions.sm_range.highest_mhz
    if highest_mhz and clock > highest_mhz:
        return highest_mhz, Limit.SETTING
    return clock, limit


def plan(profile: Profile, conditions: Conditions, start_us: int, start_c: float) -> Plan:
    """Solve the regimes of a GPU that has ``start_c`` at ``start_us``."""
    thermal, clocks = profile.thermal, profile.clocks
    airflow = max(_MIN_AIRFLOW, conditions.airflow)
    k_per_mw = thermal.resistance_k_per_w / airflow / 1000
    tau_us = thermal.time_constant_s / airflow * 1e6

    def regime(at_us: int, from_c: float, power_mw: int, clock_mhz: int, limit: Limit) -> Regime:
        end_c = conditions.air_c + k_per_mw * power_mw
        return Regime(at_us, from_c, end_c, tau_us, power_mw, clock_mhz, limit)

    if conditions.load <= 0:
        clock, power_mw, limit = clocks.idle_mhz, profile.power.idle_mw, Limit.IDLE
        clock = max(clock, conditions.sm_range.lowest_mhz)
    else:
        clock, limit = _free_clock(profile, conditions)
        if conditions.braked and clock > (braked_mhz := _braked_mhz(profile)):
            clock, limit = braked_mhz, Limit.BRAKE
        power_mw = _power_at(profile, conditions.load, clock)
    free = regime(start_us, start_c, power_mw, clock, limit)
    hot_us = free.crossing_us(thermal.max_operating_c)
    if hot_us == NEVER_US or (start_c >= thermal.max_operating_c >= free.end_c):
        return Plan((free,))

    before = (free,) if hot_us > start_us else ()
    hot_c = max(start_c, float(thermal.max_operating_c))
    lowest_mw = (
        _power_at(profile, conditions.load, clocks.min_mhz)
        if conditions.load > 0
        else profile.power.idle_mw
    )
    balance_mw = round((thermal.max_operating_c - conditions.air_c) / k_per_mw)
    if balance_mw >= lowest_mw:
        cooler = regime(hot_us, hot_c, balance_mw, 0, Limit.HEAT)
        slowed = _clock_for(profile, conditions.load, balance_mw)
        pinned = Regime(
            hot_us, hot_c, thermal.max_operating_c, cooler.tau_us, balance_mw, slowed, Limit.HEAT
        )
        return Plan((*before, pinned))

    lowest = regime(hot_us, hot_c, lowest_mw, clocks.min_mhz, Limit.HEAT)
    regimes = [*before, lowest]
    slowdown_us = lowest.crossing_us(thermal.slowdown_c)
    if slowdown_us != NEVER_US:
        at_c = max(hot_c, float(thermal.slowdown_c))
        hardware = regime(slowdown_us, at_c, lowest_mw, clocks.min_mhz, Limit.HARDWARE_HEAT)
        if slowdown_us == hot_us:
            regimes.pop()
        regimes.append(hardware)
    return Plan(tuple(regimes), lowest.crossing_us(thermal.shutdown_c))
