"""What the faults of storage have in common: a file system that gets into trouble."""

from __future__ import annotations

from functools import partial

from chaos.errors import did_you_mean, quoted
from chaos.fault import FaultError
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.system.storage import Trouble, fail_jobs
from fakes.world import World


def trouble(nodes: Nodes, target: str, what: Trouble, world: World, undo: Undo) -> None:
    """Let what is mounted on ``target`` be in trouble on each of the nodes, until undone.

    Jobs that write there fail. Raises :class:`FaultError` where nothing is mounted.
    """
    for name in nodes.resolve(Inventory.of(world)):
        node = world.nodes[name]
        mount = node.storage.find(target)
        if mount is None:
            known = [each.target for each in node.storage.mounts]
            hint = did_you_mean(target, known, "Mounted").rstrip(".")
            raise FaultError(f"nothing is mounted on {quoted(target)} on {name}{hint}")
        undo.push(partial(node.storage.set_trouble, mount.target, mount.trouble))
        node.storage.set_trouble(mount.target, what)
        changed = node.storage.find(mount.target)
        assert changed is not None
        fail_jobs(node, changed, world.now_us)
