"""What the simulator tells a node's first process, and those who enter, to do. Imports little.

Named tuples, because they go from process to process as JSON lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

NODE = "/run/gputui-node"
"""Where a node's directory is seen on the node: a fixed place, for wiped environments."""


class Bind(NamedTuple):
    """A file or directory of the machine, and where it is to be seen. Read-only unless said."""

    source: str
    target: str
    writable: bool = False


class Layer(NamedTuple):
    """A directory whose entries are to be seen in another one as well, before its own."""

    source: str
    target: str


class Fresh(NamedTuple):
    """A directory that is the node's own: empty, writable, gone with the node. ``owner`` -1: us."""

    path: str
    mode: int = 0o755
    owner: int = -1


class Place(NamedTuple):
    """A directory that the node has in memory, or a file with ``text``; ``path`` is below that."""

    path: str
    text: str | None = None


class Graft(NamedTuple):
    """A directory of the node's own in the place of one of the machine's, which programs may write.

    What of the machine's it has not is a link to it, where that one is kept: ``beneath``. The
    directories in ``inner``, by their paths below it, are the node's own as well.
    """

    source: str
    target: str
    beneath: str
    inner: Sequence[str] = ()


class Root(NamedTuple):
    """The root directory of a node: the machine's, read-only, but for what is said here.

    It is put together on ``staging``. On ``memory``, a directory of the node's, lies a file system
    in memory, which begins with ``places`` and is gone with the node. All paths are absolute and
    free of symbolic links. What of ``hidden`` is a directory shows ``empty``; anything else shows
    ``nobody``, a socket that cannot be opened. Layers and binds may put something where there is
    nothing yet only in a fresh place. ``devices`` are the names of the GPUs' device files, and of
    what goes with them, in /dev. ``own`` are binds of the node's directory, as the node sees it,
    which come last of all, over layers and /proc; one whose target is not there is left out.
    ``grafts`` come after all that.
    """

    staging: str
    memory: str
    places: Sequence[Place]
    empty: str
    nobody: str
    devices: Sequence[str]
    fresh: Sequence[Fresh]
    hidden: Sequence[str]
    layers: Sequence[Layer]
    binds: Sequence[Bind]
    own: Sequence[Bind]
    grafts: Sequence[Graft] = ()

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> Root:
        """From what JSON made of one."""
        staging, memory, places, empty, nobody, devices, *others = value
        fresh, hidden, layers, binds, own, grafts = others
        return cls(
            staging,
            memory,
            [Place(*each) for each in places],
            empty,
            nobody,
            devices,
            [Fresh(*each) for each in fresh],
            hidden,
            [Layer(*each) for each in layers],
            [Bind(*each) for each in binds],
            [Bind(*each) for each in own],
            [Graft(*each) for each in grafts],
        )


class Entrance(NamedTuple):
    """How a program gets onto a node.

    ``init`` is the node's first process, 0 where there are no namespaces. ``users`` is the path of
    its programs' user namespace; without one ("") a program gives up what it could use to get out.
    ``root`` is where ``init`` sees the node's root, and ``binds`` what the program brings along.
    """

    init: int = 0
    users: str = ""
    root: str = ""
    binds: Sequence[Bind] = ()

    @classmethod
    def from_json(cls, value: Sequence[Any]) -> Entrance:
        """From what JSON made of one."""
        init, users, root, binds = value
        return cls(init, users, root, [Bind(*each) for each in binds])
