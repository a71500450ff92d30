"""How the GPUs are connected: PCIe, and NVLink."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, unread, untold, warning
from gputui.doctor.site import Site
from gputui.incidents.lanes import has_fewer_lanes, severity_of_lanes
from gputui.model import GpuSample, Severity

_BUSY_PERCENT = 20
"""From this load on a link runs at its full speed; below, it may save power."""


@check("pcie")
def pcie(site: Site) -> Iterator[Result]:
    """PCIe links have their full width, and under load their full speed.

    How grave fewer lanes are is as the monitor's incident has it.
    """
    told = [gpu for gpu in site.gpus if gpu.pcie_width and gpu.pcie_width_max]
    if not told:
        readings = ("pcie_width", "pcie_width_max")
        otherwise = "no GPU here tells of its PCIe link"
        yield from untold(site, readings, "its PCIe link", otherwise)
        return
    found = [result for gpu in told for result in _pcie_of(gpu)]
    found += unread(site.gpus, "pcie_width", "its PCIe link")
    yield from found
    if not found:
        widths = sorted({gpu.pcie_width or 0 for gpu in told})
        shown = " and ".join(f"x{width}" for width in widths)
        yield good(f"{shown} on {len(told)} GPUs; speed {_speed(told)}")


def _pcie_of(gpu: GpuSample) -> Iterator[Result]:
    if has_fewer_lanes(gpu):
        tell = critical if severity_of_lanes(gpu) is Severity.CRITICAL else warning
        yield tell(
            f"GPU {gpu.index}: PCIe x{gpu.pcie_width} of x{gpu.pcie_width_max}",
            fix=f"lspci -vvs {gpu.bus_id} | grep LnkSta; reseat the board or its riser",
        )
    slow = (gpu.pcie_generation or 0) < (gpu.pcie_generation_max or 0)
    if slow and (gpu.utilization_percent or 0) >= _BUSY_PERCENT:
        yield warning(
            f"GPU {gpu.index}: PCIe generation {gpu.pcie_generation} of "
            f"{gpu.pcie_generation_max}, under load",
            fix=f"lspci -vvs {gpu.bus_id} | grep LnkSta; look at the slot's setting in the BIOS",
        )


def _speed(gpus: list[GpuSample]) -> str:
    busy = [gpu for gpu in gpus if (gpu.utilization_percent or 0) >= _BUSY_PERCENT]
    return f"checked on {len(busy)} under load" if busy else "not checked: no GPU is under load"


@check("nvlink")
def nvlink(site: Site) -> Iterator[Result]:
    """Every NVLink is up."""
    told = [gpu for gpu in site.gpus if gpu.nvlinks]
    if not told:
        yield from untold(site, ("nvlinks",), "its NVLinks", "no GPU here has NVLink")
        return
    silent = [*unread(told, "nvlinks_down", "its NVLinks")]
    yield from silent
    broken = [gpu for gpu in told if gpu.nvlinks_down]
    for gpu in broken:
        links = ", ".join(str(link) for link in gpu.nvlinks_down or ())
        yield critical(
            f"GPU {gpu.index}: link {links} of {gpu.nvlinks} down",
            fix=f"nvidia-smi nvlink -s -i {gpu.index}; systemctl status nvidia-fabricmanager",
        )
    if not broken and not silent:
        yield good(f"{sum(gpu.nvlinks or 0 for gpu in told)} links up on {len(told)} GPUs")
