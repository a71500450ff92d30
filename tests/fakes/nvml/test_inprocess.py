"""The in-process carrier alone: what it takes from Python, what it passes on, what it leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from ctypes import (
    POINTER,
    addressof,
    byref,
    c_char_p,
    c_int,
    c_uint,
    c_ulonglong,
    c_void_p,
    cast,
    create_string_buffer,
    pointer,
    sizeof,
)
from typing import Any

import pynvml
import pytest

from fakes.clock import ScaledClock
from fakes.driver.disturbance import Misreading, Refusal
from fakes.hardware.gpu import Lost
from fakes.node import Node
from fakes.nvml.answer import FOREVER_US, INIT_CALL, Answer, Call, NodeNow, answer
from fakes.nvml.arguments import DEVICES
from fakes.nvml.codes import Code
from fakes.nvml.inprocess import InProcess, installed
from fakes.nvml.pending import in_its_time, sleeping
from fakes.nvml.table import FUNCTIONS
from fakes.world import World

INVALID, UNINITIALIZED, NOT_SUPPORTED = 2, 1, 3


@pytest.fixture
def carrier() -> str:
    """Only this one."""
    return "in process"


def test_every_function_is_uninitialized_before_init() -> None:
    """Whatever its arguments are: UNINITIALIZED comes first."""
    library = InProcess(lambda call: Answer(0))
    for function in FUNCTIONS:
        arguments = [None] * len(function.params)
        assert getattr(library, function.name)(*arguments) == UNINITIALIZED


def test_all_is_as_it_was_afterwards() -> None:
    """Leaving restores the binding's library, its count of users and its cache of functions."""
    other = InProcess(lambda call: Answer(NOT_SUPPORTED))
    with installed(lambda call: Answer(0, (b"outer",))) as outer:
        pynvml.nvmlInit()
        assert pynvml.nvmlSystemGetDriverVersion() == "outer"
        with installed(lambda call: Answer(0, (b"inner",))):
            with pytest.raises(pynvml.NVMLError_Uninitialized):
                pynvml.nvmlSystemGetDriverVersion()
            pynvml.nvmlInit()
            assert pynvml.nvmlSystemGetDriverVersion() == "inner"
        assert pynvml.nvmlLib is outer
        assert pynvml._nvmlLib_refcount == 1
        assert pynvml.nvmlSystemGetDriverVersion() == "outer"
        with pytest.raises(RuntimeError), installed(other.respond):
            raise RuntimeError
        assert pynvml.nvmlSystemGetDriverVersion() == "outer"
    assert pynvml.nvmlLib is not outer
    assert "nvmlSystemGetDriverVersion" not in pynvml._nvmlGetFunctionPointer_cache


def test_every_way_to_pass_a_pointer(rig: Any) -> None:
    """By reference, as a pointer, as an array, as an address: the value arrives."""
    expected = pynvml.nvmlDeviceGetPowerUsage(rig.handle())
    for pass_ in (
        byref,
        pointer,
        lambda value: cast(byref(value), POINTER(c_uint)),
        lambda value: c_void_p(addressof(value)),
        addressof,
    ):
        value = c_uint()
        assert rig.library.nvmlDeviceGetPowerUsage(rig.handle(), pass_(value)) == 0
        assert value.value == expected
    array = (c_uint * 1)()
    assert rig.library.nvmlDeviceGetPowerUsage(rig.handle(), array) == 0
    assert array[0] == expected


def test_every_way_to_pass_a_number_and_a_string(rig: Any) -> None:
    """Python's or ctypes' integers, bytes, char pointers and buffers."""
    clock = c_uint()
    for sm in (1, c_uint(1), c_int(1)):
        assert rig.library.nvmlDeviceGetClockInfo(rig.handle(), sm, byref(clock)) == 0
        assert clock.value == 1980
    assert rig.library.nvmlDeviceGetClockInfo(rig.handle(), -1, byref(clock)) == INVALID
    uuid = rig.node.gpus[1].uuid.encode()
    buffer = create_string_buffer(uuid)
    for text in (uuid, uuid + b"\0more", c_char_p(uuid), buffer, c_void_p(addressof(buffer))):
        handle = pynvml.c_nvmlDevice_t()
        assert rig.library.nvmlDeviceGetHandleByUUID(text, byref(handle)) == 0
        assert pynvml.nvmlDeviceGetIndex(handle) == 1


def test_calls_arrive_as_they_were_made() -> None:
    """Function, device and inputs reach whoever answers; its code reaches the caller."""
    seen: list[Call] = []

    def respond(call: Call) -> Answer:
        if call == INIT_CALL:
            return Answer(0)
        seen.append(call)
        return Answer(int(Code.NO_PERMISSION))

    library = InProcess(respond)
    library.nvmlInit_v2()
    handle = min(DEVICES)
    field = pynvml.c_nvmlFieldValue_t(fieldId=138, scopeId=3)
    temperature = pynvml.c_nvmlTemperature_v1_t(version=pynvml.nvmlTemperature_v1, sensorType=5)
    long = c_ulonglong(1 << 40)
    assert sizeof(field) == 40
    codes = [
        library.nvmlDeviceGetPowerUsage(handle, byref(c_uint())),
        library.nvmlDeviceGetClock(handle + 8, 2, 3, byref(c_uint())),
        library.nvmlDeviceGetP2PStatus(handle, handle + 16, 1, byref(c_uint())),
        library.nvmlDeviceGetProcessUtilization(handle, None, byref(c_uint()), long),
        library.nvmlDeviceGetTemperatureV(handle, byref(temperature)),
        library.nvmlDeviceGetFieldValues(handle, c_int(1), byref(field)),
        library.nvmlEventSetFree(c_void_p(99)),
    ]  # fmt: skip
    assert codes == [Code.NO_PERMISSION] * 7
    assert seen == [
        Call("nvmlDeviceGetPowerUsage", 0),
        Call("nvmlDeviceGetClock", 1, (2, 3)),
        Call("nvmlDeviceGetP2PStatus", 0, (2, 1)),
        Call("nvmlDeviceGetProcessUtilization", 0, (1 << 40,)),
        Call("nvmlDeviceGetTemperatureV", 0, ((pynvml.nvmlTemperature_v1, 5),)),
        Call("nvmlDeviceGetFieldValues", 0, (bytes(field),)),
        Call("nvmlEventSetFree", None, (99,)),
    ]


def test_what_a_program_holds_is_freed_when_it_leaves(make_world: Callable[..., World]) -> None:
    """Event sets that were not freed end with the use of the binding, as with a process."""
    node = make_world().nodes["n0"]
    for _ in range(3):
        with installed(lambda call: answer(node, call, 0)):
            pynvml.nvmlInit()
            freed, _left = pynvml.nvmlEventSetCreate(), pynvml.nvmlEventSetCreate()
            pynvml.nvmlEventSetFree(freed)
            assert node.driver_events.set_count == 1
        assert node.driver_events.set_count == 0


def test_a_wait_in_real_time_lasts_as_long(make_world: Callable[..., World]) -> None:
    """On a clock ten times as fast as the host's, three seconds take three tenths of one."""
    node, clock = make_world().nodes["n0"], ScaledClock(10)
    respond = in_its_time(
        lambda call, at_us: answer(node, call, at_us), clock.now_us, sleeping(clock)
    )
    with installed(respond):
        pynvml.nvmlInit()
        event_set = pynvml.nvmlEventSetCreate()
        began_s, began_us = time.monotonic(), clock.now_us()
        with pytest.raises(pynvml.NVMLError_Timeout):
            pynvml.nvmlEventSetWait_v2(event_set, 3000)
        assert clock.now_us() - began_us >= 3_000_000
        assert 0.29 < time.monotonic() - began_s < 5


def test_a_slow_call_is_answered_when_it_is_due_and_acts_once() -> None:
    """A delay parks the caller; a setter is asked once, a reading again; a hang ends by healing."""
    now_us, asked, ended_us = [0], list[str](), list[int]()
    healed_us = 5_000_000

    def ask(call: Call, at_us: int) -> Answer:
        asked.append(call.function)
        return Answer(0, (), 700_000)

    def hang(call: Call, at_us: int) -> Answer:
        ended_us.append(at_us)
        return Answer(0, (), FOREVER_US if at_us < healed_us else 0)

    def park(due_us: int) -> None:
        now_us[0] = min(due_us, now_us[0] + 1_000_000)

    respond = in_its_time(ask, lambda: now_us[0], park)
    respond(Call("nvmlDeviceSetPowerManagementLimit", 0, (300_000,)))
    assert (now_us[0], asked) == (700_000, ["nvmlDeviceSetPowerManagementLimit"])
    got = respond(Call("nvmlDeviceGetPowerUsage", 0))
    assert (now_us[0], got.delay_us) == (1_400_000, 700_000)
    in_its_time(hang, lambda: now_us[0], park)(Call("nvmlDeviceGetTemperature", 0, (0,)))
    assert ended_us[-1] >= healed_us


OF_EVERY_SHAPE: dict[str, Callable[[Any], Any]] = {
    "one value": pynvml.nvmlDeviceGetPowerUsage,
    "by a number": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, 1),
    "by a wrong number": lambda gpu: pynvml.nvmlDeviceGetClockInfo(gpu, 99),
    "by two numbers": lambda gpu: pynvml.nvmlDeviceGetTotalEccErrors(gpu, 1, 0),
    "by three numbers": lambda gpu: pynvml.nvmlDeviceGetMemoryErrorCounter(gpu, 0, 0, 2),
    "a structure": lambda gpu: vars(pynvml.nvmlDeviceGetMemoryInfo(gpu)),
    "two values": pynvml.nvmlDeviceGetEncoderUtilization,
    "four values": pynvml.nvmlDeviceGetRemappedRows,
    "records": lambda gpu: [
        vars(each) for each in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)
    ],
    "no records": pynvml.nvmlDeviceGetGraphicsRunningProcesses,
    "what is not there": pynvml.nvmlDeviceGetFanSpeed,
    "text": pynvml.nvmlDeviceGetName,
    "a version": lambda gpu: pynvml.nvmlDeviceGetTemperatureV(gpu, 0),
}
TROUBLES: dict[str, Callable[[Node], None]] = {
    "none": lambda node: None,
    "lost": lambda node: setattr(node.gpus[0], "lost", Lost(0)),
    "reset required": lambda node: setattr(node.gpus[0], "reset_required", True),
    "refusal": lambda node: setattr(
        node, "disturbances", (Refusal(int(Code.NO_PERMISSION), inside=True),)
    ),
    "rubbish": lambda node: setattr(
        node, "disturbances", (Misreading(0, frozenset({"nvmlDeviceGetPowerUsage"})),)
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_quickest_way_answers_as_the_others_do(
    make_world: Callable[..., World], trouble: str
) -> None:
    """Outputs and codes of every shape of function, of a GPU in order and of one that is not."""
    node = make_world().nodes["n0"]

    def found(respond: Any) -> dict[str, object]:
        with installed(respond):
            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(0)
            TROUBLES[trouble](node)
            got: dict[str, object] = {}
            for shape, read in OF_EVERY_SHAPE.items():
                try:
                    got[shape] = read(handle)
                except pynvml.NVMLError as error:
                    got[shape] = error.value
            node.gpus[0].lost, node.gpus[0].reset_required = None, False
            node.disturbances = ()
        return got

    quickest = found(NodeNow(node, lambda: 3_000_000))
    assert quickest == found(lambda call: answer(node, call, 3_000_000))
    true_mw = node.gpus[0].power_mw(3_000_000)
    codes = {
        "lost": Code.GPU_IS_LOST,
        "reset required": Code.RESET_REQUIRED,
        "refusal": Code.NO_PERMISSION,
    }
    assert quickest["one value"] == codes.get(trouble, true_mw) or trouble == "rubbish"
    assert (quickest["one value"] == true_mw) == (trouble == "none")
