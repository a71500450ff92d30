"""Faults of services and of whole nodes, and what takes them back."""

import pytest

from chaos.fault import FaultError, parse_fault
from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Run
from fakes.hardware.fabric import FabricState
from fakes.node import Power
from fakes.system.services import StartError, State

SECOND_US = 1_000_000


class Played:
    """A run of two nodes under Slurm, by hand."""

    def __init__(self):
        fleet = Fleet(nodes=2, gpus=2, scheduler="slurm")
        self.run = Run(build_world(Given(fleet, (training(fleet),))))
        self.world = self.run.world
        self.node = self.world.nodes["n0"]
        self.done = []
        self.node.actions.listen(self.done.append)

    def inject(self, family, **arguments):
        words = {
            "node": "n0",
            **{name: str(value).replace("True", "true") for name, value in arguments.items()},
        }
        return self.run.inject(parse_fault(family, words)).id

    def later(self, seconds):
        self.run.advance(self.world.now_us + round(seconds * SECOND_US))

    @property
    def states(self):
        return {gpu.fabric.state for gpu in self.node.gpus}


@pytest.fixture
def played():
    played = Played()
    played.later(10)
    return played


def test_a_stopped_service_is_started_by_whoever_mends_it(played):
    """It is no action that it stopped; starting it ends the trouble, and healing finds it well."""
    fault = played.inject("service", stop="nvidia-fabricmanager")
    assert played.states == {FabricState.IN_PROGRESS}
    assert played.done == []
    played.node.services.start("nvidia-fabricmanager", played.world)
    played.later(6)
    assert played.states == {FabricState.COMPLETED}
    played.run.heal(fault)
    assert played.node.services.is_active("nvidia-fabricmanager")


def test_nvidias_daemons_fail_without_the_driver(played):
    """They have failed, and are nobody's action; healing loads the driver, and starts them."""
    daemons = ("nvidia-dcgm", "nvidia-fabricmanager", "nvidia-persistenced")
    fault = played.inject("driver", unload=True)
    played.later(10)
    services = played.node.services
    assert {services.find(name).state for name in daemons} == {State.FAILED}
    assert services.is_active("slurmd")
    assert played.done == []
    played.run.heal(fault)
    played.later(10)
    assert {services.find(name).state for name in daemons} == {State.ACTIVE}
    assert played.states == {FabricState.COMPLETED}


def test_healing_starts_a_stopped_service(played):
    """And with it comes what hangs on it."""
    played.run.heal(played.inject("service", stop="nvidia-fabricmanager"))
    played.later(6)
    assert played.states == {FabricState.COMPLETED}


def test_a_failed_service_is_started_again_where_its_unit_says_so(played):
    """Containerd is; slurmd is not."""
    played.inject("service", fail="containerd")
    played.inject("service", fail="slurmd")
    played.later(6)
    assert played.node.services.is_active("containerd")
    assert played.node.services.find("slurmd").state is State.FAILED


def test_a_broken_service_cannot_be_started(played):
    """Until it is healed."""
    fault = played.inject("service", broken="nvidia-dcgm")
    with pytest.raises(StartError):
        played.node.services.start("nvidia-dcgm", played.world)
    played.run.heal(fault)
    assert played.node.services.is_active("nvidia-dcgm")


def test_a_service_that_is_not_there_is_refused(played):
    """With the one that was meant."""
    with pytest.raises(FaultError, match=r"no service 'nvidia-fabricmanger' on n0. Did you mean"):
        played.inject("service", stop="nvidia-fabricmanger")


def test_a_node_without_power_is_down_until_it_is_given_back(played):
    """Its jobs are gone, the scheduler has it down; healed it boots."""
    fault = played.inject("node", down=True)
    assert played.node.power is Power.OFF
    assert not played.node.processes
    assert played.world.cluster.nodes["n0"].down is not None
    assert not played.node.services.is_active("sshd")
    played.later(1000)
    assert played.node.power is Power.OFF
    played.run.heal(fault)
    played.later(300)
    assert played.node.is_up
    assert played.node.services.is_active("sshd")
    assert played.done == []


def test_a_node_that_crashes_comes_up_by_itself(played):
    """After four minutes, in another boot."""
    played.inject("node", reboot=True)
    played.later(239)
    assert not played.node.is_up
    played.later(2)
    assert played.node.is_up
    assert played.node.boots == 1


def test_a_stuck_node_is_missed_by_the_scheduler_in_its_time(played):
    """SlurmdTimeout; healed it is taken back."""
    fault = played.inject("node", hung=True)
    played.later(299)
    assert played.world.cluster.nodes["n0"].down is None
    played.later(2)
    assert played.world.cluster.nodes["n0"].down is not None
    played.run.heal(fault)
    assert played.world.cluster.nodes["n0"].down is None


def test_a_driver_that_is_not_loaded_is_no_module_either(played):
    """Whoever loads it has mended it; healing finds it loaded."""
    fault = played.inject("driver", unload=True)
    assert "nvidia" not in played.node.modules
    played.node.modules.load(played.node, played.world, "nvidia_uvm")
    assert played.node.disturbances == ()
    played.run.heal(fault)
    assert "nvidia" in played.node.modules
