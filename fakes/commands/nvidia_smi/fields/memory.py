"""Frame buffer, protected memory, and how busy the engines are."""

from __future__ import annotations

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.fields.state import COMPUTE_MODE
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.words import Read, enabled, mib, part
from fakes.nvml.codes import Code

_MEMORY_V2 = 0x2000028


def _of_memory(member: str) -> Read:
    """A member of the second form of memory information, which tells the driver's part apart."""

    def read(gpu: Gpu) -> str:
        try:
            memory = gpu.get("nvmlDeviceGetMemoryInfo", _MEMORY_V2)
        except Missing as missing:
            if missing.code != Code.FUNCTION_NOT_FOUND or member == "reserved":
                raise
            memory = gpu.get("nvmlDeviceGetMemoryInfo")
        return mib(getattr(memory, member))

    return read


def _capability(gpu: Gpu) -> str:
    major, minor = gpu.get("nvmlDeviceGetCudaComputeCapability")
    return f"{major}.{minor}"


_MEMORY = (
    ("total", "All there is."),
    ("reserved", "What driver and firmware keep for themselves."),
    ("used", "What processes hold."),
    ("free", "What is left."),
)
_ENGINES = (
    ("encoder", "nvmlDeviceGetEncoderUtilization"),
    ("decoder", "nvmlDeviceGetDecoderUtilization"),
    ("jpeg", "nvmlDeviceGetJpgUtilization"),
    ("ofa", "nvmlDeviceGetOfaUtilization"),
)

FIELDS: tuple[Field[Gpu], ...] = (
    *(
        field(f"memory.{name}", read=_of_memory(name), unit="MiB", about=about)
        for name, about in _MEMORY
    ),
    COMPUTE_MODE,
    field("compute_cap", read=_capability, about="CUDA compute capability, major.minor."),
    field(
        "utilization.gpu",
        read=part("nvmlDeviceGetUtilizationRates", "gpu"),
        unit="%",
        about="Share of the last sample period in which a kernel ran.",
    ),
    field(
        "utilization.memory",
        read=part("nvmlDeviceGetUtilizationRates", "memory"),
        unit="%",
        about="Share of the last sample period in which memory was accessed.",
    ),
    *(
        field(
            f"utilization.{engine}",
            read=part(function, 0),
            unit="%",
            about="Share of the last sample period in which this engine ran.",
        )
        for engine, function in _ENGINES
    ),
    *(
        field(f"encoder.stats.{name}", read=part("nvmlDeviceGetEncoderStats", which), about=about)
        for which, (name, about) in enumerate(
            (
                ("sessionCount", "Encoding sessions."),
                ("averageFps", "Their frames per second."),
                ("averageLatency", "Their latency in microseconds."),
            )
        )
    ),
    *(
        field(
            f"dramEncryption.mode.{when}",
            read=part("nvmlDeviceGetDramEncryptionMode", which, by=enabled),
            about="Whether the memory is encrypted.",
        )
        for which, when in enumerate(("current", "pending"))
    ),
)

PROTECTED: tuple[Field[Gpu], ...] = tuple(
    field(
        f"protected_memory.{member}",
        read=part("nvmlDeviceGetConfComputeProtectedMemoryUsage", member, by=mib),
        unit="MiB",
        about="Memory under confidential computing.",
    )
    for member in ("total", "used", "free")
)
