"""A node's own files on a real file system, kept as the world would have them.

They are written in place: whoever sees one through a mount of its own keeps seeing it.
"""

# ruff: noqa: PTH102, PTH108, PTH211 (paths are text here: there are a thousand of them)

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from fakes.files.registry import Content, Files, Folder, View, views
from fakes.node import Node
from fakes.world import World

FOLDER_MODE = 0o755
FILE_MODE = 0o644
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


class KeptFiles:
    """The files of a node below ``root``, by their paths: ``ROOT/proc/uptime``."""

    def __init__(self, root: Path, node: Node, world: World) -> None:
        self._root = root
        self._node = node
        self._world = world
        self._shown: dict[View, Files] = {}
        self._folders: set[str] = set()

    def refresh(self) -> None:
        """Write what has changed since the last time, for everybody to read."""
        before = os.umask(0o022)
        try:
            for view in views():
                self._bring_up(view, view.make(self._node, self._world))
        finally:
            os.umask(before)

    def _bring_up(self, view: View, wanted: Files) -> None:
        """Write a view's files as they are wanted; one that is made once is not looked at again."""
        shown = self._shown.get(view, {})
        if wanted is shown or wanted == shown:
            return
        home = Path(f"{self._root}{view.path}")
        for name in sorted(set(shown) - set(wanted), reverse=True):
            _remove(home / name, home)
            self._folders.clear()
        for name, content in wanted.items():
            if shown.get(name) != content:
                _write(f"{home}/{name}" if name else str(home), content, self._folders)
        self._shown[view] = wanted


def _make_folder(path: str, folders: set[str]) -> None:
    """Make a directory, and those above it; ``folders`` are those that are known to be there."""
    if path in folders:
        return
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make_folder(path.rpartition("/")[0], folders)
        os.mkdir(path, FOLDER_MODE)
    folders.add(path)


def _write(path: str, content: Content, folders: set[str]) -> None:
    """Write a file in place, in whatever state it is. There are a thousand as a node begins."""
    _make_folder(path.rpartition("/")[0], folders)
    if isinstance(content, str):
        descriptor = os.open(path, _WRITING, FILE_MODE)
        try:
            text = content.encode()
            os.write(descriptor, text)
            if os.fstat(descriptor).st_size != len(text):
                os.ftruncate(descriptor, len(text))
        finally:
            os.close(descriptor)
    elif isinstance(content, Folder):
        _make_folder(path, folders)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.symlink(content.target, path)


def _remove(path: Path, home: Path) -> None:
    """Remove a file, and the directories up to ``home`` that are empty without it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        path.unlink()
    for folder in path.parents:
        if folder == home or not folder.is_relative_to(home):
            return
        try:
            folder.rmdir()
        except OSError:
            return
