"""Links, the fabric and an NVML that misbehaves, read by nvidia-ml-py on both carriers."""

from __future__ import annotations

import pynvml
import pytest

from fakes.driver.disturbance import Hang, Misreading, Refusal, Slowness, calm, disturb
from fakes.hardware.fabric import FabricState, FabricTrouble
from fakes.hardware.pcie import AerError
from fakes.nvml.answer import FOREVER_US, INIT_CALL, Call, answer


def test_a_link_that_is_down_is_told_everywhere(rig):
    """State, field 165; its neighbours are up, and what it leads to is known still."""
    rig.node.gpus[0].nvlinks[7].up = False
    gpu = rig.handle()
    assert [pynvml.nvmlDeviceGetNvLinkState(gpu, link) for link in (6, 7, 8)] == [1, 0, 1]
    fields = pynvml.nvmlDeviceGetFieldValues(gpu, [(165, 7), (165, 8)])
    assert [one.value.uiVal for one in fields] == [0, 1]
    assert pynvml.nvmlDeviceGetNvLinkRemotePciInfo(gpu, 7).busId == "00000000:08:00.0"


def test_link_errors_are_counted_by_link_and_in_all(rig):
    """Counters of one link, and the fields that add them up."""
    links = rig.node.gpus[0].nvlinks
    links[3].crc, links[3].replays, links[4].replays, links[4].recoveries = 700, 5, 6, 2
    gpu = rig.handle()
    counters = [pynvml.nvmlDeviceGetNvLinkErrorCounter(gpu, 3, kind) for kind in range(4)]
    assert counters == [5, 0, 0, 700]
    totals = pynvml.nvmlDeviceGetFieldValues(gpu, [38, 45, 52, 59, (161, 4), (162, 4), (163, 3)])
    assert [one.value.ullVal for one in totals] == [0, 700, 11, 2, 6, 2, 700]


def test_a_narrow_and_slow_pcie_link_is_told(rig):
    """Width, generation, speed; the maxima are as they were. Replays and errors are counted."""
    link = rig.node.gpus[0]
    link.set_pcie(4, 3, rig.at_us)
    link.pcie.replays = 17
    link.pcie.errors[AerError.CORRECTED] = 3
    gpu = rig.handle()
    assert pynvml.nvmlDeviceGetCurrPcieLinkWidth(gpu) == 4
    assert pynvml.nvmlDeviceGetMaxPcieLinkWidth(gpu) == 16
    assert pynvml.nvmlDeviceGetCurrPcieLinkGeneration(gpu) == 3
    assert pynvml.nvmlDeviceGetMaxPcieLinkGeneration(gpu) == 5
    assert pynvml.nvmlDeviceGetPcieSpeed(gpu) == 8000
    assert pynvml.nvmlDeviceGetPcieReplayCounter(gpu) == 17
    fields = pynvml.nvmlDeviceGetFieldValues(gpu, [94, 173, 179])
    assert [one.value.uiVal for one in fields] == [17, 3, 0]


@pytest.mark.parametrize(
    ("trouble", "mask"),
    [
        (FabricTrouble.DEGRADED_BANDWIDTH, 0x1A9),
        (FabricTrouble.ROUTE_UNHEALTHY, 0x19A),
        (FabricTrouble.INCORRECT_CONFIGURATION, 0x5AA),
    ],
)
def test_the_fabric_tells_state_and_health(rig, trouble, mask):
    """Structure version 2 has the mask, version 3 a summary as well."""
    rig.node.gpus[0].fabric.trouble = trouble
    rig.node.gpus[1].fabric.state = FabricState.IN_PROGRESS
    info = pynvml.c_nvmlGpuFabricInfo_v2_t()
    pynvml.nvmlDeviceGetGpuFabricInfoV(rig.handle(), pynvml.byref(info))
    assert (info.state, info.status, info.healthMask) == (3, 0, mask)
    waiting = pynvml.c_nvmlGpuFabricInfo_v2_t()
    pynvml.nvmlDeviceGetGpuFabricInfoV(rig.handle(1), pynvml.byref(waiting))
    assert (waiting.state, waiting.healthMask) == (2, 0)


@pytest.mark.parametrize("code", [4, 9, 17, 18, 999])
def test_a_closed_way_in_is_closed_for_who_comes(rig, code):
    """Who is in goes on; who begins gets the code; afterwards all is as it was."""
    refusal = Refusal(code)
    disturb(rig.node, refusal)
    assert pynvml.nvmlDeviceGetCount() == 2
    pynvml.nvmlShutdown()
    rig.library.nvmlShutdown()
    with pytest.raises(pynvml.NVMLError) as caught:
        pynvml.nvmlInit()
    assert caught.value.value == code
    calm(rig.node, refusal)
    pynvml.nvmlInit()
    assert pynvml.nvmlDeviceGetCount() == 2


def test_a_driver_that_is_gone_refuses_everybody(rig):
    """Also those who were in."""
    disturb(rig.node, Refusal(9, inside=True))
    with pytest.raises(pynvml.NVMLError_DriverNotLoaded):
        pynvml.nvmlDeviceGetCount()


def test_one_reading_may_fail_or_be_rubbish(rig):
    """Of one GPU; the other, and other readings, are as they were."""
    gpus = rig.handle(0), rig.handle(1)
    disturb(rig.node, Misreading(0, frozenset({"nvmlDeviceGetPowerUsage"}), 999))
    disturb(rig.node, Misreading(1, frozenset({"nvmlDeviceGetMemoryInfo_v2"})))
    with pytest.raises(pynvml.NVMLError_Unknown):
        pynvml.nvmlDeviceGetPowerUsage(gpus[0])
    assert pynvml.nvmlDeviceGetPowerUsage(gpus[1]) > 100_000
    memory = pynvml.nvmlDeviceGetMemoryInfo(gpus[1], version=pynvml.nvmlMemory_v2)
    assert memory.used == 0xBADF1100BADF1100
    assert memory.version == pynvml.nvmlMemory_v2


def test_slow_calls_take_their_time_on_the_runs_clock(rig):
    """Each call to that GPU, and no other."""
    gpus = rig.handle(0), rig.handle(1)
    disturb(rig.node, Slowness(250_000, 1))
    before_us = rig.at_us
    pynvml.nvmlDeviceGetTemperature(gpus[0], pynvml.NVML_TEMPERATURE_GPU)
    assert rig.at_us == before_us
    pynvml.nvmlDeviceGetTemperature(gpus[1], pynvml.NVML_TEMPERATURE_GPU)
    assert rig.at_us == before_us + 250_000


def test_a_hang_is_an_answer_that_never_comes(make_world):
    """Of one GPU: what the driver remembers of it still answers. Of the driver: nothing does."""
    node = make_world().nodes["n0"]
    power, name = Call("nvmlDeviceGetPowerUsage", 1), Call("nvmlDeviceGetName", 1)
    hang = Hang(1)
    disturb(node, hang)
    assert answer(node, power, 0).delay_us == FOREVER_US
    assert answer(node, name, 0).code == 0
    assert answer(node, Call("nvmlDeviceGetPowerUsage", 0), 0).delay_us == 0
    calm(node, hang)
    assert answer(node, power, 0).delay_us == 0
    disturb(node, Hang())
    for call in (power, name, Call("nvmlDeviceGetCount_v2"), INIT_CALL):
        assert answer(node, call, 0).delay_us == FOREVER_US
