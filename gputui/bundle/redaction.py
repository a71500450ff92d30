"""Taking out of texts what is nobody else's business, so that they can still be read.

The same name becomes the same word everywhere: ``user1``, ``host1``, ``address1``. GPUs' serial
numbers, UUIDs and PCI addresses stay: a ticket is about them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from gputui.secret_values import HIDDEN, without_secrets

_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_IPV6 = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}(?![\w:-])")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HOME = re.compile(r"(?P<folder>/(?:home|Users)/)(?P<user>[^/\s'\":,)]+)")
OTHER_BOARD = "of-gpu-"
"""How the word for another board begins; its index follows."""

_LEAST_NAME = 2
"""A single letter stands for too much else."""

_COMMON = frozenset({"root", "localhost", "nobody", "daemon", "kernel", "nvidia", "python"})


class Redaction:
    """Replaces names, and counts what it replaced.

    ``hosts`` and ``users`` are known to be such; ``boards`` are names of boards that are nobody
    else's business, each with the word for it.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        users: Iterable[str] = (),
        boards: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.counts: dict[str, int] = {}
        self._words: dict[tuple[str, str], str] = {}
        self._known: dict[str, str] = {}
        for sort, names in (("host", hosts), ("user", users)):
            for name in names:
                self._know(sort, name)
        self._known.update(boards)

    def _know(self, sort: str, name: str) -> None:
        """A name, and what of it is used alone: a host without its domain."""
        word = self._word(sort, name)
        for one in (name, name.partition(".")[0]):
            if len(one) >= _LEAST_NAME and one.lower() not in _COMMON:
                self._known.setdefault(one, word)

    def text(self, text: str) -> str:
        """The text, without what is nobody else's business."""
        text = without_secrets(text)
        if hidden := text.count(HIDDEN):
            self.counts["secret"] = self.counts.get("secret", 0) + hidden
        text = _MAIL.sub(lambda found: self._named("mail", found[0]), text)
        text = _HOME.sub(lambda found: found["folder"] + self._named("user", found["user"]), text)
        text = _MAC.sub(lambda found: self._named("mac", found[0]), text)
        text = _IPV4.sub(self._address, text)
        text = _IPV6.sub(self._address, text)
        if self._known:
            text = self._names().sub(lambda found: self._known_as(found[0]), text)
        return text

    def value(self, value: Any) -> Any:
        """A value as JSON has it, with every text in it redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return value

    def command(self, command: str) -> str:
        """A command line: the program's name, and how many arguments were taken away."""
        program, *arguments = command.split() or [""]
        name = self.text(PurePath(program).name)
        return f"{name} ({len(arguments)} arguments)" if arguments else name

    def _names(self) -> re.Pattern[str]:
        longest_first = sorted(self._known, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")

    def _known_as(self, name: str) -> str:
        word = self._known[name]
        sort = "board" if word.startswith(OTHER_BOARD) else word.rstrip("0123456789")
        return self._counted(sort, word)

    def _address(self, found: re.Match[str]) -> str:
        try:
            address = ipaddress.ip_address(found[0])
        except ValueError:
            return found[0]
        if address.is_loopback or address.is_unspecified:
            return found[0]
        return self._named("address", found[0])

    def _named(self, sort: str, name: str) -> str:
        return self._counted(sort, self._word(sort, name))

    def _word(self, sort: str, name: str) -> str:
        key = (sort, name)
        if key not in self._words:
            number = sum(1 for other, _ in self._words if other == sort) + 1
            self._words[key] = f"{sort}{number}"
        return self._words[key]

    def _counted(self, sort: str, word: str) -> str:
        self.counts[sort] = self.counts.get(sort, 0) + 1
        return word
