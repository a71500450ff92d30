"""Files of a node that its programs may edit (``TextFiles``), kept on a real file system.

What the world writes is written in place; what programs make of them is found by looking, if the
kernel says that there is something to see: at every file's time, size and number, and at
directories for what is new. So a script may use an editor,
``sed -i``, a redirection or ``mv``: what stands there afterwards is what the world goes by.

Below /etc a node has a directory of its own, in which the machine's files are links, or copies
where they are small and everybody may read them (chaos/sandbox/root.py). A user's home is empty at
first.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chaos.sandbox.changes import Changes
from fakes.system.text_files import TextFiles

ETC = "/etc"
HOME = "/home"

_MODE = 0o644
_MOST_BYTES = 1 << 20
"""What is larger was not written by hand; of it the beginning counts."""

_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_Mark = tuple[int, int, int]


def homes(run: Path) -> Path:
    """Where the homes of a run's users are kept; each node shows them."""
    return run / "homes"


def home_of(user: str, uid: int, run: Path) -> None:
    """Make a user's home."""
    place = homes(run) / user
    place.mkdir(parents=True, exist_ok=True)
    place.parent.chmod(0o755)
    place.chmod(0o755)
    if uid >= 0:
        os.chown(place, uid, uid)


class EditedFiles:
    """The files of ``files`` below ``prefix``, kept in ``folder``. Edits are those of ``node``."""

    def __init__(self, folder: Path, prefix: str, files: TextFiles, node: str) -> None:
        self._folder = folder
        self._prefix = prefix
        self._files = files
        self._node = node
        self._changes = Changes()
        self._marks: dict[str, _Mark] = {}
        for path in files:
            if path.startswith(f"{prefix}/"):
                self._write(path, files.read(path))
        self._marks = dict(self._found())
        files.listen(self._changed)

    def look(self) -> None:
        """Tell the world what programs have done to its files since the last look."""
        if not self._changes.are_possible():
            return
        found = dict(self._found())
        for path in [path for path in self._marks if path not in found]:
            del self._marks[path]
            self._files.edited(path, None, self._node)
        for path, mark in found.items():
            if self._marks.get(path) != mark:
                self._marks[path] = mark
                self._files.edited(path, self._read(path), self._node)

    def close(self) -> None:
        """Look no more."""
        self._changes.close()

    def _changed(self, path: str, text: str | None) -> None:
        """The world has another text in a file."""
        if path.startswith(f"{self._prefix}/"):
            self._write(path, text)

    def _write(self, path: str, text: str | None) -> None:
        parts = path.removeprefix(f"{self._prefix}/").split("/")
        with self._folder_of(parts[:-1]) as folder:
            name = parts[-1]
            # What is there may be a link, which would lead out of the node, or not for writing.
            with contextlib.suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                is_ours = stat.S_ISREG(found.st_mode) and found.st_mode & stat.S_IWUSR
                if text is None or not is_ours:
                    os.unlink(name, dir_fd=folder)
            self._marks.pop(path, None)
            if text is None:
                return
            descriptor = os.open(name, _WRITING, _MODE, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode(errors="surrogateescape"))
                os.fchmod(descriptor, _MODE)
            facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            self._marks[path] = _mark(facts)

    def _read(self, path: str) -> str | None:
        """What stands in a file; None if it went meanwhile, or cannot be read."""
        parts = path.removeprefix(f"{self._prefix}/").split("/")
        try:
            with self._folder_of(parts[:-1]) as folder:
                descriptor = os.open(parts[-1], _READING, dir_fd=folder)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_MOST_BYTES).decode(errors="surrogateescape")

    @contextmanager
    def _folder_of(self, parts: Sequence[str]) -> Iterator[int]:
        """A directory below ours as a descriptor, made if need be; no link is ever followed."""
        folder = os.open(self._folder, _FOLDER)
        try:
            for at, part in enumerate(parts):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                    self._make_own(folder, part, "/".join(parts[: at + 1]))
                folder, before = os.open(part, _FOLDER, dir_fd=folder), folder
                os.close(before)
            yield folder
        finally:
            os.close(folder)

    def _make_own(self, folder: int, part: str, path: str) -> None:
        """Put a directory in the place of a link to the machine's, with what is in that."""
        target = os.readlink(part, dir_fd=folder)
        os.unlink(part, dir_fd=folder)
        os.mkdir(part, dir_fd=folder)
        own = os.open(part, _FOLDER, dir_fd=folder)
        try:
            if self._prefix == ETC and Path(ETC, path).is_dir():
                for entry in Path(ETC, path).iterdir():
                    os.symlink(f"{target}/{entry.name}", entry.name, dir_fd=own)
        finally:
            os.close(own)

    def _found(self) -> Iterator[tuple[str, _Mark]]:
        """Every regular file there is, and what tells whether it changed. Links are not ours."""
        folders = [(str(self._folder), self._prefix)]
        while folders:
            folder, path = folders.pop()
            self._changes.watch(folder)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        facts = entry.stat(follow_symlinks=False)
                        name = f"{path}/{entry.name}"
                        if stat.S_ISDIR(facts.st_mode):
                            folders.append((entry.path, name))
                        elif stat.S_ISREG(facts.st_mode):
                            yield name, _mark(facts)


def _mark(facts: os.stat_result) -> _Mark:
    return facts.st_mtime_ns, facts.st_size, facts.st_ino
