"""The GPUs that the PCI bus shows, whether or not the driver's library counts them.

Read from /sys/bus/pci (Documentation/ABI/testing/sysfs-bus-pci), which wakes no device. Whether one
is meant for us is told by the driver's list in /proc and by whether its device file may be used:
access(2) asks the container's device rules as opening it would, without waking the GPU either.
"""

from __future__ import annotations

import os
from pathlib import Path

from gputui.bus import parse_bus_id
from gputui.model import PciGpu
from gputui.sources.files import names, read, read_text

_NVIDIA = "0x10de"
_DISPLAY = "0x03"
"""The first digits of the class of display controllers: VGA (0x0300), 3D (0x0302) and others."""

_DRIVER = "nvidia"
_INFORMATION_BYTES = 4096


def gpus_on_bus(root: Path, counted: frozenset[str] = frozenset()) -> tuple[PciGpu, ...]:
    """NVIDIA's GPUs, by address; none where the bus cannot be seen.

    ``counted`` are the addresses that NVML counts: those are certainly not hidden. Functions of a
    GPU that are given to virtual machines are left out.
    """
    folder = f"{root}/sys/bus/pci/devices"
    try:
        devices = names(folder)
    except OSError:
        return ()
    found = []
    for device in devices:
        bus_id = parse_bus_id(device)
        if bus_id is None or not _is_gpu(f"{folder}/{device}"):
            continue
        driver = _driver(f"{folder}/{device}")
        hidden = driver == _DRIVER and bus_id not in counted and not _may_be_used(root, device)
        found.append(PciGpu(bus_id, driver, hidden, _above(f"{folder}/{device}")))
    return tuple(found)


def _is_gpu(device: str) -> bool:
    try:
        if read_text(f"{device}/vendor") != _NVIDIA:
            return False
        return read_text(f"{device}/class").startswith(_DISPLAY) and not os.path.lexists(
            f"{device}/physfn"
        )
    except OSError:
        return False


def _above(device: str) -> tuple[str, ...]:
    """The bridges on the way to a device: its place in /sys is below theirs."""
    try:
        place = os.readlink(device)  # noqa: PTH115 (hot path)
    except OSError:
        return ()
    *way, _ = place.split("/")
    return tuple(bus_id for step in way if (bus_id := parse_bus_id(step)) is not None)


def _driver(device: str) -> str | None:
    try:
        return os.path.basename(os.readlink(f"{device}/driver"))  # noqa: PTH115, PTH119 (hot path)
    except OSError:
        return None


def _may_be_used(root: Path, device: str) -> bool:
    """Whether the driver shows the GPU to us, and its device file may be opened."""
    try:
        data = read(f"{root}/proc/driver/nvidia/gpus/{device}/information", _INFORMATION_BYTES)
    except OSError:
        return False
    for line in data.decode("ascii", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "Device Minor" and value.strip().isdecimal():
            return os.access(f"{root}/dev/nvidia{value.strip()}", os.R_OK | os.W_OK)
    return False
