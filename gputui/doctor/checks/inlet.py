"""The air that comes into the node."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, good, skipped, warning
from gputui.doctor.site import Site


@check("inlet")
def inlet(site: Site) -> Iterator[Result]:
    """The air at the inlet is within the band that the config tells."""
    host = site.snapshot.sample.host_readings if site.snapshot is not None else None
    inlet_c = host.inlet_c if host is not None else None
    if inlet_c is None:
        why = host.missing.get("inlet_c", "not read") if host is not None else "not read"
        yield skipped(f"the air at the inlet is not known: {why}")
        return
    low_c, high_c = site.config.thresholds.inlet_low_c, site.config.thresholds.inlet_high_c
    band = f"{low_c:g} to {high_c:g} C"
    if low_c <= inlet_c <= high_c:
        yield good(f"{inlet_c:.1f} C at the inlet, within {band}")
    else:
        yield warning(
            f"{inlet_c:.1f} C at the inlet, not within {band}",
            fix="check room cooling: ipmitool sdr type Temperature",
        )
