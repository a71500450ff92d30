"""The air that comes into the node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.doctor.check import Result, check, good, skipped, warning
from gputui.doctor.site import Site

_SENSORS = ("ipmitool", "sdr", "type", "Temperature")
_INLET = re.compile(
    r"^[^|\n]*\b(?:inlet|intake|ambient)\b[^|\n]*\|.*?(?P<value>-?\d+(?:\.\d+)?) degrees C",
    re.M | re.I,
)
"""``Inlet Temp | 04h | ok | 7.1 | 22 degrees C``, of the names that vendors give the sensor."""


@check("inlet")
def inlet(site: Site) -> Iterator[Result]:
    """The air at the inlet is within the band that the config tells."""
    host = site.snapshot.sample.host_readings if site.snapshot is not None else None
    inlet_c = host.inlet_c if host is not None else None
    by = ""
    if inlet_c is None:
        inlet_c, by = inlet_by_ipmi(site.tool(_SENSORS) or ""), " (by IPMI)"
    if inlet_c is None:
        why = host.missing.get("inlet_c", "not read") if host is not None else "not read"
        yield skipped(f"the air at the inlet is not known: {why}, and ipmitool does not tell")
        return
    low_c, high_c = site.config.thresholds.inlet_low_c, site.config.thresholds.inlet_high_c
    band = f"{low_c:g} to {high_c:g} C"
    if low_c <= inlet_c <= high_c:
        yield good(f"{inlet_c:.1f} C at the inlet{by}, within {band}")
    else:
        yield warning(
            f"{inlet_c:.1f} C at the inlet{by}, not within {band}",
            fix=f"check room cooling: {' '.join(_SENSORS)}",
        )


def inlet_by_ipmi(told: str) -> float | None:
    """The warmest sensor of the inlet among those that the service processor lists; None for none.

    >>> inlet_by_ipmi("Inlet Temp       | 04h | ok  |  7.1 | 22 degrees C")
    22.0
    """
    return max((float(found["value"]) for found in _INLET.finditer(told)), default=None)
