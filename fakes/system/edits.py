"""Who edits what: the files that a fleet shares, and what editing one is noted as."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from fakes.actions import Action, Effect
from fakes.nccl.settings import job_file, usual_text
from fakes.network.hosts import HOSTS, hosts_text
from fakes.system.text_files import TextFiles

if TYPE_CHECKING:
    from fakes.world import World


class Homes(TextFiles):
    """The users' home directories: one for all nodes, as on a cluster.

    Each job's environment stands in one, in a file that its script sources at every start.
    """

    def __init__(self, world: World) -> None:
        super().__init__()
        self._jobs: dict[str, str] = {}
        self._world = world
        self.on_edit = self._note

    def take_up(self, user: str, job: str) -> str:
        """Let a job have its file; the path."""
        path = job_file(user, job)
        if path not in self._jobs:
            self._jobs[path] = job
            self.provide(path, usual_text)
        return path

    def _note(self, path: str, node: str) -> None:
        """What somebody did to a job's own file concerns that job, wherever they sat."""
        job = self._jobs.get(path)
        where = None if job else node
        note = Action(self._world.now_us, Effect.EDIT_FILE, where, None, job, detail=path)
        self._world.cluster.actions.note(note)


def note_edits(world: World) -> None:
    """Give the nodes the hosts file of their fleet, and let edits of their files be noted."""

    @cache
    def hosts() -> str:
        return hosts_text((node.address, node.name) for node in world.nodes.values())

    def note(node_name: str, path: str, where: str) -> None:
        node = world.nodes[node_name]
        node.actions.note(Action(world.now_us, Effect.EDIT_FILE, where, detail=path))
        world.touch(node_name)

    for node in world.nodes.values():
        node.files.provide(HOSTS, hosts)
        node.files.on_edit = partial(note, node.name)
