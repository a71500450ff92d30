"""``scontrol create`` and ``delete``: reservations of nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fakes.clock import SECOND_US
from fakes.commands.scontrol.caller import Caller, RefusedError, UnknownHereError
from fakes.jobs.cluster import UnknownError
from fakes.jobs.records import Reservation
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.times import minutes_of

_RELATIVE = re.compile(r"now(?:\+(\d+)(second|minute|hour|day)?s?)?", re.IGNORECASE)
_UNIT_S = {None: 1, "second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_KEYS = (
    "reservationname", "starttime", "endtime", "duration", "users", "accounts", "nodes", "flags",
    "nodecnt", "partitionname",
)  # fmt: skip
_FOREVER_MINUTES = 365 * 24 * 60


def create(caller: Caller, words: Sequence[str]) -> None:
    """``create reservation starttime=now duration=60 users=root nodes=n3``."""
    given = {}
    for word in words[1:] if words and "=" not in words[0] else words:
        name, _, value = word.partition("=")
        lower = "users" if name.lower() == "user" else name.lower()
        key = next((key for key in _KEYS if len(lower) > 2 and key.startswith(lower)), None)
        if key is None:
            raise RefusedError(f"Unknown parameter {name}.  No reservation created.")
        given[key] = value
    if not words or not words[0].lower().startswith("res"):
        raise UnknownHereError(f"create {' '.join(words[:1])}: this is not known here")
    if "starttime" not in given or not {"duration", "endtime"} & given.keys():
        raise RefusedError("A start time and duration must be given.  No reservation created.")
    if not {"users", "accounts"} & given.keys():
        raise RefusedError(
            "Either Users/Accounts/Groups and/or Licenses must be specified.  "
            "No reservation created."
        )
    names = _nodes(caller, given.get("nodes", ""))
    starts_us = _start_us(caller, given["starttime"])
    minutes = minutes_of(given.get("duration", "")) or _FOREVER_MINUTES
    flags = tuple(flag.upper() for flag in given.get("flags", "").split(",") if flag)
    busy = [name for name in names if caller.cluster.jobs_on(name)]
    if busy and not {"IGNORE_JOBS", "MAINT"} & set(flags):
        raise RefusedError("Error creating the reservation: Requested nodes are busy")
    users = tuple(user for user in given.get("users", "").split(",") if user)
    name = given.get("reservationname") or f"{users[0]}_{len(caller.cluster.reservations) + 1}"
    if name in caller.cluster.reservations:
        raise RefusedError(
            "Error creating the reservation: Requested reservation is already defined"
        )
    ends_us = starts_us + round(minutes * 60) * SECOND_US
    caller.cluster.reserve(Reservation(name, tuple(names), starts_us, ends_us, users, flags))
    caller.out.write(f"Reservation created: {name}\n")


def delete(caller: Caller, words: Sequence[str]) -> None:
    """``delete reservation=NAME``, or the name as a word of its own."""
    what, equals, name = words[0].partition("=") if words else ("", "", "")
    if not equals and len(words) > 1:
        name = words[1].partition("=")[2] or words[1]
    if not what.lower().startswith("res"):
        raise UnknownHereError(f"delete {what}: this is not known here")
    try:
        caller.cluster.unreserve(name)
    except UnknownError as error:
        said = f"delete_reservation {what}={name}: Requested reservation is invalid"
        raise RefusedError(said) from error


def _nodes(caller: Caller, text: str) -> list[str]:
    if not text or text.upper() == "ALL":
        return list(caller.cluster.nodes)
    try:
        names = expand(text)
        for name in names:
            caller.cluster.node(name)
    except (UnknownError, HostlistError) as error:
        raise RefusedError("Error creating the reservation: Invalid node name specified") from error
    return names


def _start_us(caller: Caller, text: str) -> int:
    """A moment from now on. Those of the calendar are not known here."""
    found = _RELATIVE.fullmatch(text)
    if found is None:
        raise UnknownHereError(f"starttime={text}: only now, and now+SECONDS, are known here")
    unit = found[2].lower() if found[2] else None
    return caller.world.now_us + int(found[1] or 0) * _UNIT_S[unit] * SECOND_US
