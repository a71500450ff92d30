"""What a reset, a reboot and a power cycle mend, and when they are refused."""

import pytest

from fakes.actions import Effect
from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Lost
from fakes.hardware.recovery import (
    POWER_CYCLE_US,
    REBOOT_US,
    Refusal,
    power_cycle,
    power_off,
    power_on,
    reboot,
    reset_gpu,
)
from fakes.jobs.process import JobSpec
from fakes.node import Node, Power
from fakes.profile import load_profile
from fakes.world import World

SECOND_US = 1_000_000


MONITORS = ("dcgm-exporter", "nvidia-dcgm")


@pytest.fixture
def world():
    """Two nodes; nothing on the first one has its GPUs open."""
    world = World([Node("n0", load_profile("h100-sxm"), 2), Node("n1", load_profile("l4"), 1)])
    for name in MONITORS:
        services = world.nodes["n0"].services
        services.end(services.find(name), world)
    return world


@pytest.fixture
def node(world):
    return world.nodes["n0"]


@pytest.fixture
def done(world):
    """The actions that were noted."""
    found = []
    for one in world.nodes.values():
        one.actions.listen(found.append)
    return found


def test_a_reset_mends_a_gpu_that_asks_for_it(node, done):
    """Volatile counters are at zero, a pending row is in use, aggregate counters stay."""
    gpu = node.gpus[0]
    gpu.persistence = False
    raise_xid(node, gpu, 48, 0)
    gpu.remapped_rows.pending = True
    gpu.set_power_limit(300_000, 0)
    assert reset_gpu(node, gpu, SECOND_US).refusal is None
    assert not gpu.reset_required
    assert not gpu.remapped_rows.pending
    assert gpu.memory_errors.volatile_uncorrected == 0
    assert gpu.memory_errors.aggregate_uncorrected == 1
    assert gpu.power_limit_mw == gpu.profile.power.limit_mw
    assert [(action.effect, action.gpu, action.ok) for action in done] == [
        (Effect.RESET_GPU, 0, True)
    ]


@pytest.mark.parametrize("refusal", list(Refusal))
def test_a_reset_is_refused_and_mends_nothing(node, done, refusal):
    """While somebody uses the GPU, while the driver holds it, and when it is off the bus."""
    gpu = node.gpus[0]
    raise_xid(node, gpu, 119, 0)
    gpu.persistence = refusal is Refusal.PERSISTENCE
    if refusal is Refusal.IN_USE:
        node.start_job(JobSpec("train", (0,)), 0)
    if refusal is Refusal.LOST:
        gpu.lost = Lost(0)
    assert reset_gpu(node, gpu, SECOND_US).refusal is refusal
    assert gpu.reset_required
    assert [action.ok for action in done] == [False]


@pytest.mark.parametrize("name", MONITORS)
def test_a_reset_is_refused_while_a_monitor_has_the_gpus_open(world, node, name):
    """DCGM's host engine and its exporter: in use until they are stopped."""
    gpu = node.gpus[0]
    gpu.persistence = False
    node.services.start(name, world)
    assert reset_gpu(node, gpu, SECOND_US).refusal is Refusal.IN_USE
    node.services.stop(name, world)
    assert reset_gpu(node, gpu, SECOND_US).refusal is None


def test_a_reboot_ends_everything_and_renews_the_gpus(world, node, done):
    """It takes minutes; a GPU off the bus stays off."""
    node.start_job(JobSpec("train", (0, 1)), 0)
    raise_xid(node, node.gpus[0], 119, 0)
    raise_xid(node, node.gpus[1], 79, 0)
    reboot(world, node)
    assert node.power is Power.BOOTING
    assert not node.processes
    world.advance(REBOOT_US - 1)
    assert not node.is_up
    world.advance(REBOOT_US)
    assert node.is_up
    assert not node.gpus[0].reset_required
    assert node.gpus[1].lost is not None
    assert node.booted_us == REBOOT_US
    assert [line.text.split()[0] for line in node.kernel_log.lines][-2:] == ["Linux", "NVRM:"]
    assert [action.effect for action in done] == [Effect.REBOOT]
    assert world.nodes["n1"].is_up


def test_a_power_cycle_brings_back_a_gpu_off_the_bus(world, node):
    """Only taking the power does."""
    raise_xid(node, node.gpus[1], 79, 0)
    power_cycle(world, node)
    world.advance(POWER_CYCLE_US)
    assert node.is_up
    assert node.gpus[1].lost is None


def test_a_node_that_is_off_stays_off_until_it_is_turned_on(world, node):
    """Turning it on takes as long as a boot."""
    power_off(world, node)
    world.advance(10 * REBOOT_US)
    assert node.power is Power.OFF
    power_on(world, node)
    world.advance(11 * REBOOT_US)
    assert node.is_up


def test_the_last_reboot_counts(world, node):
    """One that begins while another is under way begins anew."""
    reboot(world, node)
    world.advance(REBOOT_US // 2)
    reboot(world, node)
    world.advance(REBOOT_US)
    assert not node.is_up
    world.advance(2 * REBOOT_US)
    assert node.is_up
