"""One call of ``ip``: its options, and whom it asks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from fakes.network.interface import Interface, Medium
from fakes.node import Node
from fakes.world import World


class NotKnownError(Exception):
    """Something that the real command may know, and this one does not. One clause."""


class RefusedError(Exception):
    """What the real command says no to, in its words; ``status`` is what it ends with."""

    def __init__(self, said: str, status: int = 1) -> None:
        super().__init__(said)
        self.status = status


_FLAGS = {
    "4": ("family", "inet"), "6": ("family", "inet6"), "0": ("family", "link"),
    "o": ("one_line", True), "oneline": ("one_line", True),
    "j": ("as_json", True), "json": ("as_json", True),
    "p": ("pretty", True), "pretty": ("pretty", True),
    "s": ("stats", True), "stats": ("stats", True), "statistics": ("stats", True),
    "d": ("details", True), "details": ("details", True),
    "br": ("brief", True), "brief": ("brief", True),
    "c": ("coloured", True), "color": ("coloured", True), "color=never": ("coloured", False),
    "color=auto": ("coloured", False), "N": ("numeric", True), "Numeric": ("numeric", True),
    "r": ("numeric", False), "V": ("version", True), "Version": ("version", True),
}  # fmt: skip


_TYPES = {"bridge": Medium.BRIDGE, "ipoib": Medium.INFINIBAND}
"""Kinds of links that the kernel makes by itself; a card's own interface has none."""


@dataclass(slots=True)
class Invocation:
    """What was asked for. ``words`` are what is left after the options."""

    node: Node
    world: World
    out: TextIO
    words: Sequence[str] = ()
    family: str = ""
    one_line: bool = False
    as_json: bool = False
    pretty: bool = False
    stats: bool = False
    details: bool = False
    brief: bool = False
    coloured: bool = False
    numeric: bool = False
    version: bool = False
    scopes: Sequence[str] = ("host", "link", "global")

    @classmethod
    def parse(cls, argv: Sequence[str], node: Node, world: World, out: TextIO) -> Invocation:
        """Read the options, which stand before the object."""
        call = cls(node, world, out)
        rest = list(argv)
        while rest and rest[0].startswith("-"):
            word = rest.pop(0)
            name = word.lstrip("-")
            if name in ("f", "family") and rest:
                call.family = rest.pop(0)
                continue
            if name not in _FLAGS:
                raise NotKnownError(f"{word}: this option is not known here")
            field, value = _FLAGS[name]
            setattr(call, field, value)
        call.words = rest
        return call

    @property
    def now_us(self) -> int:
        """The run's time."""
        return self.world.now_us

    def interface(self, name: str) -> Interface:
        """An interface by its name. One that is not there is refused."""
        found = self.node.network.interface(name)
        if found is None:
            raise RefusedError(f'Device "{name}" does not exist.')
        return found

    def selected(self, words: Sequence[str]) -> list[Interface]:
        """The interfaces that ``[dev] NAME``, ``up`` and so on select, all of them without words.

        ``scope`` is noted in ``scopes``: it selects addresses.
        """
        chosen = list(self.node.network.interfaces)
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "up":
                chosen = [one for one in chosen if one.is_up]
            elif word == "scope" and rest:
                self.scopes = (rest.pop(0),)
            elif word == "type" and rest:
                kind = _TYPES.get(rest.pop(0))
                chosen = [one for one in chosen if one.medium is kind]
            elif word in ("permanent", "-deprecated", "primary"):
                continue
            elif word in ("master", "to", "label", "vrf", "group", "dynamic", "nomaster"):
                raise NotKnownError(f"{word}: this selection is not known here")
            else:
                name = rest.pop(0) if word == "dev" and rest else word
                chosen = [one for one in chosen if one is self.interface(name)]
        return chosen

    def write_json(self, value: Any) -> None:
        """Write it as iproute2 does: on one line, unless it is to be pretty."""
        text = (
            json.dumps(value, indent=4) if self.pretty else json.dumps(value, separators=(",", ":"))
        )
        self.out.write(f"{text}\n")

    def write_record(self, lines: Sequence[str]) -> None:
        """Write the lines of one record, with ``-o`` as one."""
        self.out.write(("\\" if self.one_line else "\n").join(lines) + "\n")


def is_show(words: Sequence[str]) -> bool:
    """Whether the words after an object ask to show it: the usual thing to do."""
    return not words or any(known.startswith(words[0]) for known in ("show", "list", "lst", "ls"))
