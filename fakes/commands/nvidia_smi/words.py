"""How nvidia-smi words values: switches, enumerations, sizes, and values from one NVML call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.nvml.codes import Code

Read = Callable[[Gpu], str]

BRANDS = (
    "Unknown", "Quadro", "Tesla", "NVS", "Grid", "GeForce", "Titan", "NVIDIA Virtual Applications",
    "NVIDIA Virtual PC", "NVIDIA Virtual Compute Server", "NVIDIA RTX Virtual Workstation",
    "NVIDIA Cloud Gaming", "Quadro RTX", "NVIDIA RTX", "NVIDIA", "GeForce RTX", "Titan RTX",
)  # fmt: skip
"""Product brands by nvmlBrandType_t."""

ARCHITECTURES = {
    2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere",
    8: "Ada Lovelace", 9: "Hopper", 10: "Blackwell", 13: "Rubin",
}  # fmt: skip
"""Architectures by NVML_DEVICE_ARCH_*."""

COMPUTE_MODES = ("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")
VIRTUALIZATION_MODES = ("None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA")
ADDRESSING_MODES = ("None", "HMM", "ATS")
RECOVERY_ACTIONS = (
    "None", "Reset", "Reboot", "Drain P2P", "Drain and Reset", "Recover IMEX Domain", "Bus Reset",
    "System Reboot",
)  # fmt: skip
"""What is to be done about a GPU, by NVML_GPU_RECOVERY_ACTION_*."""


def enabled(value: int) -> str:
    """A mode that is on or off."""
    return "Enabled" if value else "Disabled"


def yes(value: int) -> str:
    """A fact that holds or does not."""
    return "Yes" if value else "No"


def active(value: int) -> str:
    """A reason that is in force or is not."""
    return "Active" if value else "Not Active"


def mib(size_bytes: int) -> str:
    """Bytes in MiB: a part of one counts as one (captures)."""
    return str(-(-size_bytes // 2**20))


def watts(power_mw: int) -> str:
    """Milliwatts in watts."""
    return f"{power_mw / 1000:.2f}"


def one_of(words: Sequence[str] | Mapping[int, str], value: int) -> str:
    """The word for an enumeration's value; one that has none is not supported."""
    try:
        return words[value]
    except (IndexError, KeyError):
        raise Missing(Code.NOT_SUPPORTED) from None


def said(function: str, *inputs: int, by: Callable[[int], str] = str) -> Read:
    """The result of one NVML function, worded by ``by``."""
    return lambda gpu: by(gpu.get(function, *inputs))


def part(function: str, which: int | str, *inputs: int, by: Callable[[int], str] = str) -> Read:
    """One of several results of an NVML function: by position, or a structure's member by name."""

    def read(gpu: Gpu) -> str:
        result = gpu.get(function, *inputs)
        return by(getattr(result, which) if isinstance(which, str) else result[which])

    return read


FIELD_VALUES: set[tuple[int, int]] = set()
"""All field values that are worded anywhere: a report asks for them at once."""


def field_value(number: int, scope: int = 0, by: Callable[[int], str] = str) -> Read:
    """A field value (NVML_FI_*), worded by ``by``."""
    FIELD_VALUES.add((number, scope))
    return lambda gpu: by(gpu.field(number, scope))


def nothing(gpu: Gpu) -> str:
    """What no GPU here has."""
    raise Missing(Code.NOT_SUPPORTED)


def until(branch: int, read: Read) -> Read:
    """A value that drivers from ``branch`` on no longer tell."""

    def checked(gpu: Gpu) -> str:
        if gpu.driver.branch >= branch:
            raise Missing(Code.DEPRECATED)
        return read(gpu)

    return checked
