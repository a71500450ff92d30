"""Modes of memory, computing, accounting and instances."""

from __future__ import annotations

from collections.abc import Mapping

from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.setters.setter import Setter, doing, one_of, switch
from fakes.commands.nvidia_smi.words import enabled
from fakes.nvml.codes import Code

_COMPUTE_MODES = ("DEFAULT", "EXCLUSIVE_THREAD", "PROHIBITED", "EXCLUSIVE_PROCESS")
_EXCLUSIVE_THREAD, _EXCLUSIVE_PROCESS = 1, 3
_COUNTERS = ("VOLATILE", "AGGREGATE")
_OPERATION_MODES = ("ALL_ON", "COMPUTE", "LOW_DP")


def _ecc(gpu: Gpu, value: str) -> str:
    wanted = switch(value, "an ECC mode")
    if gpu.get("nvmlDeviceGetEccMode")[1] == wanted:
        return f"ECC support is already {enabled(wanted)} for GPU {gpu.bus_id}."
    gpu.do("nvmlDeviceSetEccMode", wanted)
    return f"{enabled(wanted)} ECC support for GPU {gpu.bus_id}."


def _clear_errors(gpu: Gpu, value: str) -> str:
    which = one_of(value, _COUNTERS, "a sort of ECC error counters")
    gpu.do("nvmlDeviceClearEccErrorCounts", which)
    return f"Reset {_COUNTERS[which].lower()} ECC errors to zero for GPU {gpu.bus_id}."


def _compute(gpu: Gpu, value: str) -> str:
    wanted = one_of(value, _COMPUTE_MODES, "a compute mode")
    warning = ""
    if wanted == _EXCLUSIVE_THREAD:
        wanted = _EXCLUSIVE_PROCESS
        warning = "Warning: Exclusive_Thread was deprecated! Setting Exclusive_Process instead.\n"
    word = _COMPUTE_MODES[wanted]
    if gpu.get("nvmlDeviceGetComputeMode") == wanted:
        return f"{warning}Compute mode is already set to {word} for GPU {gpu.bus_id}."
    gpu.do("nvmlDeviceSetComputeMode", wanted)
    return f"{warning}Set compute mode to {word} for GPU {gpu.bus_id}."


def _accounting(gpu: Gpu, value: str) -> str:
    wanted = switch(value, "an accounting mode")
    word = enabled(wanted)
    if gpu.get("nvmlDeviceGetAccountingMode") == wanted:
        return f"Accounting mode is already set to {word} for GPU {gpu.bus_id}."
    gpu.do("nvmlDeviceSetAccountingMode", wanted)
    return f"{word} accounting mode for GPU {gpu.bus_id}."


def _clear_accounted(gpu: Gpu, value: str) -> str:
    doing("nvmlDeviceClearAccountingPids")(gpu, value)
    return f"Cleared Accounted PIDs for GPU {gpu.bus_id}."


def _mig(gpu: Gpu, value: str) -> str:
    wanted = switch(value, "a MIG mode")
    came = gpu.ask("nvmlDeviceSetMigMode", wanted)
    if isinstance(came, Missing):
        raise Missing(came.code)
    if came == Code.SUCCESS:
        return f"{enabled(wanted)} MIG Mode for GPU {gpu.bus_id}"
    pending = "enable" if wanted else "disable"
    why = gpu.driver.error_text(came)
    warning = f"Warning: MIG mode is in pending {pending} state for GPU {gpu.bus_id}:{why}"
    if came != Code.IN_USE:
        return (
            f"{warning}\nReboot the system or try nvidia-smi --gpu-reset to make MIG mode active."
        )
    return (
        f"{warning}\n{gpu.bus_id} is currently being used by one or more other processes (e.g. "
        "CUDA application or a monitoring application such as another instance of nvidia-smi). "
        "Please first kill all processes using the device and retry the command or reboot the "
        f"system to make MIG mode effective."
    )


def _operation_mode(gpu: Gpu, value: str) -> str:
    gpu.do("nvmlDeviceSetGpuOperationMode", one_of(value, _OPERATION_MODES, "an operation mode"))
    return f"Set GPU operation mode for GPU {gpu.bus_id}."


def _target_temperature(gpu: Gpu, value: str) -> str:
    del value
    gpu.get("nvmlDeviceGetTemperatureThreshold", 5)
    raise Missing(Code.NOT_SUPPORTED)


MODES: Mapping[str, Setter] = {
    "ecc-config": Setter(
        _ecc,
        "Changing ECC mode is not supported for GPU: {bus}.",
        "Unable to change ECC mode for GPU {bus}: {why}",
        "Unable to change ECC mode for GPU {bus}: {why}",
        closing="Reboot required.",
    ),
    "reset-ecc-errors": Setter(
        _clear_errors,
        "Resetting ECC error counts is not supported for GPU: {bus}.",
        *["Unable to reset ECC errors for GPU {bus}: {why}"] * 2,
    ),
    "compute-mode": Setter(
        _compute,
        "Setting compute mode is not supported for GPU: {bus}.",
        *["Unable to set compute mode for GPU {bus}: {why}"] * 2,
    ),
    "accounting-mode": Setter(
        _accounting,
        "Setting accounting mode is not supported for GPU: {bus}.",
        *["Unable to set accounting mode for GPU {bus}: {why}"] * 2,
    ),
    "clear-accounted-apps": Setter(
        _clear_accounted,
        "Clearing accounted PIDs is not supported for GPU: {bus}.",
        *["Unable to clear accounted PIDs for GPU {bus}: {why}"] * 2,
    ),
    "multi-instance-gpu": Setter(_mig, *["Unable to enable MIG Mode for GPU {bus}: {why}"] * 3),
    "gom": Setter(
        _operation_mode,
        "Changing GPU operation mode is not supported for GPU: {bus}.",
        *["Unable to change GPU operation mode for GPU {bus}: {why}"] * 2,
    ),
    "gpu-target-temp": Setter(
        _target_temperature,
        "Setting GPU target temperature is not supported for GPU: {bus}.",
        *["Unable to set GPU target temperature for GPU {bus}: {why}"] * 2,
    ),
}
"""By the option's long name."""
