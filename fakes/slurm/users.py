"""Who is known to the cluster."""

from __future__ import annotations

from fakes.jobs.cluster import Cluster

_USUAL = frozenset({"root", "slurm", "nobody", "alice", "mallory"})


def is_user(cluster: Cluster, name: str) -> bool:
    """Whether somebody of that name is known: who has jobs, and a node's usual people."""
    owners = {job.user for job in cluster.jobs.values()}
    return name in owners | _USUAL or name.isdecimal()


def user_number(name: str) -> int:
    """The number of a user on the nodes; scenarios' users have those from 1000 upward."""
    return {"root": 0, "slurm": 64030}.get(name, 1000)
