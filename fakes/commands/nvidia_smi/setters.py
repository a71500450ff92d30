"""What nvidia-smi changes: persistence, the power limit, clocks.

Each setter says what became of every GPU in turn. Where a GPU cannot do it, that is a warning, and
the call goes on and succeeds (``-eow`` makes it an error); anything else that fails ends the call.
Sources of the wording: outputs in public bug reports and guides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TextIO

from fakes.commands.nvidia_smi.options import Options
from fakes.commands.nvidia_smi.reading import NOT_HERE, Gpu, Missing
from fakes.commands.nvidia_smi.selection import Ended, status_of
from fakes.commands.nvidia_smi.words import enabled, watts
from fakes.nvml.codes import Code

_ON, _OFF = ("1", "ENABLED"), ("0", "DISABLED")


@dataclass(frozen=True, slots=True)
class Setter:
    """A setting. ``set`` does it, and returns what is said of one GPU, if anything.

    The other three are what is said where a GPU cannot do it, where the caller may not, and where
    it fails otherwise: ``bus`` stands for the GPU's address, ``why`` for NVML's words.
    """

    set: Callable[[Gpu, str], str]
    not_supported: str
    refused: str
    failed: str


class _BadValue(Exception):  # noqa: N818
    """A value that is none, and what is said about it."""


def run(options: Options, gpus: Sequence[Gpu], out: TextIO) -> int:
    """Set what ``options`` say on every GPU; the exit status."""
    setter = SETTERS[options.verb]
    for gpu in gpus:
        try:
            said = setter.set(gpu, options.value)
        except _BadValue as bad:
            _end(str(bad), status_of(Code.INVALID_ARGUMENT), out)
        except Missing as missing:
            said = _refused(setter, gpu, missing.code, options, out)
        if said:
            out.write(f"{said}\n")
    out.write("All done.\n")
    return 0


def _refused(setter: Setter, gpu: Gpu, code: int, options: Options, out: TextIO) -> str:
    """A warning that a GPU cannot do it. Any other refusal ends the call."""
    why = gpu.driver.why(code) if code == Code.DEPRECATED else gpu.driver.error_text(code)
    if code not in NOT_HERE:
        words = setter.refused if code == Code.NO_PERMISSION else setter.failed
        _end(words.format(bus=gpu.bus_id, why=why), status_of(code), out)
    warning = setter.not_supported.format(bus=gpu.bus_id, why=why)
    if options.strict:
        _end(warning, status_of(Code.NOT_SUPPORTED), out)
    return f"{warning}\nTreating as warning and moving on."


def _end(said: str, status: int, out: TextIO) -> NoReturn:
    out.write(f"{said}\nTerminating early due to previous errors.\n")
    raise Ended(status)


def _persistence(gpu: Gpu, value: str) -> str:
    if value.upper() not in _ON + _OFF:
        raise _BadValue(f'"{value}" is not a persistence mode: 0/DISABLED, 1/ENABLED')
    wanted = int(value.upper() in _ON)
    word = enabled(wanted)
    if gpu.get("nvmlDeviceGetPersistenceMode") == wanted:
        return f"Persistence mode is already {word} for GPU {gpu.bus_id}."
    gpu.do("nvmlDeviceSetPersistenceMode", wanted)
    return f"{word} persistence mode for GPU {gpu.bus_id}."


def _power_limit(gpu: Gpu, value: str) -> str:
    try:
        wanted_mw = round(float(value) * 1000)
    except ValueError:
        raise _BadValue(f'"{value}" is not a power limit in watts') from None
    lowest_mw, highest_mw = gpu.get("nvmlDeviceGetPowerManagementLimitConstraints")
    if not lowest_mw <= wanted_mw <= highest_mw:
        raise _BadValue(
            f"Provided power limit {watts(wanted_mw)} W is not a valid power limit which should be "
            f"between {watts(lowest_mw)} W and {watts(highest_mw)} W for GPU {gpu.bus_id}"
        )
    before_mw = gpu.get("nvmlDeviceGetPowerManagementLimit")
    gpu.do("nvmlDeviceSetPowerManagementLimit", wanted_mw)
    return (
        f"Power limit for GPU {gpu.bus_id} was set to {watts(wanted_mw)} W "
        f"from {watts(before_mw)} W."
    )


def _clocks(value: str, parts: Sequence[int]) -> list[int]:
    """Clocks in MHz, separated by a comma, as many as one of ``parts``."""
    texts = [text.strip() for text in value.split(",")]
    if len(texts) not in parts or not all(text.isdecimal() for text in texts):
        raise _BadValue(f'"{value}" is not a clock, or pair of clocks, in MHz')
    return [int(text) for text in texts]


def _lock_gpu_clocks(gpu: Gpu, value: str) -> str:
    clocks_mhz = _clocks(value, (1, 2))
    lowest_mhz, highest_mhz = clocks_mhz[0], clocks_mhz[-1]
    gpu.do("nvmlDeviceSetGpuLockedClocks", lowest_mhz, highest_mhz)
    return (
        f'GPU clocks set to "(gpuClkMin {lowest_mhz}, gpuClkMax {highest_mhz})" '
        f"for GPU {gpu.bus_id}"
    )


def _applications_clocks(gpu: Gpu, value: str) -> str:
    memory_mhz, graphics_mhz = _clocks(value, (2,))
    gpu.do("nvmlDeviceSetApplicationsClocks", memory_mhz, graphics_mhz)
    return (
        f'Applications clocks set to "(MEM {memory_mhz}, SM {graphics_mhz})" for GPU {gpu.bus_id}'
    )


def _reset(function: str) -> Callable[[Gpu, str], str]:
    def reset(gpu: Gpu, value: str) -> str:
        gpu.do(function)
        return ""

    return reset


def _clock_setter(what: str, setting: Callable[[Gpu, str], str]) -> Setter:
    return Setter(
        setting,
        f"{what} is not supported for GPU {{bus}}.",
        "The current user does not have permission to change clocks for GPU {bus}.",
        f"{what} failed for GPU {{bus}}: {{why}}",
    )


SETTERS: Mapping[str, Setter] = {
    "persistence-mode": Setter(
        _persistence, *["Unable to set persistence mode for GPU {bus}: {why}"] * 3
    ),
    "power-limit": Setter(
        _power_limit,
        "Changing power management limit is not supported for GPU: {bus}.",
        *["Failed to set power management limit for GPU {bus}: {why}"] * 2,
    ),
    "lock-gpu-clocks": _clock_setter("Setting locked GPU clocks", _lock_gpu_clocks),
    "reset-gpu-clocks": _clock_setter(
        "Resetting locked GPU clocks", _reset("nvmlDeviceResetGpuLockedClocks")
    ),
    "applications-clocks": _clock_setter("Setting applications clocks", _applications_clocks),
    "reset-applications-clocks": _clock_setter(
        "Resetting applications clocks", _reset("nvmlDeviceResetApplicationsClocks")
    ),
}
"""By the option's long name."""
