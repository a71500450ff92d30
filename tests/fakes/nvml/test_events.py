"""Event sets, on both carriers: what was asked for is told once, in order, and nothing else."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from fakes.driver import events as driver_events
from fakes.driver.events import EventType
from fakes.driver.xid import raise_xid, write_xid_line
from fakes.hardware.gpu import Lost
from fakes.nvml.answer import Call

MakeRig = Callable[..., Any]
SECOND = 1_000_000
NO_INSTANCE = 0xFFFFFFFF
SBE, DBE, PSTATE, XID, CLOCK = 1, 2, 4, 8, 16
ALL = SBE | DBE | XID
CANARY = 0xA5


def watch(rig: Any, types: int = ALL, gpus: tuple[int, ...] = (0, 1)) -> Any:
    """A set with events of some GPUs."""
    event_set = rig.nvml.nvmlEventSetCreate()
    for index in gpus:
        rig.nvml.nvmlDeviceRegisterEvents(rig.handle(index), types, event_set)
    return event_set


def told(rig: Any, event_set: Any) -> list[tuple[int, int, int]]:
    """GPU, type and data of all events that wait in a set."""
    found = []
    while True:
        try:
            event = rig.nvml.nvmlEventSetWait_v2(event_set, 0)
        except rig.nvml.NVMLError_Timeout:
            return found
        assert (event.gpuInstanceId, event.computeInstanceId) == (NO_INSTANCE, NO_INSTANCE)
        index = rig.nvml.nvmlDeviceGetIndex(event.device)
        found.append((index, event.eventType, event.eventData))


def xid(rig: Any, index: int, code: int) -> None:
    raise_xid(rig.node, rig.node.gpus[index], code, rig.at_us)


def test_the_types_that_a_gpu_reports(rig: Any) -> None:
    """Both sorts of ECC error, and Xids; clock and P-state changes are of older GPUs."""
    assert rig.nvml.nvmlDeviceGetSupportedEventTypes(rig.handle()) == ALL


def test_each_event_is_told_once_and_in_order(rig: Any) -> None:
    """Ten of the same code on one GPU are ten events, between those of another GPU."""
    event_set = watch(rig)
    expected = []
    for number in range(10):
        xid(rig, number % 2, 45)
        xid(rig, 0, 74)
        expected += [(number % 2, XID, 45), (0, XID, 74)]
    assert told(rig, event_set) == expected
    assert told(rig, event_set) == []
    xid(rig, 1, 45)
    assert told(rig, event_set) == [(1, XID, 45)]


def test_only_what_was_registered_is_told(rig: Any) -> None:
    """Other GPUs, other types and what came before the registration are nobody's business."""
    xid(rig, 0, 31)
    event_set = watch(rig, XID, gpus=(0,))
    errors = watch(rig, DBE, gpus=(1,))
    empty = rig.nvml.nvmlEventSetCreate()
    xid(rig, 1, 94)
    xid(rig, 0, 74)
    assert told(rig, event_set) == [(0, XID, 74)]
    assert told(rig, errors) == [(1, DBE, 0)]
    assert told(rig, empty) == []


def test_registrations_add_up(rig: Any) -> None:
    """A later one adds types and GPUs, from then on; the earlier keep what they have waiting."""
    event_set = watch(rig, XID, gpus=(0,))
    xid(rig, 0, 13)
    xid(rig, 1, 13)
    for index in (0, 1):
        rig.nvml.nvmlDeviceRegisterEvents(rig.handle(index), ALL, event_set)
    xid(rig, 1, 48)
    assert told(rig, event_set) == [(0, XID, 13), (1, DBE, 0), (1, XID, 48)]


def test_every_set_gets_its_own_copy(rig: Any) -> None:
    """What one set was told, another is told too."""
    sets = [watch(rig) for _ in range(5)]
    xid(rig, 1, 63)
    assert [told(rig, each) for each in sets] == [[(1, XID, 63)]] * 5


@pytest.mark.parametrize("types", [PSTATE, CLOCK, ALL | CLOCK, 1 << 63])
def test_a_type_too_many_registers_nothing(rig: Any, types: int) -> None:
    """NOT_SUPPORTED, and the set can still be used."""
    event_set = rig.nvml.nvmlEventSetCreate()
    with pytest.raises(rig.nvml.NVMLError_NotSupported):
        rig.nvml.nvmlDeviceRegisterEvents(rig.handle(), types, event_set)
    xid(rig, 0, 31)
    assert told(rig, event_set) == []
    rig.nvml.nvmlDeviceRegisterEvents(rig.handle(), XID, event_set)
    xid(rig, 0, 43)
    assert told(rig, event_set) == [(0, XID, 43)]


@pytest.mark.parametrize("made_up", [0, 1, 8, 0x7E0000000010, 1 << 63])
def test_what_is_no_set_is_an_invalid_argument(rig: Any, made_up: int) -> None:
    """NULL, a number, and a set that was freed: refused by everything that takes a set."""
    freed = watch(rig)
    rig.nvml.nvmlEventSetFree(freed)
    for event_set in (ctypes.c_void_p(made_up), freed):
        for function, arguments in (
            (rig.nvml.nvmlEventSetWait_v2, (event_set, 0)),
            (rig.nvml.nvmlDeviceRegisterEvents, (rig.handle(), XID, event_set)),
            (rig.nvml.nvmlEventSetFree, (event_set,)),
        ):
            with pytest.raises(rig.nvml.NVMLError_InvalidArgument):
                function(*arguments)


def test_a_wait_ends_when_its_time_is_over(rig: Any) -> None:
    """TIMEOUT, exactly so much later on the run's clock."""
    event_set = watch(rig)
    began_us = rig.at_us
    with pytest.raises(rig.nvml.NVMLError_Timeout):
        rig.nvml.nvmlEventSetWait_v2(event_set, 5000)
    assert rig.at_us == began_us + 5 * SECOND


def test_an_event_ends_a_wait(rig: Any) -> None:
    """At the moment that it happens; one that the set does not want does not."""
    event_set = watch(rig, XID, gpus=(1,))
    began_us = rig.at_us
    for seconds, index in ((1, 0), (2, 1), (3, 1)):
        rig.world.schedule(began_us + seconds * SECOND, "test", lambda i=index: xid(rig, i, 45))
    event = rig.nvml.nvmlEventSetWait_v2(event_set, 10_000)
    assert (event.eventData, rig.at_us) == (45, began_us + 2 * SECOND)
    event = rig.nvml.nvmlEventSetWait_v2(event_set, 10_000)
    assert (event.eventData, rig.at_us) == (45, began_us + 3 * SECOND)


def test_the_first_form_ends_before_the_instances(rig: Any) -> None:
    """NvmlEventSetWait writes 24 bytes: programs that link to it have no room for more."""
    event_set = watch(rig)
    xid(rig, 1, 62)
    data = (ctypes.c_ubyte * 32)(*[CANARY] * 32)
    assert rig.library.nvmlEventSetWait(event_set, data, 0) == 0
    device, kind, code = (ctypes.c_uint64 * 3).from_buffer(data)
    assert device == ctypes.cast(rig.handle(1), ctypes.c_void_p).value
    assert (kind, code) == (XID, 62)
    assert bytes(data)[24:] == bytes([CANARY]) * 8


def test_a_wait_that_fails_writes_nothing(rig: Any) -> None:
    """TIMEOUT leaves the caller's structure alone; a missing one is an invalid argument."""
    event_set = watch(rig)
    data = (ctypes.c_ubyte * 32)(*[CANARY] * 32)
    assert rig.library.nvmlEventSetWait_v2(event_set, data, 0) == 10
    assert bytes(data) == bytes([CANARY]) * 32
    assert rig.library.nvmlEventSetWait_v2(event_set, None, 0) == 2


def test_of_a_lost_gpu_its_last_events_are_told_first(rig: Any) -> None:
    """Xid 79 reaches whoever waits; then the set says that the GPU is lost, at once and always.

    A set without that GPU goes on as before; and the lost one takes no new registration.
    """
    nvml = rig.nvml
    event_set, other, held = watch(rig), watch(rig, gpus=(0,)), rig.handle(1)
    xid(rig, 1, 79)
    event = nvml.nvmlEventSetWait_v2(event_set, 1000)
    assert event.eventData == 79
    assert rig.library.nvmlDeviceGetIndex(event.device, ctypes.byref(ctypes.c_uint())) == 15
    began_us = rig.at_us
    for _ in range(3):
        with pytest.raises(nvml.NVMLError_GpuIsLost):
            nvml.nvmlEventSetWait_v2(event_set, 1000)
    assert rig.at_us == began_us
    xid(rig, 0, 45)
    assert nvml.nvmlEventSetWait_v2(event_set, 0).eventData == 45
    assert told(rig, other) == [(0, XID, 45)]
    with pytest.raises(nvml.NVMLError_GpuIsLost):
        nvml.nvmlDeviceRegisterEvents(held, XID, other)


def test_a_gpu_that_is_lost_in_silence_ends_a_wait(rig: Any) -> None:
    """Without an Xid there is no event, and yet nobody waits for a GPU that is gone."""
    event_set = watch(rig)

    def lose() -> None:
        rig.node.gpus[0].lost = Lost(rig.world.now_us)

    rig.world.schedule(rig.at_us + SECOND, "test", lose)
    began_us = rig.at_us
    with pytest.raises(rig.nvml.NVMLError_GpuIsLost):
        rig.nvml.nvmlEventSetWait_v2(event_set, 60_000)
    assert rig.at_us == began_us + SECOND


def test_a_gpu_that_requires_its_reset_still_reports(rig: Any) -> None:
    """Events are the driver's: they are registered and told while the GPU itself says nothing."""
    xid(rig, 0, 119)
    event_set = watch(rig)
    xid(rig, 0, 120)
    event = rig.nvml.nvmlEventSetWait_v2(event_set, 0)
    assert event.eventData == 120
    with pytest.raises(rig.nvml.NVMLError_ResetRequired):
        rig.nvml.nvmlDeviceGetPowerUsage(rig.handle())


def test_log_lines_alone_are_no_events(rig: Any) -> None:
    """What only stands in the kernel log was not reported by the driver."""
    event_set = watch(rig)
    write_xid_line(rig.node, rig.node.gpus[0], 79, rig.at_us)
    assert told(rig, event_set) == []


def test_who_waits_too_seldom_loses_the_oldest(rig: Any) -> None:
    """So many events of a node are remembered; the newest of them are told, in order."""
    event_set = watch(rig, XID)
    for number in range(driver_events.EVENTS_KEPT + 3):
        rig.node.driver_events.announce(rig.at_us, 0, EventType.XID, number)
    first = rig.nvml.nvmlEventSetWait_v2(event_set, 0)
    second = rig.nvml.nvmlEventSetWait_v2(event_set, 0)
    assert (first.eventData, second.eventData) == (3, 4)


def test_there_is_an_end_to_sets(rig: Any) -> None:
    """A program that never frees its sets gets INSUFFICIENT_RESOURCES, and its others live."""
    event_set = watch(rig)
    for _ in range(driver_events.SET_LIMIT - 1):
        assert rig.ask(Call("nvmlEventSetCreate"), rig.at_us).code == 0
    with pytest.raises(rig.nvml.NVMLError_InsufficientResources):
        rig.nvml.nvmlEventSetCreate()
    xid(rig, 0, 45)
    assert told(rig, event_set) == [(0, XID, 45)]
    rig.nvml.nvmlEventSetFree(event_set)
    assert rig.nvml.nvmlEventSetCreate()
