"""What the person at the screen has chosen: a panel, a row, an order, a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

Key = int | str | tuple[int, int]
"""What a row stands for: a GPU's index, an incident's id, a process's PID and GPU."""


class Panel(Enum):
    """The three lists, in the order in which Tab visits them."""

    GPUS = "GPUs"
    INCIDENTS = "incidents"
    PROCESSES = "processes"


class Sort(Enum):
    """Orders of the processes, in the order in which ``s`` visits them.

    The value is the title of the column; ``word`` is how the order is called. The largest comes
    first, but for names and numbers that stand for somebody.
    """

    MEMORY = "MEMORY"
    SM = "SM%"
    CPU = "CPU%"
    HOST_MEMORY = "HOST"
    TIME = "TIME"
    GPU = "GPU"
    USER = "USER"
    PID = "PID"

    @property
    def word(self) -> str:
        """The order's name in a heading: ``by memory``."""
        return _WORDS[self]

    def stepped(self, step: int) -> Sort:
        """The order that is so many steps further on."""
        orders = list(Sort)
        return orders[(orders.index(self) + step) % len(orders)]

    @property
    def usually_ascending(self) -> bool:
        """Whether the smallest comes first unless it is asked for otherwise."""
        return self in (Sort.GPU, Sort.USER, Sort.PID)


SORT_LETTERS = {
    "n": Sort.PID,
    "u": Sort.USER,
    "p": Sort.GPU,
    "g": Sort.MEMORY,
    "s": Sort.SM,
    "c": Sort.CPU,
    "m": Sort.HOST_MEMORY,
    "t": Sort.TIME,
}
"""What follows ``o``: nvitop's letters."""

_WORDS = {
    Sort.MEMORY: "memory",
    Sort.SM: "SM %",
    Sort.CPU: "CPU %",
    Sort.HOST_MEMORY: "host memory",
    Sort.TIME: "time",
    Sort.GPU: "GPU",
    Sort.USER: "user",
    Sort.PID: "PID",
}


@dataclass(frozen=True, slots=True)
class View:
    """One person's view of the main screen.

    ``panel`` is the chosen list; until one is chosen (``None``) the screen follows what matters.
    ``cursors`` hold the chosen row of each list, ``offsets`` the first row shown. ``ascending`` is
    ``None`` for the order's usual direction; ``as_tree`` has processes stand below those that
    started them. ``typing`` is true while the filter is being typed,
    ``ordering`` while a letter for the order is awaited. ``said`` is an answer to the last key.
    """

    panel: Panel | None = None
    cursors: Mapping[Panel, Key] = field(default_factory=dict)
    offsets: Mapping[Panel, int] = field(default_factory=dict)
    sort: Sort = Sort.MEMORY
    as_tree: bool = False
    ascending: bool | None = None
    filter_text: str = ""
    typing: bool = False
    ordering: bool = False
    said: str = ""

    @property
    def is_ascending(self) -> bool:
        """Whether the smallest comes first."""
        return self.sort.usually_ascending if self.ascending is None else self.ascending
