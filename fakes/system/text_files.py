"""Files that people edit, and that the world goes by: /etc/hosts, /etc/nccl.conf, a job's settings.

What stands in one is what holds, whoever wrote it. A fault writes without a word; what somebody on
a node does is noted as an action. Whoever keeps them on a real file system listens for changes, and
tells of those that programs make (:meth:`TextFiles.edited`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

Listener = Callable[[str, str | None], None]
"""Is told the path of a file that has changed, and its text; None: it was removed."""


class TextFiles:
    """Files by their absolute paths.

    ``on_edit`` is told of what somebody did by hand: the path, and on which node.
    """

    def __init__(self) -> None:
        self.on_edit: Callable[[str, str], None] | None = None
        self._texts: dict[str, str | None] = {}
        self._usual: dict[str, Callable[[], str]] = {}
        self._listeners: list[Listener] = []

    def provide(self, path: str, text: Callable[[], str]) -> None:
        """Let a file have this text for as long as nobody has written it."""
        self._usual[path] = text

    def __iter__(self) -> Iterator[str]:
        """The paths of the files that there are, in order."""
        return (path for path in sorted({*self._usual, *self._texts}) if path in self)

    def __contains__(self, path: str) -> bool:
        """Whether there is such a file."""
        return self._texts[path] is not None if path in self._texts else path in self._usual

    def read(self, path: str) -> str | None:
        """The text of a file; None where there is none."""
        if path in self._texts:
            return self._texts[path]
        usual = self._usual.get(path)
        return None if usual is None else usual()

    def write(self, path: str, text: str | None) -> None:
        """Let a file have this text; None removes it. No action."""
        if self.read(path) == text:
            return
        self._texts[path] = text
        for listener in self._listeners:
            listener(path, text)

    def edited(self, path: str, text: str | None, node: str) -> None:
        """Somebody on a node has given a file this text, or removed it."""
        if self.read(path) == text:
            return
        self._texts[path] = text
        if self.on_edit is not None:
            self.on_edit(path, node)

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` with every file that is written, not with those that are edited."""
        self._listeners.append(listener)
