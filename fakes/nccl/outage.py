"""What becomes of a job that runs when its network breaks.

An adapter sends again for about half a minute (NCCL_IB_TIMEOUT 20 is 4.3 s, NCCL_IB_RETRY_CNT 7);
then NCCL is told that its transfer failed, and the rank ends. A link that is back before costs
time, and no job. Over sockets the kernel tries for many minutes, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from fakes.clock import SECOND_US
from fakes.jobs.cluster import ClusterJob, Phase
from fakes.jobs.process import Process
from fakes.nccl.job import is_cut
from fakes.nccl.texts import transfer_failed
from fakes.network.infiniband import Adapter
from fakes.node import Node

if TYPE_CHECKING:
    from fakes.world import World

_RETRIES_US = 35 * SECOND_US
_ENDS_US = 2 * SECOND_US


def network_changed(world: World, node: Node) -> None:
    """A link of a node, or what is between it and others, is not what it was."""
    due_us = world.now_us + _RETRIES_US
    downs = {one.name: _downs(one) for one in node.network.adapters if not one.is_active}
    look = partial(_look, world, node, downs)
    world.schedule(due_us, f"{node.name}/network", look)


def _downs(adapter: Adapter) -> int:
    return adapter.counters["link_downed"].at(0)


def _look(world: World, node: Node, downs: dict[str, int]) -> None:
    """Fail what has waited all the while: for a port that is down still, or a node cut off."""
    for job in tuple(world.cluster.jobs.values()):
        if job.phase is not Phase.RUNNING or node.name not in job.specs or len(job.specs) < 2:
            continue
        for process, peer in _stuck(world, node, job, downs):
            for text in transfer_failed(node, process, peer):
                node.job_log.write(world.now_us, job.id, text, process)
            end = partial(_end, world, node, process.pid)
            world.schedule(world.now_us + _ENDS_US, f"{node.name}/network", end)


def _stuck(
    world: World, node: Node, job: ClusterJob, downs: dict[str, int]
) -> Iterator[tuple[Process, Node]]:
    """The ranks that get nothing through to the next node of their ring, and that node."""
    names = list(job.specs)
    peer = world.nodes[names[(names.index(node.name) + 1) % len(names)]]
    adapters = node.network.adapters
    if not adapters:
        return
    for process in tuple(node.processes.values()):
        if process.spec.job != job.id:
            continue
        own = adapters[process.spec.local_rank % len(adapters)]
        is_down = not own.is_active and downs.get(own.name) == _downs(own)
        if is_down or is_cut(node, peer):
            yield process, peer


def _end(world: World, node: Node, pid: int) -> None:
    node.end_process(pid, world.now_us)
