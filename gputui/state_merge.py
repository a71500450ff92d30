"""Two monitors of one node remember together: what each of them added stays, what it ended is over.

A merge of three: ``base`` is what one of them knew when it last read or wrote, ``mine`` what it
knows now, ``theirs`` what lies there by now. What was in ``base`` and is in ``mine`` no more was
ended here; what is in ``theirs`` and was not in ``base`` was added there. Both may have noticed the
same, each under an id of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gputui.incidents.case import CaseKey, SavedIncident
from gputui.incidents.inventory import SeenGpu
from gputui.model import Incident
from gputui.state import NodeState


def merged(base: NodeState, mine: NodeState, theirs: NodeState) -> NodeState:
    """What is to be remembered of the node."""
    cleared = _cleared(base, mine, theirs)
    over = {one.id: one.cleared_s or 0.0 for one in cleared}
    still_open = [
        one for one in _open(base, mine, theirs) if one.last_s > over.get(one.incident.id, -1.0)
    ]
    open_ids = {one.incident.id for one in still_open}
    same_boot = theirs.boot_id == mine.boot_id
    return NodeState(
        boot_id=mine.boot_id or theirs.boot_id,
        heard_s=max(mine.heard_s, theirs.heard_s) if same_boot else mine.heard_s,
        gpus=_gpus(base, mine, theirs),
        open=tuple(still_open),
        cleared=tuple(one for one in cleared if one.id not in open_ids),
    )


def _open(base: NodeState, mine: NodeState, theirs: NodeState) -> Iterable[SavedIncident]:
    """The incidents that are open for one of the two; one that is for both, once."""
    known = {one.incident.id for one in base.open}
    found = {_key(one): one for one in mine.open}
    for one in theirs.open:
        key = _key(one)
        if key in found:
            found[key] = _both(found[key], one)
        elif one.incident.id not in known:
            found[key] = one
    return found.values()


def _key(one: SavedIncident) -> CaseKey:
    return one.incident.kind, one.incident.subject, one.key


def _both(mine: SavedIncident, other: SavedIncident) -> SavedIncident:
    """As it was noticed last; it began when the first of the two noticed it, and whoever has seen
    one has seen the other.
    """
    later = mine if mine.last_s >= other.last_s else other
    first = min(mine.incident, other.incident, key=lambda incident: incident.opened_s)
    seen = mine.incident.acknowledged or other.incident.acknowledged
    snoozes = (mine.incident.snoozed_until_s, other.incident.snoozed_until_s)
    incident = replace(
        later.incident,
        id=first.id,
        opened_s=first.opened_s,
        acknowledged=seen,
        snoozed_until_s=max((until_s for until_s in snoozes if until_s is not None), default=None),
    )
    return replace(later, incident=incident)


def _cleared(base: NodeState, mine: NodeState, theirs: NodeState) -> list[Incident]:
    """The incidents that are over, those that ended last at the end."""
    known = {one.id for one in (*base.cleared, *mine.cleared)}
    added = [
        one
        for one in theirs.cleared
        if one.id not in known and not any(_same(one, other) for other in mine.cleared)
    ]
    return sorted((*mine.cleared, *added), key=lambda one: one.cleared_s or 0.0)


def _same(one: Incident, other: Incident) -> bool:
    """Whether two are of one kind on one subject at one time."""
    if (one.kind, one.subject, one.cause) != (other.kind, other.subject, other.cause):
        return False
    ends = (one.cleared_s or one.opened_s, other.cleared_s or other.opened_s)
    return max(one.opened_s, other.opened_s) < min(ends)


def _gpus(base: NodeState, mine: NodeState, theirs: NodeState) -> tuple[SeenGpu, ...]:
    """The GPUs that either has seen; of two at one address the one that was there last."""
    latest = {one.uuid: one for one in mine.gpus}
    known = {one.uuid for one in base.gpus}
    for one in theirs.gpus:
        here = latest.get(one.uuid)
        if (here is None and one.uuid not in known) or (here and one.seen_s > here.seen_s):
            latest[one.uuid] = one
    at_address: dict[str, SeenGpu] = {}
    for one in latest.values():
        place = one.bus_id or one.uuid
        if place not in at_address or one.seen_s > at_address[place].seen_s:
            at_address[place] = one
    return tuple(at_address.values())
