"""NVML's answers: registered, complete, of the right shape, and open to more."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakes.nvml.answers as folder
from fakes.driver.xid import raise_xid
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import Call, Input, answer, answers, entries
from fakes.nvml.codes import Code
from fakes.nvml.function import Function, Kind, Param
from fakes.nvml.table import BY_NAME, FUNCTIONS
from fakes.profile import load_profile, models

InputsOf = Callable[..., tuple[Any, ...]]
NOT_SUPPORTED = Code.NOT_SUPPORTED
NOT_ON_THIS_GPU = {
    "nvmlComputeInstanceGetInfo_v2", "nvmlGpuInstanceGetInfo", "nvmlDeviceGetAttributes_v2",
    "nvmlDeviceGetActiveVgpus", "nvmlDeviceGetHostVgpuMode", "nvmlVgpuTypeGetName",
    "nvmlDeviceGetVgpuSchedulerCapabilities", "nvmlDeviceGetVgpuSchedulerState",
    "nvmlVgpuInstanceGetAccountingPids", "nvmlVgpuInstanceGetAccountingStats",
    "nvmlDeviceGetDriverModel_v2", "nvmlDeviceGetNumaNodeId",
}  # fmt: skip


OF_MIG_DEVICES = {
    "nvmlDeviceGetMigDeviceHandleByIndex", "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
    "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId",
}  # fmt: skip
NOT_ON_ANY = {
    "nvmlDeviceGetRetiredPages", "nvmlDeviceGetRetiredPages_v2",
    "nvmlDeviceGetRetiredPagesPendingStatus", "nvmlDeviceGetFanSpeed", "nvmlDeviceGetFanSpeed_v2",
}  # fmt: skip
"""Of GPUs before Ampere, and of cards with a fan of their own."""
INPUTS: dict[str, tuple[Input, ...]] = {
    "nvmlSystemGetProcessName": (4001,),
    "nvmlSystemGetDriverBranch": ((0x1000054,), 80),
    "nvmlDeviceGetHandleByPciBusId": (b"0000:43:00.0",),
    "nvmlDeviceGetHandleByPciBusId_v2": (b"00000000:43:00.0",),
    "nvmlDeviceGetMemoryErrorCounter": (0, 0, 2),
    "nvmlDeviceGetSupportedGraphicsClocks": (2619,),
    "nvmlDeviceSetApplicationsClocks": (2619, 1980),
    "nvmlDeviceSetPowerManagementLimit": (300_000,),
    "nvmlDeviceSetPowerManagementLimit_v2": (struct.pack("<III", 0x200000C, 0, 300_000),),
}
"""Inputs of the functions that do not take just anything."""
ON_A_SET: dict[str, Callable[[int], tuple[Input, ...]]] = {
    "nvmlDeviceRegisterEvents": lambda event_set: (8, event_set),
    "nvmlEventSetWait": lambda event_set: (event_set, 0),
    "nvmlEventSetWait_v2": lambda event_set: (event_set, 0),
    "nvmlEventSetFree": lambda event_set: (event_set,),
}
"""Inputs of the functions that take an event set."""
ON_A_SAMPLE: dict[str, Callable[[int], tuple[Input, ...]]] = {
    "nvmlGpmSampleGet": lambda sample: (sample,),
    "nvmlGpmSampleFree": lambda sample: (sample,),
    "nvmlGpmMetricsGet": lambda sample: (
        struct.pack("<IIQQIId24x", 1, 1, sample, sample, 1, 0, 0.0),
    ),
}
"""Inputs of the functions that take samples."""


def node_under_load(model: str = "h100-sxm") -> Node:
    node = Node("n0", load_profile(model), 3)
    node.start_job(JobSpec("train", (0, 1, 2)), 0)
    node.settle(0)
    return node


def set_with_an_event(node: Node) -> int:
    """An event set of the node's, in which an event waits."""
    (handle,) = answer(node, Call("nvmlEventSetCreate"), 0).outputs
    event_set = int.from_bytes(handle, "little")
    assert answer(node, Call("nvmlDeviceRegisterEvents", 0, (8, event_set)), 0).code == 0
    raise_xid(node, node.gpus[0], 45, 0)
    return event_set


def filled_sample(node: Node) -> int:
    """A sample of the node's first GPU, filled where it can be."""
    (handle,) = answer(node, Call("nvmlGpmSampleAlloc"), 0).outputs
    sample = int.from_bytes(handle, "little")
    answer(node, Call("nvmlGpmSampleGet", 0, (sample,)), 0)
    return sample


def device_of(function: Function) -> int | None:
    return 0 if function.params and function.params[0].kind is Kind.DEVICE else None


def versions_of(function: Function) -> tuple[int, ...]:
    return next((param.versions for param in function.params if param.versions), (0,))


def outputs_of(function: Function) -> list[Param]:
    inputs = (
        Kind.DEVICE, Kind.HANDLE, Kind.U32, Kind.U64, Kind.TEXT_IN, Kind.STRUCT_IN, Kind.COUNT,
    )  # fmt: skip
    return [param for param in function.params if param.kind not in inputs]


def check_shape(param: Param, output: bytes, version: int) -> None:
    if param.kind is Kind.OUT:
        assert len(output) == param.size
    elif param.kind is Kind.DEVICE_OUT:
        assert len(output) == 8
    elif param.kind is Kind.TEXT_OUT:
        assert b"\0" not in output
        assert output.decode().isprintable()
    elif param.kind is Kind.VERSIONED:
        assert len(output) == (version & 0xFFFFFF if version >> 24 else param.size)
        assert output[:4] == version.to_bytes(4, "little")
    elif param.kind is Kind.EACH:
        assert len(output) == 2 * param.size
    elif param.kind is Kind.VERSIONED_EACH:
        assert (len(output) - param.list_at) % param.record == 0
    else:
        assert len(output) % (param.record or param.size) == 0


ANSWERED = sorted(entries())


def test_every_answer_is_to_a_function_of_the_table() -> None:
    """What is answered can be asked: its name is one that NVML exports."""
    assert set(ANSWERED) <= set(BY_NAME)


@pytest.mark.parametrize("name", ANSWERED)
def test_outputs_have_the_shape_that_the_table_says(name: str, inputs_of: InputsOf) -> None:
    """An answer that succeeds brings one output for each output parameter, of its exact size."""
    function = BY_NAME[name]
    node = node_under_load()
    for gpu in node.gpus:
        INPUTS["nvmlDeviceGetHandleByUUID"] = (gpu.uuid.encode(),)
        INPUTS["nvmlDeviceGetHandleBySerial"] = (gpu.serial.encode(),)
    device = device_of(function)
    if name in ON_A_SET:
        INPUTS[name] = ON_A_SET[name](set_with_an_event(node))
    if name in ON_A_SAMPLE:
        INPUTS[name] = ON_A_SAMPLE[name](filled_sample(node))
    for version in versions_of(function):
        inputs = INPUTS.get(name, inputs_of(function, version))
        got = answer(node, Call(name, device, inputs), 5_000_000)
        if name in OF_MIG_DEVICES:
            assert got.code in (Code.NOT_FOUND, Code.INVALID_ARGUMENT)
            continue
        if name in NOT_ON_ANY:
            assert got.code == Code.NOT_SUPPORTED
            continue
        assert got.code == Code.SUCCESS
        assert len(got.outputs) == len(outputs_of(function))
        for param, output in zip(outputs_of(function), got.outputs, strict=True):
            check_shape(param, output, version)


def test_steady_answers_do_not_change_with_time(inputs_of: InputsOf) -> None:
    """What the table calls steady is the same a minute later, so that a page may keep it."""
    node = node_under_load()
    for function in FUNCTIONS:
        for version in versions_of(function) if function.steady else ():
            call = Call(function.name, device_of(function), inputs_of(function, version))
            earlier, later = answer(node, call, 1_000_000), answer(node, call, 61_000_000)
            assert earlier == later, function.name


def test_functions_that_change_the_world_are_never_paged() -> None:
    """An answer that acts on the world is asked for every single time."""
    acting = [name for name, entry in entries().items() if entry.changes]
    assert acting
    assert not [name for name in acting if BY_NAME[name].paged]


def test_what_known_clients_call_is_answered() -> None:
    """Each function that a known NVML program calls is answered, or is none of this GPU's."""
    path = Path(__file__).with_name("client_functions.txt")
    called = {line for line in path.read_text().splitlines() if line and line[0] != "#"}
    by_carrier = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", "nvmlErrorString"}
    assert len(called) == 122
    assert called - set(entries()) - by_carrier == NOT_ON_THIS_GPU


@pytest.mark.parametrize("name", sorted(NOT_ON_THIS_GPU))
def test_what_this_gpu_lacks_is_not_supported(name: str, inputs_of: InputsOf) -> None:
    """vGPUs, MIG instances, Windows' driver models: NOT_SUPPORTED, as on an H100."""
    call = Call(name, device_of(BY_NAME[name]), inputs_of(BY_NAME[name]))
    assert answer(node_under_load(), call, 0).code == Code.NOT_SUPPORTED


@settings(max_examples=300)
@given(
    st.sampled_from(models()),
    st.sampled_from(FUNCTIONS),
    st.integers(0, 0xFFFFFFFF) | st.integers(0, 12),
    st.integers(0, 10**13),
    st.binary(max_size=40),
)
def test_no_input_breaks_an_answer(
    inputs_of: InputsOf, model: str, function: Function, number: int, at_us: int, text: bytes
) -> None:
    """Whatever numbers, strings and moments are asked for: a return code, never an exception."""
    node = node_under_load(model)
    for version in versions_of(function):
        inputs = tuple(
            text if isinstance(each, bytes) and each == b"nothing" else each
            for each in inputs_of(function, version, number)
        )
        call = Call(function.name, device_of(function), inputs)
        assert answer(node, call, at_us).code in list(Code)


LACKING = {
    "h100-sxm": set(),
    "a100-sxm": {
        "nvmlDeviceGetMarginTemperature", "nvmlDeviceGetGpuFabricInfo",
        "nvmlDeviceGetGpuFabricInfoV", "nvmlDeviceGetConfComputeMemSizeInfo",
        "nvmlGpmSampleGet",
    },
    "l4": {
        "nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetGpuFabricInfoV",
        "nvmlDeviceGetConfComputeMemSizeInfo", "nvmlGpmSampleGet",
        "nvmlDeviceGetMigMode", "nvmlDeviceGetMigDeviceHandleByIndex",
        "nvmlDeviceSetMigMode",
        "nvmlDeviceGetNvLinkState", "nvmlDeviceGetNvLinkVersion", "nvmlDeviceGetNvLinkCapability",
        "nvmlDeviceGetNvLinkErrorCounter", "nvmlDeviceGetNvLinkRemoteDeviceType",
        "nvmlDeviceGetNvLinkRemotePciInfo", "nvmlDeviceGetNvLinkRemotePciInfo_v2",
    },
}  # fmt: skip
"""Of the functions that are answered, those that a model does not support."""


@pytest.mark.parametrize("model", models())
def test_models_differ_in_what_they_support(inputs_of: InputsOf, model: str) -> None:
    """MIG, NVLink, the fabric, T.Limit, confidential computing: what a model lacks is
    NOT_SUPPORTED, and nothing else is.
    """
    node = node_under_load(model)
    lacking = set()
    for name in ANSWERED:
        inputs = INPUTS.get(name, inputs_of(BY_NAME[name]))
        if answer(node, Call(name, device_of(BY_NAME[name]), inputs), 0).code == NOT_SUPPORTED:
            lacking.add(name)
    assert lacking == LACKING[model] | NOT_ON_ANY


@pytest.mark.parametrize("model", models())
def test_fields_differ_as_their_functions_do(model: str) -> None:
    """T.Limits without margins, memory's temperature without a sensor, links without NVLink."""
    node = node_under_load(model)
    can, links = node.gpus[0].profile.can, node.gpus[0].profile.nvlink.links
    expected = {
        82: can.memory_sensor, 193: can.thermal_margins, 194: can.thermal_margins,
        195: can.thermal_margins and can.memory_sensor, 196: can.thermal_margins,
        138: links > 0, 165: links > 0, 83: True, 185: True, 230: True,
    }  # fmt: skip
    for field, supported in expected.items():
        record = struct.pack("<II32x", field, 0)
        got = answer(node, Call("nvmlDeviceGetFieldValues", 0, (record,)), 0)
        code = struct.unpack_from("<I", got.outputs[0], 28)[0]
        assert code == (Code.SUCCESS if supported else NOT_SUPPORTED), field


def test_a_function_that_nobody_answers_is_not_supported() -> None:
    """An exported function without an answer, and a name that is none: NOT_SUPPORTED."""
    node = node_under_load()
    assert answer(node, Call("nvmlDeviceGetHostname_v1", 0), 0).code == Code.NOT_SUPPORTED
    assert answer(node, Call("nvmlSystemGetCPER_v1"), 0).code == Code.NOT_SUPPORTED


def test_a_device_that_no_gpu_has_is_an_invalid_argument() -> None:
    """A handle of a larger node, say, is refused rather than taken for another GPU."""
    assert answer(node_under_load(), Call("nvmlDeviceGetName", 3), 0).code == Code.INVALID_ARGUMENT


def test_a_new_file_is_a_new_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beside the others is found by itself: nothing else is edited."""
    (tmp_path / "hostname.py").write_text(
        "from fakes.nvml.answer import answers\n\n\n"
        "@answers('nvmlDeviceGetHostname_v1')\n"
        "def hostname(gpu, at_us):\n"
        "    return gpu.node.encode().ljust(64, b'\\0')\n"
    )
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    known = entries()
    entries.cache_clear()
    try:
        got = answer(node_under_load(), Call("nvmlDeviceGetHostname_v1", 0), 0)
    finally:
        known.pop("nvmlDeviceGetHostname_v1")  # type: ignore[attr-defined]
        sys.modules.pop("fakes.nvml.answers.hostname")
    assert got.outputs[0].startswith(b"n0\0")


def test_answering_twice_is_refused_and_says_where() -> None:
    """Two answers to one function are a mistake that names both modules."""
    entries()
    with pytest.raises(ValueError, match=r"answered twice: in fakes\.nvml\.answers\.power and in"):
        answers("nvmlDeviceGetPowerUsage")(lambda gpu, at_us: b"")
