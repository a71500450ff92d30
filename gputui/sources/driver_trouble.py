"""When NVML does not answer at all: what was tried, what it means, what to do."""

from __future__ import annotations

import ctypes

from gputui.sources.files import read_text, system_root

LIBRARY = "libnvidia-ml.so.1"

_LIBRARY_NOT_FOUND = 12
VERSION_MISMATCH = 18

_ADVICE = {
    4: (
        "no permission to use the driver",
        "Check the permissions of /dev/nvidia*, or the container's device rules.",
    ),
    9: (
        "the NVIDIA driver is not loaded",
        "Load it (modprobe nvidia), and look for NVRM lines in dmesg if that fails.",
    ),
    17: (
        "the operating system blocked the request",
        "Check whether this container or sandbox may use /dev/nvidia*.",
    ),
    VERSION_MISMATCH: (
        "the library and the kernel module are of different versions",
        "Reboot, or reload the kernel module when no process uses the GPUs.",
    ),
    999: (
        "the driver answered with an unknown error",
        "In a container that worked before, device access was lost: restart the container. "
        "Otherwise look for NVRM lines in dmesg.",
    ),
}


def explain(code: int, *, library: str | None = None) -> str:
    """One paragraph for a person: NVML's code, its meaning here, and the next step.

    ``library`` is the version of NVML's library, where it is known.
    """
    if code == _LIBRARY_NOT_FOUND:
        return (
            f"NVML not found: {_load_error()}. There is no NVIDIA driver here, or this container "
            "was started without it. Install the driver, or start the container with its GPUs "
            "(--gpus all)."
        )
    meaning, advice = _ADVICE.get(code, ("the driver does not answer", "See dmesg for NVRM lines."))
    if code == VERSION_MISMATCH:
        versions = {"library": library, "kernel module": _module_version()}
        known = ", ".join(f"{what} {version}" for what, version in versions.items() if version)
        meaning += f" ({known})" if known else ""
    return f"NVML error {code}: {meaning}. {advice}"


def no_gpus() -> str:
    """The driver answers and counts no GPU."""
    return (
        "NVML counts no GPUs: the driver is loaded but sees none, or this container was given "
        "none. Compare with lspci -d 10de: and look for NVRM lines in dmesg."
    )


def _load_error() -> str:
    """What the dynamic linker says; the binding keeps it to itself."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return f"tried {LIBRARY} ({error})"
    return f"tried {LIBRARY}, which is there only now"


def _module_version() -> str:
    try:
        return read_text(str(system_root() / "sys/module/nvidia/version"))
    except OSError:
        return ""
