"""Clocks: locked ones, and those that applications ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.setters.setter import Setter, clocks, doing, one_of, switch

_RESTRICTIONS = ("UNRESTRICTED", "RESTRICTED")
_APPLICATIONS, _AUTO_BOOST = 0, 1


def _lock_gpu(gpu: Gpu, value: str) -> str:
    clocks_mhz = clocks(value, (1, 2))
    lowest_mhz, highest_mhz = clocks_mhz[0], clocks_mhz[-1]
    gpu.do("nvmlDeviceSetGpuLockedClocks", lowest_mhz, highest_mhz)
    return (
        f'GPU clocks set to "(gpuClkMin {lowest_mhz}, gpuClkMax {highest_mhz})" '
        f"for GPU {gpu.bus_id}"
    )


def _lock_memory(gpu: Gpu, value: str) -> str:
    clocks_mhz = clocks(value, (1, 2))
    lowest_mhz, highest_mhz = clocks_mhz[0], clocks_mhz[-1]
    gpu.do("nvmlDeviceSetMemoryLockedClocks", lowest_mhz, highest_mhz)
    return (
        f'Memory clocks set to "(memClkMin {lowest_mhz}, memClkMax {highest_mhz})" '
        f"for GPU {gpu.bus_id}"
    )


def _applications(gpu: Gpu, value: str) -> str:
    memory_mhz, graphics_mhz = clocks(value, (2,))
    gpu.do("nvmlDeviceSetApplicationsClocks", memory_mhz, graphics_mhz)
    return (
        f'Applications clocks set to "(MEM {memory_mhz}, SM {graphics_mhz})" for GPU {gpu.bus_id}'
    )


def _auto_boost(gpu: Gpu, value: str) -> str:
    gpu.do("nvmlDeviceSetDefaultAutoBoostedClocksEnabled", switch(value, "an auto boost policy"), 0)
    return f"All GPUs' default auto boost policy was set for GPU {gpu.bus_id}."


def _restriction(what: int) -> Callable[[Gpu, str], str]:
    def restrict(gpu: Gpu, value: str) -> str:
        wanted = one_of(value, _RESTRICTIONS, "a permission")
        gpu.do("nvmlDeviceSetAPIRestriction", what, wanted)
        return f"Permission was set to {_RESTRICTIONS[wanted]} for GPU {gpu.bus_id}."

    return restrict


def _clock_setter(what: str, setting: Callable[[Gpu, str], str]) -> Setter:
    return Setter(
        setting,
        f"{what} is not supported for GPU {{bus}}.",
        "The current user does not have permission to change clocks for GPU {bus}.",
        f"{what} failed for GPU {{bus}}: {{why}}",
    )


CLOCKS: Mapping[str, Setter] = {
    "lock-gpu-clocks": _clock_setter("Setting locked GPU clocks", _lock_gpu),
    "reset-gpu-clocks": _clock_setter(
        "Resetting locked GPU clocks", doing("nvmlDeviceResetGpuLockedClocks")
    ),
    "lock-memory-clocks": _clock_setter("Setting locked memory clocks", _lock_memory),
    "reset-memory-clocks": _clock_setter(
        "Resetting locked memory clocks", doing("nvmlDeviceResetMemoryLockedClocks")
    ),
    "applications-clocks": _clock_setter("Setting applications clocks", _applications),
    "reset-applications-clocks": _clock_setter(
        "Resetting applications clocks", doing("nvmlDeviceResetApplicationsClocks")
    ),
    "applications-clocks-permission": _clock_setter(
        "Setting permission for applications clocks", _restriction(_APPLICATIONS)
    ),
    "auto-boost-default": _clock_setter("Setting the default auto boost policy", _auto_boost),
    "auto-boost-permission": _clock_setter(
        "Setting permission for auto boost", _restriction(_AUTO_BOOST)
    ),
}
"""By the option's long name."""
