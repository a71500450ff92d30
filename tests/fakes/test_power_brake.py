"""The power brake: who pulls it, what it does to a GPU, and how it shows."""

from __future__ import annotations

from typing import Any

from fakes.hardware.thermal import Limit

SECOND = 1_000_000


def test_a_brake_halves_the_clock_and_the_power_falls_with_it(rig: Any) -> None:
    """The reason is told beside it, and the time in its counter; let go, all is as before."""
    nvml, gpu, handle = rig.nvml, rig.node.gpus[0], rig.handle(0)
    before = gpu.power_mw(rig.at_us)
    gpu.set_brake("test", rig.at_us, on=True)
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) == 990
    assert nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) == 0x80 | 0x8
    assert gpu.limit(rig.at_us) is Limit.BRAKE
    assert gpu.power_mw(rig.at_us) < before / 2
    rig.at_us += 3 * SECOND
    (field,) = nvml.nvmlDeviceGetFieldValues(handle, [271])
    assert field.value.ullVal == 3_000_000_000
    gpu.set_brake("test", rig.at_us, on=False)
    rig.at_us += 9 * SECOND
    assert nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) == 1980
    assert nvml.nvmlDeviceGetFieldValues(handle, [271])[0].value.ullVal == 3_000_000_000


def test_an_idle_gpu_tells_its_brake_as_well(make_rig: Any) -> None:
    """There is nothing to lower, but the pin is pulled."""
    rig = make_rig(idle=True)
    rig.node.gpus[0].set_brake("test", rig.at_us, on=True)
    assert rig.nvml.nvmlDeviceGetCurrentClocksEventReasons(rig.handle(0)) == 0x1 | 0x80 | 0x8


def test_two_who_pull_it_must_both_let_go(rig: Any) -> None:
    """It is on as long as anybody pulls it."""
    gpu = rig.node.gpus[0]
    gpu.set_brake("one", SECOND, on=True)
    gpu.set_brake("two", 2 * SECOND, on=True)
    gpu.set_brake("one", 3 * SECOND, on=False)
    assert gpu.conditions.braked
    gpu.set_brake("two", 4 * SECOND, on=False)
    assert not gpu.conditions.braked
    assert gpu.braked_us(9 * SECOND) == 3 * SECOND


def test_a_supply_brakes_when_more_is_wanted_and_lets_go_when_less_is(rig: Any) -> None:
    """What the GPUs want decides, not what they draw while braked: else it would flutter."""
    world, node = rig.world, rig.node
    wanted = sum(gpu.wanted_mw for gpu in node.gpus)
    node.supply.give(wanted, world.now_us)
    assert not any(gpu.conditions.braked for gpu in node.gpus)
    node.supply.give(wanted - 1, world.now_us)
    assert all(gpu.conditions.braked for gpu in node.gpus)
    assert sum(gpu.power_mw(world.now_us) for gpu in node.gpus) < wanted
    (process,) = node.processes_on(node.gpus[1])
    node.end_process(process.pid, world.now_us)
    assert not any(gpu.conditions.braked for gpu in node.gpus)


def test_a_lower_limit_relieves_a_supply(rig: Any) -> None:
    """The cap that an operator sets is a remedy."""
    node = rig.node
    node.supply.give(1_000_000, rig.at_us)
    assert node.gpus[0].conditions.braked
    for gpu in node.gpus:
        gpu.set_power_limit(450_000, rig.at_us)
    assert not node.gpus[0].conditions.braked
