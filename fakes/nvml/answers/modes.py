"""What can be set besides power: modes, and the range in which clocks may run.

What is no possible value is an invalid argument, here as in nvml.h; every change is an action of
whoever asked for it.
"""

from __future__ import annotations

from dataclasses import replace

from fakes.actions import Action, Effect
from fakes.hardware.gpu import Gpu
from fakes.hardware.settings import ANY_CLOCK, ClockRange, Settings
from fakes.hardware.unowned import is_held
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require, uint32

_COMPUTE_MODES = ("default", "exclusive thread", "prohibited", "exclusive process")
_EXCLUSIVE_THREAD = 1
_NO_APPLICATION_CLOCKS_FROM = 590
_FIRST_TO_SWITCH_AT_ONCE = 9  # NVML_DEVICE_ARCH_HOPPER


@answers("nvmlDeviceSetComputeMode", node=True, changes=True)
def set_compute_mode(gpu: Gpu, node: Node, at_us: int, mode: int) -> Value:
    """How many processes may compute. The mode of one thread is gone since CUDA 8 (nvml.h)."""
    if mode >= len(_COMPUTE_MODES):
        raise NvmlError(Code.INVALID_ARGUMENT)
    require(mode != _EXCLUSIVE_THREAD)
    settings = replace(gpu.settings, compute_mode=mode)
    return _set(gpu, node, at_us, settings, Effect.SET_COMPUTE_MODE, _COMPUTE_MODES[mode])


@answers("nvmlDeviceSetEccMode", node=True, changes=True)
def set_ecc_mode(gpu: Gpu, node: Node, at_us: int, mode: int) -> Value:
    """ECC on or off, from the next reset on."""
    settings = replace(gpu.settings, ecc_pending=_switch(mode))
    return _set(gpu, node, at_us, settings, Effect.SET_ECC, _word(mode))


@answers("nvmlDeviceSetMigMode", node=True, changes=True)
def set_mig_mode(gpu: Gpu, node: Node, at_us: int, mode: int) -> Value:
    """MIG on or off: at once from Hopper on, if nobody uses the GPU, else at the next reset.

    The answer is the code with which switching at once ended.
    """
    require(gpu.profile.can.mig)
    settings = replace(gpu.settings, mig_pending=_switch(mode))
    came = Code.SUCCESS
    if settings.mig == settings.mig_pending:
        pass
    elif is_held(gpu):
        came = Code.IN_USE
    elif gpu.profile.architecture < _FIRST_TO_SWITCH_AT_ONCE:
        came = Code.RESET_REQUIRED
    else:
        settings = replace(settings, mig=settings.mig_pending)
    _set(gpu, node, at_us, settings, Effect.SET_MIG, _word(mode))
    return uint32(int(came))


@answers("nvmlDeviceSetAccountingMode", changes=True)
def set_accounting_mode(gpu: Gpu, at_us: int, mode: int) -> Value:
    """Keep statistics of processes, or do not."""
    gpu.set_settings(replace(gpu.settings, accounting=_switch(mode)), at_us)
    return ()


@answers("nvmlDeviceClearAccountingPids")
def clear_accounting_pids(gpu: Gpu, at_us: int) -> Value:
    """Forget the statistics of processes that have ended: there are none."""
    return ()


@answers("nvmlDeviceSetGpuLockedClocks", node=True, changes=True)
def lock_clocks(gpu: Gpu, node: Node, at_us: int, lowest_mhz: int, highest_mhz: int) -> Value:
    """Keep the SM clock in a range: between those that can be asked for, in steps of theirs."""
    if lowest_mhz > highest_mhz:
        raise NvmlError(Code.INVALID_ARGUMENT)
    locked = ClockRange(_step(gpu, lowest_mhz), _step(gpu, highest_mhz))
    settings = replace(gpu.settings, locked=locked)
    told = f"{lowest_mhz}..{highest_mhz} MHz"
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, told)


@answers("nvmlDeviceResetGpuLockedClocks", node=True, changes=True)
def unlock_clocks(gpu: Gpu, node: Node, at_us: int) -> Value:
    """Let the SM clock run freely."""
    settings = replace(gpu.settings, locked=ANY_CLOCK)
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, "free")


@answers("nvmlDeviceSetMemoryLockedClocks", node=True, changes=True)
def lock_memory(gpu: Gpu, node: Node, at_us: int, lowest_mhz: int, highest_mhz: int) -> Value:
    """Keep the memory clock: at the highest that it has in the range."""
    clocks = gpu.profile.clocks
    known = sorted({clocks.memory_idle_mhz, clocks.memory_mhz})
    within = [mhz for mhz in known if mhz <= highest_mhz]
    if lowest_mhz > highest_mhz:
        raise NvmlError(Code.INVALID_ARGUMENT)
    settings = replace(gpu.settings, locked_memory_mhz=within[-1] if within else known[0])
    told = f"memory {lowest_mhz}..{highest_mhz} MHz"
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, told)


@answers("nvmlDeviceResetMemoryLockedClocks", node=True, changes=True)
def unlock_memory(gpu: Gpu, node: Node, at_us: int) -> Value:
    """Let the memory clock run freely."""
    settings = replace(gpu.settings, locked_memory_mhz=0)
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, "memory free")


@answers("nvmlDeviceSetApplicationsClocks", node=True, changes=True)
def set_applications_clocks(
    gpu: Gpu, node: Node, at_us: int, memory_mhz: int, sm_mhz: int
) -> Value:
    """The clocks that applications ask for: a pair of those that go together."""
    _check_application_clocks(node)
    clocks = gpu.profile.clocks
    possible = range(clocks.min_mhz, clocks.max_mhz + 1, clocks.step_mhz)
    if memory_mhz != clocks.memory_mhz or sm_mhz not in possible:
        raise NvmlError(Code.INVALID_ARGUMENT)
    settings = replace(gpu.settings, application_mhz=(memory_mhz, sm_mhz))
    told = f"applications {memory_mhz},{sm_mhz} MHz"
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, told)


@answers("nvmlDeviceResetApplicationsClocks", node=True, changes=True)
def reset_applications_clocks(gpu: Gpu, node: Node, at_us: int) -> Value:
    """Let applications ask for the default clocks."""
    _check_application_clocks(node)
    settings = replace(gpu.settings, application_mhz=None)
    return _set(gpu, node, at_us, settings, Effect.SET_CLOCKS, "applications free")


def _check_application_clocks(node: Node) -> None:
    if int(node.driver.version.split(".")[0]) >= _NO_APPLICATION_CLOCKS_FROM:
        raise NvmlError(Code.DEPRECATED)


def _set(
    gpu: Gpu, node: Node, at_us: int, settings: Settings, effect: Effect, told: str
) -> tuple[bytes, ...]:
    gpu.set_settings(settings, at_us)
    node.actions.note(Action(at_us, effect, node.name, gpu.index, detail=told))
    return ()


def _switch(mode: int) -> bool:
    if mode > 1:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return bool(mode)


def _word(mode: int) -> str:
    return "on" if mode else "off"


def _step(gpu: Gpu, clock_mhz: int) -> int:
    """The clock that comes next to the one asked for, of those that there are."""
    clocks = gpu.profile.clocks
    steps = round((clock_mhz - clocks.min_mhz) / clocks.step_mhz)
    return min(clocks.max_mhz, clocks.min_mhz + max(0, steps) * clocks.step_mhz)
