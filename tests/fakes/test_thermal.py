"""Heat, power and clocks of a GPU, as properties."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hardware.thermal import NEVER_US, Conditions, Limit, plan
from fakes.profile import load_profile, models

SECOND = 1_000_000
H100 = load_profile("h100-sxm")

loads = st.floats(0.05, 1.0)
airflows = st.floats(0.02, 1.5)
caps = st.integers(H100.power.limit_min_mw, H100.power.limit_max_mw)
moments = st.integers(0, 3600 * SECOND)
starts = st.floats(30, 86)


def conditions(load: float, airflow: float, cap_mw: int) -> Conditions:
    return Conditions(load, airflow, H100.thermal.air_c, cap_mw)


@given(loads, airflows, airflows, caps, moments)
def test_less_air_is_never_cooler(
    load: float, one: float, other: float, cap: int, at_us: int
) -> None:
    """At any moment after the same cold start, the GPU with less air is at least as warm."""
    less, more = sorted((one, other))
    air_c = H100.thermal.air_c
    cool = plan(H100, conditions(load, more, cap), 0, air_c).at(at_us).temperature_c(at_us)
    warm = plan(H100, conditions(load, less, cap), 0, air_c).at(at_us).temperature_c(at_us)
    assert warm >= cool - 1e-6


@given(loads, caps, starts)
def test_less_air_does_not_heat_the_first_second_faster(
    load: float, cap: int, start_c: float
) -> None:
    """Heat capacity is the same: over the first second both rise alike, to a tenth of a degree a
    kelvin of difference in what the air carries off.
    """
    full = plan(H100, conditions(load, 1.0, cap), 0, start_c).at(SECOND).temperature_c(SECOND)
    half = plan(H100, conditions(load, 0.5, cap), 0, start_c).at(SECOND).temperature_c(SECOND)
    carried_off_k = abs(start_c - H100.thermal.air_c) / H100.thermal.time_constant_s
    assert abs(half - full) <= carried_off_k + 0.1


@given(loads, airflows, caps, moments, starts)
def test_a_power_cap_is_kept(
    load: float, airflow: float, cap: int, at_us: int, start_c: float
) -> None:
    """Power never exceeds the cap, unless even the lowest clock needs more."""
    regime = plan(H100, conditions(load, airflow, cap), 0, start_c).at(at_us)
    assert regime.power_mw <= cap or regime.sm_clock_mhz == H100.clocks.min_mhz


@given(st.floats(0.8, 1.0), st.floats(0.06, 0.25), starts)
def test_heat_limited_means_pinned_and_slower(load: float, airflow: float, start_c: float) -> None:
    """A busy GPU with a quarter of its air or less ends at one temperature and a lower clock, for
    as long as nothing changes.
    """
    solved = plan(H100, conditions(load, airflow, H100.power.limit_mw), 0, start_c)
    cool, pinned = solved.regimes
    assert pinned.limit is Limit.HEAT
    assert pinned.sm_clock_mhz < cool.sm_clock_mhz
    assert pinned.power_mw < cool.power_mw
    for hours in (0, 1, 24 * 30):
        at_us = pinned.start_us + hours * 3600 * SECOND
        assert solved.at(at_us).temperature_c(at_us) == H100.thermal.max_operating_c
    assert solved.shutdown_us == NEVER_US


@given(loads, airflows, caps, starts, st.lists(moments, min_size=2, max_size=5))
def test_energy_is_the_integral_of_power(
    load: float, airflow: float, cap: int, start_c: float, moments_us: list[int]
) -> None:
    """Energy between two moments equals power summed over short steps between them."""
    solved = plan(H100, conditions(load, airflow, cap), 0, start_c)
    until_us = max(moments_us)
    steps = 2000
    summed_mj = sum(
        solved.at(until_us * (2 * i + 1) // (2 * steps)).power_mw * until_us / steps / 1e6
        for i in range(steps)
    )
    one_step_mj = H100.power.limit_max_mw * until_us / steps / 1e6
    assert solved.energy_mj(until_us) == pytest.approx(summed_mj, abs=3 * one_step_mj + 2)


@given(airflows, starts, moments)
def test_temperature_is_continuous_where_regimes_meet(
    airflow: float, start_c: float, at_us: int
) -> None:
    """A change of regime bends the temperature; it never makes it jump."""
    solved = plan(H100, conditions(1.0, airflow, H100.power.limit_mw), 0, start_c)
    for before, after in zip(solved.regimes, solved.regimes[1:], strict=False):
        assert before.temperature_c(after.start_us) == pytest.approx(after.start_c, abs=0.01)


def test_a_blocked_airway_reaches_the_shutdown() -> None:
    """With next to no air even the lowest clock is too hot, and the plan says when it ends."""
    solved = plan(H100, conditions(1.0, 0.01, H100.power.limit_mw), 0, 60.0)
    assert solved.shutdown_us < NEVER_US
    before = solved.at(solved.shutdown_us)
    assert before.limit is Limit.HARDWARE_HEAT
    assert before.temperature_c(solved.shutdown_us) == pytest.approx(
        H100.thermal.shutdown_c, abs=0.01
    )


@pytest.mark.parametrize("model", models())
def test_a_full_load_is_cool_enough_at_the_designed_airflow(model: str) -> None:
    """Every model, as built, runs its full load without being limited by heat."""
    profile = load_profile(model)
    healthy = replace(conditions(1.0, 1.0, profile.power.limit_mw), air_c=profile.thermal.air_c)
    assert len(plan(profile, healthy, 0, profile.thermal.air_c).regimes) == 1
