"""What the power supplies give, against what the GPUs may draw."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, skipped, untold
from gputui.doctor.site import Site

HEADROOM = 1.2
"""A supply is to give this many times the sum of the GPUs' limits: the rest of the server draws
power too, and GPUs go beyond their limit for milliseconds."""

_CAPACITY = re.compile(r"^\s*(?:Max Power )?Capacity\s*:\s*(\d+)\s*W", re.M | re.I)


@check("power")
def power(site: Site) -> Iterator[Result]:
    """The supply gives the GPUs' limits together, and a fifth more."""
    limits = [gpu.power_limit_mw for gpu in site.gpus if gpu.power_limit_mw is not None]
    if not limits:
        otherwise = "no GPU here tells its power limit"
        yield from untold(site, ("power_limit_mw",), "its power limit", otherwise)
        return
    gpus_w = sum(limits) / 1000
    needed_w = gpus_w * HEADROOM
    supply_w, told_by = _supply(site)
    if supply_w is None:
        yield skipped(
            f"the supply is not known; {gpus_w:,.0f} W of limits need {needed_w:,.0f} W "
            "(give it with --supply)"
        )
    elif supply_w < needed_w:
        each_w = int(supply_w / HEADROOM / len(limits))
        yield critical(
            f"{supply_w:,.0f} W ({told_by}) for {gpus_w:,.0f} W of limits: "
            f"{needed_w:,.0f} W are needed",
            fix=f"nvidia-smi -pl {each_w}",
        )
    else:
        yield good(f"{supply_w:,.0f} W ({told_by}) for {gpus_w:,.0f} W of limits")


def _supply(site: Site) -> tuple[float | None, str]:
    """Watts, and who says so. Of several supplies one is taken to be spare."""
    if site.supply_w is not None:
        return site.supply_w, "as given"
    if site.config.thresholds.power_supply_w is not None:
        return site.config.thresholds.power_supply_w, "by the config"
    told = site.tool(("ipmitool", "fru", "print"))
    capacities = sorted(float(number) for number in _CAPACITY.findall(told or ""))
    if not capacities:
        return None, ""
    if len(capacities) == 1:
        return capacities[0], "by IPMI"
    return sum(capacities[:-1]), f"by IPMI, {len(capacities)} supplies, one of them spare"
