"""NVSwitch, and the Fabric Manager that programs it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, gpu_list, skipped, unchecked, warning
from gputui.doctor.site import Site
from gputui.sources.fabric_health import HEALTHY

_PACKAGE = re.compile(
    r"^Package: (?:nvidia-fabric-?manager|nvlsm)\S*\nStatus: install ok installed$(?P<rest>.*?)^$",
    re.M | re.S,
)
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
_BRIDGE = "0x0680"
"""The PCI class under which NVSwitches are told (other bridge)."""

_COMMAND = "nv-fabricmanager"


@check("fabric")
def fabric(site: Site) -> Iterator[Result]:
    """Where there are NVSwitches, their manager runs, in the driver's version, and is done."""
    waiting = [gpu for gpu in site.gpus if gpu.fabric_state not in (None, "completed")]
    joined = [gpu for gpu in site.gpus if gpu.fabric_state is not None]
    sees_switches = _has_switches(site)
    if not sees_switches and not joined:
        there = f"no NVSwitch on the PCI bus; the fabric is unknown: {site.unasked}"
        yield skipped(there if site.unasked else "no NVSwitch here")
        return
    found = [*_version(site)]
    if sees_switches:
        found += _running(site)
    if waiting:
        states = ", ".join(sorted({str(gpu.fabric_state) for gpu in waiting}))
        found.append(
            critical(
                f"the fabric is not ready on {gpu_list(gpu.index for gpu in waiting)}: {states}",
                fix="systemctl restart nvidia-fabricmanager; "
                "journalctl -u nvidia-fabricmanager -n 50",
            )
        )
    for gpu in joined:
        if gpu not in waiting and gpu.fabric_health not in (None, HEALTHY):
            found.append(
                warning(
                    f"GPU {gpu.index} is not well in its fabric: {gpu.fabric_health}",
                    fix=f"nvidia-smi -q -i {gpu.index} | grep -A12 Fabric; "
                    "tail /var/log/fabricmanager.log",
                )
            )
    yield from found
    if found:
        return
    if site.unasked:
        yield skipped(f"{_COMMAND} runs; whether the fabric is ready is unknown: {site.unasked}")
    elif sees_switches:
        yield good(f"{_COMMAND} runs in the driver's version; the fabric is ready")
    else:
        yield good(
            f"ready on {len(joined)} GPUs; its switches and manager cannot be seen from here"
        )


def _version(site: Site) -> Iterator[Result]:
    version, driver = manager_version(site), site.sample.driver if site.sample else None
    if version and driver and version != driver:
        branch = driver.partition(".")[0]
        yield critical(
            f"Fabric Manager {version}, driver {driver}: they must be equal",
            fix=f"apt install nvidia-fabricmanager-{branch}={driver}-1; "
            "systemctl restart nvidia-fabricmanager",
        )


def _running(site: Site) -> Iterator[Result]:
    if not _runs(site):
        yield critical(
            "the Fabric Manager does not run: CUDA will fail with error 802",
            fix="systemctl enable --now nvidia-fabricmanager",
        )
    elif manager_version(site) is None:
        yield unchecked("the Fabric Manager's version cannot be told", fix=f"{_COMMAND} --version")


def manager_version(site: Site) -> str | None:
    """The version that is installed: by its own word, or by the package's."""
    told = site.tool((_COMMAND, "--version"))
    if told and (found := _VERSION.search(told)):
        return found[0]
    package = _PACKAGE.search(f"{site.text('var/lib/dpkg/status') or ''}\n\n")
    version = re.search(r"^Version: (?:\d+:)?([\d.]+)", package["rest"], re.M) if package else None
    return version[1] if version else None


def _has_switches(site: Site) -> bool:
    folder = site.root / "sys/bus/pci/devices"
    try:
        devices = list(folder.iterdir())
    except OSError:
        return False
    return any(
        (site.text(f"{device}/vendor") or "").strip() == "0x10de"
        and (site.text(f"{device}/class") or "").startswith(_BRIDGE)
        for device in (f"sys/bus/pci/devices/{one.name}" for one in devices)
    )


def _runs(site: Site) -> bool:
    """Whether a process of its name is there; the kernel cuts names at 15 characters."""
    try:
        numbers = [one.name for one in (site.root / "proc").iterdir() if one.name.isdecimal()]
    except OSError:
        return False
    names = {_COMMAND[:15], "nvlsm"}
    return any((site.text(f"proc/{number}/comm") or "").strip() in names for number in numbers)
