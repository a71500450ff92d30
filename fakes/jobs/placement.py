"""Where a job may run: on which nodes, and on which GPUs of each.

A node is shared by jobs that want different GPUs of it. One that a job has for itself alone, or
that is drained or kept for somebody, is no place for another; nor is one whose GPUs are not all
well, unless a job wants none of them, or that very node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from fakes.jobs.process import JobSpec
from fakes.jobs.records import ClusterJob, ClusterNode

if TYPE_CHECKING:
    from fakes.jobs.cluster import Cluster
    from fakes.world import World

_LOAD = 0.9
_MEMORY_BYTES = 16 << 30
"""What a submitted job of which nothing else is known does to its GPUs."""


def room_for(world: World, cluster: Cluster, job: ClusterJob) -> dict[str, tuple[int, ...]] | None:
    """As many nodes as a job needs, with GPUs on each; None if there are not.

    Those that it had before come first.
    """
    request = job.request
    excluded = set(request.excluded) if request else set()
    first = (*(request.wanted if request else ()), *job.specs)
    found: dict[str, tuple[int, ...]] = {}
    for name in dict.fromkeys((*first, *cluster.nodes)):
        if len(found) == job.node_count:
            break
        if name in excluded or name not in cluster.nodes:
            continue
        at = min(len(found), max(len(job.specs) - 1, 0))
        gpus = _gpus_for(world, cluster, job, name, at)
        if gpus is not None:
            found[name] = gpus
    if request is not None and not set(request.wanted) <= set(found):
        return None
    return found if len(found) == job.node_count else None


def specs_of(job: ClusterJob, placed: dict[str, tuple[int, ...]]) -> dict[str, JobSpec]:
    """What a job runs on each of the nodes that it was given."""
    request = job.request
    if request is None:
        return {
            name: replace(spec, gpus=gpus)
            for (name, gpus), spec in zip(placed.items(), job.specs.values(), strict=True)
        }
    ranks = sum(len(gpus) for gpus in placed.values())
    first = 0
    specs = {}
    for name, gpus in placed.items():
        specs[name] = JobSpec(
            job.id,
            gpus,
            load=_LOAD,
            memory_bytes=_MEMORY_BYTES,
            user=job.user,
            command=request.command or "bash slurm_script",
            first_rank=first,
            ranks=ranks,
        )
        first += len(gpus)
    return specs


def reason_of(world: World, cluster: Cluster, job: ClusterJob) -> str:
    """Why a job has no place, in Slurm's words."""
    request = job.request
    if request is None:
        return "Resources"
    if request.nodes > len(cluster.nodes):
        return "PartitionNodeLimit"
    away = [
        name
        for name in request.wanted
        if not (cluster.nodes[name].takes_jobs and world.nodes[name].is_up)
    ]
    if away:
        return f"ReqNodeNotAvail, UnavailableNodes:{','.join(away)}"
    return "Resources"


def _gpus_for(
    world: World, cluster: Cluster, job: ClusterJob, name: str, at: int
) -> tuple[int, ...] | None:
    """The GPUs that a job would get on a node, as its ``at``-th; None where it cannot run."""
    asks = job.request is None or (job.request.gpus > 0 and name not in job.request.wanted)
    if not _takes(cluster.nodes[name], job) or not _is_usable(world, name, its_gpus=asks):
        return None
    others = cluster.jobs_on(name)
    alone = job.request is not None and job.request.exclusive
    if others and (alone or any(other.request and other.request.exclusive for other in others)):
        return None
    taken = {gpu for other in others for gpu in other.specs[name].gpus}
    free = [gpu for gpu in range(len(world.nodes[name].gpus)) if gpu not in taken]
    before = tuple(job.specs.values())[at].gpus if job.specs else ()
    wanted = job.request.gpus if job.request else len(before)
    if before and set(before) <= set(free) and len(before) == wanted:
        return before
    return tuple(free[:wanted]) if len(free) >= wanted else None


def _takes(node: ClusterNode, job: ClusterJob) -> bool:
    if node.reservation is not None and _is_for(node.reservation.users, job.user):
        return not (node.drain or node.down or node.failing or node.reboot)
    return node.takes_jobs


def _is_for(users: Iterable[str], user: str) -> bool:
    return user in users and user != "root"


def _is_usable(world: World, name: str, *, its_gpus: bool) -> bool:
    """Whether it runs, and its GPUs are well, where that matters to the job."""
    node = world.nodes[name]
    if not node.is_up or not its_gpus:
        return node.is_up
    return all(gpu.lost is None and not gpu.reset_required for gpu in node.gpus)
