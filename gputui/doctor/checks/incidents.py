"""What the monitor would say now."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, skipped, warning
from gputui.doctor.site import Site
from gputui.model import Severity


@check("incidents")
def incidents(site: Site) -> Iterator[Result]:
    """No incident is open."""
    if site.snapshot is None:
        yield skipped("there is no reading")
        return
    top = [
        one
        for one in site.snapshot.incidents
        if one.parent is None and one.severity >= Severity.WARNING
    ]
    for one in top:
        whom = one.subject if one.gpu is None else f"GPU {one.gpu}"
        tell = critical if one.severity is Severity.CRITICAL else warning
        yield tell(f"{one.kind} on {whom}: {one.cause_text}", fix=one.action_text)
    if site.snapshot.sample.error and not top:
        yield skipped("the driver does not answer")
    elif not top:
        yield good("none is open")
