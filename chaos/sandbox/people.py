"""Who there is on a node: this machine's users, and those that its jobs belong to."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
from collections.abc import Iterable, Mapping
from pathlib import Path

_FIRST_USER = 60801
"""Numbers that no distribution gives out (systemd's users and groups: 60706 to 61183 are free)."""

STRANGER = "mallory"
"""A user whom every node knows, though none of its jobs is theirs."""

_PASSWD, _GROUP = Path("/etc/passwd"), Path("/etc/group")


def user_numbers(names: Iterable[str]) -> dict[str, int]:
    """A user number for each name. None for anybody where only root could become somebody else."""
    if os.geteuid() != 0 or not _may_use(_FIRST_USER):
        return {}
    return {name: _FIRST_USER + at for at, name in enumerate(dict.fromkeys(names))}


def files(users: Mapping[str, int]) -> dict[str, str]:
    """A passwd and a group file that know ``users``, as far as the machine has such files: texts,
    by their names in /etc.

    The caller is in them as well: a directory service cannot be asked on a node.
    """
    people = {name: f"{name}:x:{n}:{n}::/home/{name}:/bin/bash" for name, n in users.items()}
    groups = {name: f"{name}:x:{n}:" for name, n in users.items()}
    own_person, own_group = {}, {}
    with contextlib.suppress(KeyError):
        person, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
        own_person = {person.pw_name: ":".join(map(str, person))}
        own_group = {group.gr_name: f"{group.gr_name}:x:{group.gr_gid}:"}
    known = ((_PASSWD, people, own_person), (_GROUP, groups, own_group))
    return {
        system.name: _merged(system, entries, own)
        for system, entries, own in known
        if system.is_file()
    }


def _merged(system: Path, entries: Mapping[str, str], own: Mapping[str, str]) -> str:
    """The system's file with ``entries``, by name, in the place of those of that name, and with
    ``own`` if there are none.
    """
    lines = system.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    theirs = {line.partition(":")[0]: line for line in lines}
    return "".join(f"{line}\n" for line in ({**own, **theirs, **entries}).values())


def _may_use(number: int) -> bool:
    """Whether a user number exists in this user namespace."""
    rows = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return any(
        int(first) <= number < int(first) + int(count)
        for first, _, count in (row.split() for row in rows)
    )
