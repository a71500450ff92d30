"""The rules that hold for every function, on both carriers: handles, pointers, sizes, versions."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import (
    POINTER,
    byref,
    c_char,
    c_uint,
    c_ulonglong,
    c_void_p,
    cast,
    create_string_buffer,
)
from typing import Any

import pynvml
import pytest

from fakes.nvml.arguments import DEVICES
from fakes.nvml.codes import TEXTS, error_string
from fakes.nvml.function import Kind
from fakes.nvml.table import FUNCTIONS

MakeRig = Callable[..., Any]
UNINITIALIZED, INVALID, NOT_SUPPORTED, TOO_SMALL, MISMATCH = 1, 2, 3, 7, 25
CANARY = 0xA5
TAKE_ONLY_A_HANDLE = {"nvmlEventSetFree", "nvmlGpmSampleFree"}


def guarded(size: int) -> Any:
    """A buffer of ``size`` bytes with a canary behind it."""
    buffer = (c_char * (size + 16))()
    buffer[:] = bytes([CANARY]) * len(buffer)
    return buffer


def canary_lives(buffer: Any, size: int) -> bool:
    return bytes(buffer)[size:] == bytes([CANARY]) * 16


# --- beginning and end ---------------------------------------------------------------------------


def test_nothing_works_before_init_and_after_the_last_shutdown(make_rig: MakeRig) -> None:
    """Each beginning wants its end; before and after, every function says so."""
    rig = make_rig()
    nvml, handle = rig.nvml, rig.handle()
    nvml.nvmlInit()
    nvml.nvmlShutdown()
    assert nvml.nvmlDeviceGetCount() == 2
    nvml.nvmlShutdown()
    for call in (
        nvml.nvmlDeviceGetCount,
        nvml.nvmlSystemGetDriverVersion,
        lambda: nvml.nvmlDeviceGetPowerUsage(handle),
        lambda: nvml.nvmlDeviceGetName(handle),
        nvml.nvmlShutdown,
    ):
        with pytest.raises(nvml.NVMLError_Uninitialized):
            call()
    nvml.nvmlInitWithFlags(nvml.NVML_INIT_FLAG_NO_ATTACH)
    assert nvml.nvmlDeviceGetPowerUsage(handle) > 0


# --- names and texts -----------------------------------------------------------------------------


def test_a_name_that_nvml_has_not_is_not_found(rig: Any) -> None:
    """As with a library that lacks the symbol: FUNCTION_NOT_FOUND."""
    with pytest.raises(AttributeError, match="nvmlDeviceGetCoffee"):
        _ = rig.library.nvmlDeviceGetCoffee
    with pytest.raises(pynvml.NVMLError_FunctionNotFound):
        pynvml._nvmlGetFunctionPointer("nvmlDeviceGetCoffee")


def test_every_function_of_the_table_can_be_called(rig: Any) -> None:
    """Each has a callable, which refuses NULLs and says what it does not support."""
    for function in FUNCTIONS:
        code = getattr(rig.library, function.name)(*[None] * len(function.params))
        refuses = any(
            param.kind not in (Kind.U32, Kind.U64, Kind.HANDLE) for param in function.params
        )
        refuses = refuses or function.name in TAKE_ONLY_A_HANDLE
        assert code == (INVALID if refuses else NOT_SUPPORTED), function.name


def test_error_strings_are_the_drivers(rig: Any) -> None:
    """NVML's text of every code; any other number is an unknown error."""
    for code in (*TEXTS, 12345, -1):
        assert pynvml.nvmlErrorString(code) == error_string(code)


def test_a_failure_is_the_bindings_own_class(rig: Any) -> None:
    """Codes are plain numbers, by which the binding finds its exception."""
    with pytest.raises(pynvml.NVMLError_NotSupported):
        pynvml.nvmlDeviceGetFanSpeed(rig.handle())
    assert type(rig.library.nvmlDeviceGetFanSpeed(rig.handle(), byref(c_uint()))) is int
    assert type(rig.library.nvmlDeviceGetName(None, None, 9)) is int


def test_the_private_door_is_closed(rig: Any) -> None:
    """The private export table hands out nothing."""
    table = c_void_p(1)
    assert rig.library.nvmlInternalGetExportTable(byref(table), None) == NOT_SUPPORTED
    assert table.value is None


# --- handles and pointers ------------------------------------------------------------------------


def test_handles_are_one_each_and_live_on(rig: Any) -> None:
    """The same GPU always has the same handle, also after shutdown and init."""
    first, other = rig.handle(0), rig.handle(1)
    assert cast(first, c_void_p).value != cast(other, c_void_p).value
    pynvml.nvmlShutdown()
    pynvml.nvmlInit()
    assert cast(rig.handle(0), c_void_p).value == cast(first, c_void_p).value
    assert pynvml.nvmlDeviceGetIndex(other) == 1


NO_HANDLES = {
    "None": None,
    "zero": 0,
    "a number": 1,
    "a null pointer": c_void_p(0),
    "another pointer": c_void_p(8),
    "an empty handle": pynvml.c_nvmlDevice_t(),
    "beyond the last": max(DEVICES) + 8,
    "in the middle of one": min(DEVICES) + 4,
}


@pytest.mark.parametrize("handle", NO_HANDLES.values(), ids=NO_HANDLES)
def test_a_handle_that_is_none_is_an_invalid_argument(rig: Any, handle: Any) -> None:
    """NULL, any other pointer, and one into the middle of a handle: refused, never followed."""
    value = c_uint(7)
    assert rig.library.nvmlDeviceGetPowerUsage(handle, byref(value)) == INVALID
    assert rig.library.nvmlDeviceGetName(handle, create_string_buffer(96), 96) == INVALID
    assert value.value == 7


def test_null_pointers_are_invalid_arguments(rig: Any) -> None:
    """However NULL is passed, and wherever a pointer is needed."""
    library, handle = rig.library, rig.handle()
    null = POINTER(c_uint)()
    for pointer_ in (None, null, c_void_p()):
        assert library.nvmlDeviceGetPowerUsage(handle, pointer_) == INVALID
        assert library.nvmlDeviceGetEccMode(handle, byref(c_uint()), pointer_) == INVALID
        assert library.nvmlDeviceGetCount_v2(pointer_) == INVALID
        assert library.nvmlDeviceGetHandleByIndex_v2(0, pointer_) == INVALID
        assert library.nvmlDeviceGetName(handle, pointer_, 96) == INVALID
        assert library.nvmlDeviceGetMemoryInfo_v2(handle, pointer_) == INVALID
        assert library.nvmlDeviceGetFieldValues(handle, 1, pointer_) == INVALID
        assert library.nvmlDeviceSetPowerManagementLimit_v2(handle, pointer_) == INVALID
        assert library.nvmlDeviceGetComputeRunningProcesses_v3(handle, pointer_, None) == INVALID
    assert library.nvmlDeviceGetHandleByUUID(None, byref(c_void_p())) == INVALID
    assert library.nvmlDeviceGetFieldValues(handle, 0, (c_ulonglong * 5)()) == INVALID


# --- sizes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Name", "UUID", "Serial", "VbiosVersion", "BoardPartNumber"])
def test_a_short_buffer_is_refused_and_left_alone(rig: Any, name: str) -> None:
    """A string must fit with its NUL; what does not fit writes nothing at all."""
    function = getattr(rig.library, f"nvmlDeviceGet{name}")
    whole = create_string_buffer(96)
    assert function(rig.handle(), whole, 96) == 0
    needed = len(whole.value) + 1
    for size in (0, 1, needed - 1):
        buffer = guarded(96)
        assert function(rig.handle(), buffer, size) == TOO_SMALL
        assert bytes(buffer) == bytes([CANARY]) * len(buffer)
    buffer = guarded(needed)
    assert function(rig.handle(), buffer, needed) == 0
    assert bytes(buffer)[:needed] == whole.value + b"\0"
    assert canary_lives(buffer, needed)


def test_a_process_name_is_cut_to_its_buffer(rig: Any) -> None:
    """The one string that may be cut (nvml.h), NUL included."""
    buffer = guarded(4)
    assert rig.library.nvmlSystemGetProcessName(4001, buffer, 4) == 0
    assert bytes(buffer)[:4] == b"pyt\0"
    assert canary_lives(buffer, 4)
    assert rig.library.nvmlSystemGetProcessName(4001, buffer, 0) == TOO_SMALL


LISTS = {
    "nvmlDeviceGetComputeRunningProcesses": 16,
    "nvmlDeviceGetComputeRunningProcesses_v2": 24,
    "nvmlDeviceGetComputeRunningProcesses_v3": 24,
}


@pytest.mark.parametrize("processes", [0, 1, 3])
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_every_size(make_rig: MakeRig, name: str, processes: int) -> None:
    """Room for 0, n-1, n and n+1: refused with the count, or all of them and no byte more."""
    rig = make_rig(gpus=1, idle=True)
    for pid in range(1, processes + 1):
        rig.node.gpus[0].add_use(pid, pid << 30, 0.1, 0)
    record = LISTS[name]
    function, handle = getattr(rig.library, name), rig.handle()
    for room in {0, max(0, processes - 1), processes, processes + 1}:
        buffer, count = guarded(room * record), c_uint(room)
        code = function(handle, byref(count), buffer)
        assert count.value == processes
        assert canary_lives(buffer, room * record)
        if room < processes:
            assert code == TOO_SMALL
            assert bytes(buffer) == bytes([CANARY]) * len(buffer)
        else:
            assert code == 0
            pids = [
                int.from_bytes(bytes(buffer)[at * record :][:4], "little")
                for at in range(processes)
            ]
            assert pids == list(range(1, processes + 1))
            assert bytes(buffer)[processes * record :] == bytes([CANARY]) * (
                (room - processes) * record + 16
            )  # fmt: skip
    count = c_uint(0)
    assert function(handle, byref(count), None) == (TOO_SMALL if processes else 0)
    assert count.value == processes
    assert function(handle, byref(c_uint(5)), None) == INVALID


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_a_list_inside_a_structure(rig: Any, room: int) -> None:
    """The detail list follows the same rules through its own pointer and count."""
    rig.node.gpus[0].add_use(77, 1 << 30, 0.1, 0)
    details = guarded(32 * room)
    plist = pynvml.c_nvmlProcessDetailList_v1_t()
    plist.version, plist.mode, plist.numProcArrayEntries = pynvml.nvmlProcessDetailList_v1, 0, room
    plist.procArray = cast(details, POINTER(pynvml.c_nvmlProcessDetail_v1_t))
    code = rig.library.nvmlDeviceGetRunningProcessDetailList(rig.handle(), byref(plist))
    assert code == (0 if room >= 2 else TOO_SMALL)
    assert plist.numProcArrayEntries == 2
    assert canary_lives(details, 32 * room)
    plist.procArray = None
    plist.numProcArrayEntries = room
    code = rig.library.nvmlDeviceGetRunningProcessDetailList(rig.handle(), byref(plist))
    assert code == (INVALID if room else TOO_SMALL)


def test_samples_are_cut_to_the_room_there_is(rig: Any) -> None:
    """Asking for the count succeeds; a short buffer takes as many as it holds, the oldest first."""
    kind, count = c_uint(), c_uint(99)
    ask = rig.library.nvmlDeviceGetSamples
    assert ask(rig.handle(), 0, c_ulonglong(0), byref(kind), byref(count), None) == 0
    assert (kind.value, count.value) == (pynvml.NVML_VALUE_TYPE_UNSIGNED_INT, 4)
    buffer, count = guarded(2 * 16), c_uint(2)
    assert ask(rig.handle(), 0, c_ulonglong(0), byref(kind), byref(count), buffer) == 0
    assert count.value == 2
    assert canary_lives(buffer, 2 * 16)
    assert int.from_bytes(bytes(buffer)[:8], "little") == rig.node.epoch.unix_us(0)


def test_structures_are_not_written_past_their_end(rig: Any) -> None:
    """Every plain structure and number fills its own bytes and no more."""
    for function in FUNCTIONS:
        kinds = [param.kind for param in function.params]
        if kinds == [Kind.DEVICE, Kind.OUT]:
            size = function.params[1].size
            buffer = guarded(size)
            code = getattr(rig.library, function.name)(rig.handle(), buffer)
            assert canary_lives(buffer, size), function.name
            assert (bytes(buffer)[:size] == bytes([CANARY]) * size) == (code != 0), function.name


# --- versions ------------------------------------------------------------------------------------


VERSIONED = [
    (function, param.versions)
    for function in FUNCTIONS
    if [param.kind for param in function.params] == [Kind.DEVICE, Kind.VERSIONED]
    for param in function.params[1:]
]


@pytest.mark.parametrize(("function", "versions"), VERSIONED, ids=[f.name for f, _ in VERSIONED])
def test_versions_are_checked(rig: Any, function: Any, versions: tuple[int, ...]) -> None:
    """A wrong version word is refused, and the structure left alone; a right one is honoured."""
    call = getattr(rig.library, function.name)
    for wrong in (0, max(versions) + 0x1000000, max(versions) + 1, 0xFFFFFFFF):
        buffer = guarded(20_000)
        buffer[:4] = wrong.to_bytes(4, "little")
        before = bytes(buffer)
        assert call(rig.handle(), buffer) == MISMATCH
        assert bytes(buffer) == before
    for right in versions:
        size = right & 0xFFFFFF if right >> 24 else function.params[1].size
        buffer = guarded(size)
        buffer[:4] = right.to_bytes(4, "little")
        assert call(rig.handle(), buffer) in (0, NOT_SUPPORTED, INVALID)
        assert canary_lives(buffer, size)


def test_a_setters_structure_is_checked_too(rig: Any) -> None:
    """A wrong version sets nothing."""
    value = pynvml.c_nvmlPowerValue_v2_t(0x100000C, 0, 300_000)
    assert rig.library.nvmlDeviceSetPowerManagementLimit_v2(rig.handle(), byref(value)) == MISMATCH
    assert rig.node.gpus[0].power_limit_mw == 700_000
