"""Each fault of heat: what gputui says of it, how fast, and that healing it is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.hardware.thermal import NEVER_US, Limit
from gputui.model import Action, Severity


def reaches_limit_s(run, index):
    """When a GPU reaches the highest temperature at which it may run, in seconds."""
    gpu = run.gpu(index)
    return gpu.regime(run.world.now_us).crossing_us(gpu.profile.thermal.max_operating_c) / 1e6


def test_one_blocked_airway_is_told_when_it_slows_the_gpu(watched):
    """Within three samples of the slowdown; over some time after the air is back."""
    run = watched()
    run.run(5)
    fault = run.inject("thermal", gpu=3, airflow="40%")
    hot_s = reaches_limit_s(run, 3)
    run.run(300)
    told = run.the("GpuThermalThrottle")
    assert 0 <= told.at_s - hot_s <= 3
    assert (told.incident.gpu, told.incident.cause) == (3, "heat-sink")
    assert run.kinds() == ["GpuThermalThrottle"]

    run.heal(fault.id)
    run.run(900)
    assert not run.incidents


@pytest.mark.parametrize("flow", ["airflow", "coolant_flow"])
def test_all_hot_at_once_is_one_incident_of_the_node(watched, flow):
    """Too little air, or coolant, for everybody."""
    run = watched()
    run.run(5)
    run.inject("thermal", gpu="n0/*", **{flow: "40%"})
    run.run(120)
    assert run.the("GpuThermalThrottle").incident.cause == "room"
    assert run.kinds() == ["GpuThermalThrottle"]


def test_warm_coolant_heats_all(watched):
    """A loop that gives too little heat away: the GPUs slow down together."""
    run = watched()
    run.run(5)
    fault = run.inject("thermal", gpu="n0/*", coolant_temp="75C")
    run.run(120)
    assert run.gpu(0).limit(run.world.now_us) is Limit.HEAT
    told = run.the("GpuThermalThrottle")
    assert (told.incident.subject, told.incident.cause) == ("node:n0", "room")
    run.heal(fault.id)
    run.run(900)
    assert not run.incidents


def test_warm_air_is_told_before_anything_slows_down(watched):
    """The inlet's sensor, against the band."""
    run = watched()
    run.run(5)
    fault = run.inject("thermal", node="n0", inlet="35C")
    run.run(10)
    told = run.the("InletOutOfBand")
    assert told.took_s <= 3
    incident = told.incident
    assert (incident.subject, incident.cause) == ("node:n0", "room")
    assert incident.action is Action.CHECK_COOLING
    assert "35 C at the inlet, above 27 C" in incident.cause_text
    assert run.kinds() == ["InletOutOfBand"]

    run.heal(fault.id)
    run.run(200)
    assert not run.incidents


def test_air_so_warm_that_all_slow_down_is_one_incident(watched):
    """The heat of the GPUs hangs under that of the room."""
    run = watched()
    run.run(5)
    run.inject("thermal", node="n0", inlet="60C")
    run.run(120)
    assert run.kinds() == ["InletOutOfBand"]
    assert [one.kind for one in run.incidents] == ["InletOutOfBand", "GpuThermalThrottle"]


def test_a_gpu_that_switched_itself_off_is_one_incident_with_its_cause(watched):
    """To the driver it fell off the bus: that, and the heat before, hang under what it was."""
    run = watched()
    run.run(5)
    run.inject("thermal", gpu=3, airflow="4%")
    off_us = run.gpu(3).shutdown_us
    assert off_us < NEVER_US
    run.run(off_us / 1e6 - run.now_s + 5)
    told = run.the("GpuThermalShutdown")
    assert told.at_s - off_us / 1e6 <= 1
    incident = told.incident
    assert (incident.gpu, incident.cause) == (3, "heat-sink")
    assert (incident.severity, incident.action) == (Severity.CRITICAL, Action.CHECK_COOLING)
    assert run.kinds() == ["GpuThermalShutdown"]
    under = {one.kind for one in run.incidents if one.parent is not None}
    assert {"GpuThermalThrottle", "GpuLost", "GpuXid"} <= under
    run.run(1800)
    assert run.kinds() == ["GpuThermalShutdown"]


def test_gpus_that_the_room_switched_off_are_one_incident(watched):
    """All of them, one after the other: the room's, of the node."""
    run = watched(gpus=4)
    run.run(5)
    run.inject("thermal", gpu="n0/*", airflow="4%")
    run.run(600)
    assert all(run.gpu(index).lost for index in range(4))
    assert run.kinds() == ["GpuThermalShutdown"]
    (root,) = [one for one in run.incidents if one.parent is None]
    assert (root.subject, root.cause) == ("node:n0", "room")


def test_a_gpu_lost_in_the_cool_is_no_shutdown(watched):
    """A loss without heat before it is the bus's."""
    run = watched()
    run.run(5)
    run.inject("lost", gpu=3)
    run.run(10)
    assert run.kinds() == ["GpuLost"]
    assert not run.opened("GpuThermalShutdown")


@pytest.mark.parametrize("reading", ["0C", "255C", "110C", "92C"])
def test_a_sensor_that_lies_is_not_taken_for_heat(watched, reading):
    """Nothing, more than there is, or beyond its limits on a GPU that does not slow down."""
    run = watched()
    run.run(5)
    fault = run.inject("thermal", gpu=3, sensor=reading)
    run.run(10)
    told = run.the("ThermalSensorFault")
    assert told.took_s <= 3
    assert (told.incident.gpu, told.incident.cause) == (3, "sensor")
    assert run.kinds() == ["ThermalSensorFault"]

    run.heal(fault.id)
    run.run(120)
    assert not run.incidents


def test_a_jump_beyond_physics_is_the_sensors(watched):
    """A chip does not cool by forty degrees in a second."""
    run = watched()
    run.run(5)
    run.inject("thermal", gpu=3, sensor="15C")
    run.run(5)
    told = run.the("ThermalSensorFault")
    assert told.took_s <= 3
    assert "jumped" in told.incident.cause_text


@pytest.mark.parametrize("model", ["a100-sxm", "h100-sxm", "l4"])
def test_healthy_load_is_no_incident(watched, model):
    """An hour at work, and a job that ends and starts again."""
    run = watched(model=model)
    run.run(3600)
    for pid in list(run.node.processes):
        run.node.end_process(pid, run.world.now_us)
    run.changed()
    run.run(600)
    assert not run.opened()


def test_a_card_whose_fan_stands_still_is_told_as_that(watched):
    """A card has a fan of its own, which says its speed."""
    run = watched(gpus=2)
    for gpu in run.node.gpus:
        gpu.profile = replace(gpu.profile, has_fan=True)
    run.run(10)
    run.inject("thermal", gpu=0, fan="0%")
    run.run(120)
    incident = run.opened("GpuThermalThrottle")[0].incident
    assert (incident.gpu, incident.cause) == (0, "fan")
