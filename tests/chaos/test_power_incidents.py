"""Each fault of power: what gputui says of it, how fast, and that healing it is seen."""

from __future__ import annotations

import pytest

from gputui.model import Action, Severity


def test_a_brake_on_one_gpu_is_its_own(watched):
    """Its clocks fall to half, at once; the others run on."""
    run = watched()
    run.run(5)
    fault = run.inject("power", gpu=3, brake=True)
    run.run(10)
    told = run.the("GpuPowerBrake")
    assert told.took_s <= 2
    incident = told.incident
    assert (incident.gpu, incident.cause, incident.action) == (3, "supply", Action.CHECK_POWER)
    assert incident.severity is Severity.CRITICAL
    assert "990 of 1980 MHz" in incident.evidence[0]
    assert run.kinds() == ["GpuPowerBrake"]

    run.heal(fault.id)
    run.run(70)
    assert not run.incidents


def test_a_brake_on_all_gpus_is_the_racks(watched):
    """One incident of the node, not eight."""
    run = watched()
    run.run(5)
    run.inject("power", gpu="n0/*", brake=True)
    run.run(10)
    told = run.the("GpuPowerBrake")
    assert told.took_s <= 2
    assert (told.incident.subject, told.incident.cause) == ("node:n0", "rack")
    assert run.kinds() == ["GpuPowerBrake"]


def test_a_supply_that_is_asked_for_too_much_brakes_all(watched):
    """Eight H100 at full load want more than 4 kW; idle ones do not."""
    run = watched()
    run.run(5)
    fault = run.inject("power", node="n0", supply="4kW")
    run.run(10)
    told = run.the("GpuPowerBrake")
    assert told.took_s <= 2
    assert (told.incident.subject, told.incident.cause) == ("node:n0", "rack")

    run.heal(fault.id)
    run.run(70)
    assert not run.incidents


def test_a_supply_that_suffices_brakes_nobody(watched):
    """Idle GPUs want little, and healthy load less than there is."""
    run = watched(idle=True)
    run.run(5)
    run.inject("power", node="n0", supply="4kW")
    run.run(60)
    assert not run.opened()
    run = watched()
    run.run(5)
    run.inject("power", node="n0", supply="6kW")
    run.run(60)
    assert not run.opened()


def test_a_limit_below_its_peers_is_configuration(watched):
    """Information: a job waits for the slowest GPU. The command sets it right."""
    run = watched()
    run.run(5)
    fault = run.inject("power", gpu=3, cap="250W")
    run.run(10)
    told = run.the("GpuPowerCapped")
    assert told.took_s <= 3
    incident = told.incident
    assert (incident.gpu, incident.cause) == (3, "configuration")
    assert incident.severity is Severity.INFO
    assert "nvidia-smi -i 3 -pl 700" in incident.action_text

    run.heal(fault.id)
    run.run(70)
    assert not run.incidents


@pytest.mark.parametrize(("gpu", "cap"), [("n0/*", "250W"), ("n0/3", "600W")])
def test_caps_that_cost_nobody_anything_are_not_told(watched, gpu, cap):
    """All alike, or one by a little: that is how fleets are run."""
    run = watched()
    run.run(5)
    run.inject("power", gpu=gpu, cap=cap)
    run.run(60)
    assert not run.opened()
