"""Incidents that call nobody, and why not: seen, put off, or expected by the site."""

from __future__ import annotations

from gputui.age import age
from gputui.model import Incident

HOUR_S = 3600.0
SNOOZES_S = {"z": HOUR_S, "Z": 8 * HOUR_S}
"""Keys that put an incident off, and for how long."""


def is_quiet(incident: Incident) -> bool:
    """Whether somebody has seen it, has put it off, or expects it."""
    snoozed = incident.snoozed_until_s is not None
    return incident.acknowledged or snoozed or incident.maintenance is not None


def mark(incident: Incident, now_s: float, *, short: bool = False) -> str:
    """The word beside an incident that calls nobody: ``ack``, ``snoozed 54m``, ``maint``."""
    if incident.acknowledged:
        return "ack"
    if incident.snoozed_until_s is not None:
        return f"{'snz' if short else 'snoozed'} {_left(incident, now_s)}"
    return "maint" if incident.maintenance is not None else ""


def sentences(incident: Incident, now_s: float, clock: str) -> list[tuple[str, str]]:
    """All of it in full, each with its label; ``clock`` is when a snooze ends."""
    told = []
    if incident.acknowledged:
        told.append(("acknowledged", "yes: somebody has seen it"))
    if incident.snoozed_until_s is not None:
        left = _left(incident, now_s)
        told.append(("snoozed", f"until {clock}, {left} from now, or until it gets worse"))
    if incident.maintenance is not None:
        told.append(("maintenance", f'in the window "{incident.maintenance}" of the config'))
    return told


def _left(incident: Incident, now_s: float) -> str:
    return age(max((incident.snoozed_until_s or now_s) - now_s, 0.0))
