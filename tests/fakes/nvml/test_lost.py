"""GPUs that no longer answer: lost, or waiting for their reset."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_char, c_uint
from typing import Any

import pytest

from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Identity, Lookup, Lost
from fakes.nvml.answer import Call, answer
from fakes.nvml.codes import Code
from fakes.nvml.function import Kind
from fakes.nvml.table import FUNCTIONS

MakeRig = Callable[..., Any]
InputsOf = Callable[..., tuple[Any, ...]]
OF_A_GPU = [f for f in FUNCTIONS if f.params and f.params[0].kind is Kind.DEVICE]
IDENTITY = {
    "nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetIndex", "nvmlDeviceGetMinorNumber",
    "nvmlDeviceGetPciInfo", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetPciInfoExt",
}  # fmt: skip
KNOWN_TO_THE_DRIVER = {
    *(f"nvmlDeviceGet{kind}RunningProcesses{version}"
      for kind in ("Compute", "Graphics", "MPSCompute") for version in ("", "_v2", "_v3")),
    "nvmlDeviceGetRunningProcessDetailList", "nvmlDeviceGetSupportedEventTypes",
    "nvmlDeviceGetPersistenceMode", "nvmlDeviceSetPersistenceMode",
    "nvmlDeviceIsMigDeviceHandle", "nvmlDeviceGetFieldValues",
}  # fmt: skip
MEMORY = {
    f"nvmlDeviceGet{what}"
    for what in ("EccMode", "TotalEccErrors", "DetailedEccErrors", "MemoryErrorCounter",
                 "SramEccErrorStatus", "RemappedRows", "RowRemapperHistogram", "RetiredPages",
                 "RetiredPages_v2", "RetiredPagesPendingStatus")
}  # fmt: skip
"""What a GPU's memory has been through: whoever is to reset it reads that before."""
TAKES_A_SET = "nvmlDeviceRegisterEvents"


def test_every_function_of_a_lost_gpu_fails_the_same(rig: Any, inputs_of: InputsOf) -> None:
    """On a handle held before, each one says GPU_IS_LOST, supported or not."""
    rig.node.gpus[1].lost = Lost(since_us=0)
    for function in OF_A_GPU:
        call = Call(function.name, 1, inputs_of(function))
        assert answer(rig.node, call, rig.at_us).code == Code.GPU_IS_LOST, function.name


def test_a_lost_gpus_identity_may_still_answer(rig: Any, inputs_of: InputsOf) -> None:
    """With ``identity: answers``, who it is still answers, and nothing else does."""
    rig.node.gpus[1].lost = Lost(since_us=0, identity=Identity.ANSWERS)
    answered = {
        function.name
        for function in OF_A_GPU
        if function.name in IDENTITY
        if answer(rig.node, Call(function.name, 1, inputs_of(function)), rig.at_us).code == 0
    }
    assert answered == IDENTITY
    for function in OF_A_GPU:
        if function.name not in IDENTITY:
            call = Call(function.name, 1, inputs_of(function))
            assert answer(rig.node, call, rig.at_us).code == Code.GPU_IS_LOST


@pytest.mark.parametrize(
    ("lookup", "error"),
    [(Lookup.UNKNOWN, "NVMLError_Unknown"), (Lookup.LOST, "NVMLError_GpuIsLost")],
)
def test_a_new_look_up_of_a_lost_gpu(make_rig: MakeRig, lookup: Lookup, error: str) -> None:
    """By whatever name it is sought, it fails as the fault says; the count does not change."""
    rig = make_rig(gpus=4)
    nvml, gpu = rig.nvml, rig.node.gpus[2]
    held = rig.handle(2)
    raise_xid(rig.node, gpu, 79, rig.at_us, lookup=lookup)
    assert nvml.nvmlDeviceGetCount() == 4
    for look_up in (
        lambda: nvml.nvmlDeviceGetHandleByIndex(2),
        lambda: nvml.nvmlDeviceGetHandleByUUID(gpu.uuid),
        lambda: nvml.nvmlDeviceGetHandleBySerial(gpu.serial),
        lambda: nvml.nvmlDeviceGetHandleByPciBusId(f"{gpu.bus_id}.0"),
    ):
        with pytest.raises(getattr(nvml, error)):
            look_up()
    with pytest.raises(nvml.NVMLError_GpuIsLost):
        nvml.nvmlDeviceGetPowerUsage(held)


def test_neighbours_of_a_lost_gpu_are_fine(make_rig: MakeRig, inputs_of: InputsOf) -> None:
    """Their readings are what they would have been; only what two of them share fails."""
    rig, whole = make_rig(gpus=4), make_rig(gpus=4)
    raise_xid(rig.node, rig.node.gpus[2], 79, rig.at_us)
    for device in (0, 1, 3):
        for function in OF_A_GPU:
            if not any(param.kind is Kind.DEVICE for param in function.params[1:]):
                call = Call(function.name, device, inputs_of(function))
                beside = answer(rig.node, call, rig.at_us)
                assert beside == answer(whole.node, call, rig.at_us), function.name
    together = Call("nvmlDeviceGetP2PStatus", 0, (2, 0))
    assert answer(rig.node, together, rig.at_us).code == Code.GPU_IS_LOST
    assert answer(rig.node, Call("nvmlDeviceGetP2PStatus", 0, (1, 0)), rig.at_us).code == 0


def test_nothing_of_a_lost_gpu_is_written_or_set(rig: Any) -> None:
    """A failed call leaves the caller's memory, and the world, as they were."""
    gpu, handle = rig.node.gpus[1], rig.handle(1)
    gpu.lost = Lost(since_us=0)
    value, text, count = c_uint(7), (c_char * 96)(*b"before"), c_uint(9)
    assert rig.library.nvmlDeviceGetPowerUsage(handle, byref(value)) == Code.GPU_IS_LOST
    assert rig.library.nvmlDeviceGetUUID(handle, text, 96) == Code.GPU_IS_LOST
    assert (
        rig.library.nvmlDeviceGetComputeRunningProcesses_v3(handle, byref(count), text)
        == Code.GPU_IS_LOST
    )
    assert rig.library.nvmlDeviceSetPowerManagementLimit(handle, 300_000) == Code.GPU_IS_LOST
    assert (value.value, text.value, count.value) == (7, b"before", 9)
    assert gpu.power_limit_mw == 700_000


def test_a_gpu_that_requires_a_reset(rig: Any, inputs_of: InputsOf) -> None:
    """All that asks the GPU says RESET_REQUIRED; what the driver knows by itself still answers."""
    raise_xid(rig.node, rig.node.gpus[0], 119, rig.at_us)
    for function in OF_A_GPU:
        known = function.name in IDENTITY | KNOWN_TO_THE_DRIVER
        call = Call(function.name, 0, inputs_of(function))
        expected = Code.SUCCESS if known else Code.RESET_REQUIRED
        if function.name == TAKES_A_SET:
            expected = Code.INVALID_ARGUMENT  # the set; of the GPU, the driver takes note
        code = answer(rig.node, call, rig.at_us).code
        if function.name in MEMORY:
            assert code in (Code.SUCCESS, Code.NOT_SUPPORTED), function.name
        else:
            assert code == expected, function.name


def test_the_recovery_action_tells_what_to_do(rig: Any) -> None:
    """A GPU that requires its reset gives a handle, and says so in the field made for it."""
    nvml = rig.nvml
    raise_xid(rig.node, rig.node.gpus[0], 119, rig.at_us)
    asked = [nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, nvml.NVML_FI_DEV_MEMORY_TEMP]
    action, temperature = nvml.nvmlDeviceGetFieldValues(rig.handle(0), asked)
    assert (action.nvmlReturn, action.value.uiVal) == (0, 1)
    assert temperature.nvmlReturn == Code.RESET_REQUIRED
    beside = nvml.nvmlDeviceGetFieldValues(rig.handle(1), asked)
    assert [each.nvmlReturn for each in beside] == [0, 0]
    assert beside[0].value.uiVal == 0
    with pytest.raises(nvml.NVMLError_ResetRequired):
        nvml.nvmlDeviceGetPowerUsage(rig.handle(0))
