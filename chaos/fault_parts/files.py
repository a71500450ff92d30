"""What the faults of files share: which files can be changed, and how a change is taken back."""

from __future__ import annotations

import re

from chaos.fault import FaultError
from chaos.undo import Undo
from fakes.files.registry import views
from fakes.node import Node
from fakes.system.text_files import TextFiles
from fakes.world import World

SHARED = "/home/"
"""What the nodes of a fleet share."""

_PLACES = ("/etc/", SHARED)
_PATH = re.compile(r"(?:/(?!\.\.?(?:/|$))[^/\0\n]+)+")


def check_path(path: str) -> None:
    """Refuse what is no file that programs on a node would see changed."""
    if not _PATH.fullmatch(path):
        raise ValueError(f"path: '{path}' is not an absolute path, such as /etc/hosts.")
    if not path.startswith(_PLACES):
        raise ValueError(f"path: '{path}' cannot be changed: files below /etc and /home can.")


def files_of(world: World, node: Node, path: str) -> TextFiles:
    """Where a file of a node is kept."""
    return world.homes if path.startswith(SHARED) else node.files


def text_of(world: World, node: Node, path: str) -> str | None:
    """What a file says now; None where the node has none of its own."""
    text = files_of(world, node, path).read(path)
    if text is not None:
        return text
    view = next((one for one in views() if one.path == path and not one.is_tree), None)
    made = view.make(node, world).get("") if view is not None else None
    return made if isinstance(made, str) else None


def change(world: World, node: Node, path: str, text: str | None, undo: Undo) -> None:
    """Give a file this text, or remove it. It is taken back unless somebody changed it since."""
    files = files_of(world, node, path)
    before = files.read(path)
    if path not in files and text is None:
        raise FaultError(f"there is no {path} on {node.name}")

    def put_back() -> None:
        if files.read(path) == text:
            files.write(path, before)
            world.touch(node.name)

    undo.push(put_back)
    files.write(path, text)
