"""The last line: what the keys do, or the filter while it is typed."""

from __future__ import annotations

from functools import lru_cache

from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line, right, shorten, width_of
from gputui.tui.view import SORT_LETTERS

Keys = tuple[tuple[str, str, int], ...]
"""Key, what it does, and its rank: the lowest stay longest when room is short."""

MAIN_KEYS: Keys = (
    ("Enter", "open", 2),
    ("r", "what to do", 6),
    ("a", "ack", 7),
    ("z", "snooze", 14),
    ("g", "graphs", 8),
    ("n", "node", 10),
    ("Tab", "next list", 3),
    ("/", "filter", 4),
    ("s", "sort", 5),
    ("t", "tree", 9),
    ("T", "end process", 11),
    ("Space", "hold", 13),
    ("[", "back in time", 12),
    ("?", "help", 1),
    ("q", "quit", 0),
)
"""The main screen's."""

_IN_TIME: Keys = (("Space", "go on", 1), ("[ ]", "step", 2), ("{ }", "minute", 3))

HELD_KEYS: Keys = (*_IN_TIME, ("Enter", "open", 4), ("?", "help", 5), ("q", "quit", 0))
"""The main screen's while it stands still."""

REPLAY_KEYS: Keys = (
    ("Space", "pause or go on", 1),
    *_IN_TIME[1:],
    ("< >", "speed", 4),
    *HELD_KEYS[3:],
)
"""The main screen's while it shows a recording."""

PAGE_KEYS: Keys = (("Esc", "back", 0), ("j k", "scroll", 2), ("q", "quit", 1))
"""Those of a page that is read."""

INCIDENT_KEYS: Keys = (
    PAGE_KEYS[0],
    ("a", "acknowledge", 3),
    ("z", "snooze", 4),
    *PAGE_KEYS[1:],
)
"""Those of an incident's page."""

PROCESS_KEYS: Keys = (PAGE_KEYS[0], ("T", "end it", 3), *PAGE_KEYS[1:])
"""Those of a process's page."""

_ORDER_KEYS: Keys = tuple(
    (letter, order.word, rank) for rank, (letter, order) in enumerate(SORT_LETTERS.items())
)


def main_line(scene: Scene, width: int) -> Line:
    """The last line of the main screen: the filter that is typed, an answer, or what keys do."""
    if scene.view.typing:
        return filter_line(scene, width)
    if scene.view.ordering:
        return key_line(_ORDER_KEYS, width)
    if scene.view.said:
        said = shorten(clean(scene.view.said), width - 2, scene.glyphs.ellipsis)
        return make_line([Run(f" {said}" + " " * width, Role.HEADER_STRONG)], width)
    if scene.playback is not None:
        return key_line(REPLAY_KEYS, width)
    return key_line(MAIN_KEYS if scene.held is None else HELD_KEYS, width)


@lru_cache(maxsize=16)
def key_line(keys: Keys, width: int, range_text: str = "") -> Line:
    """As many of ``keys`` as fit, in their order; ``range_text`` (``1-20 of 45``) at the right."""
    room = width - 1 - (len(range_text) + 1 if range_text else 0)
    kept: set[str] = set()
    for key, label, _ in sorted(keys, key=lambda entry: entry[2]):
        room -= width_of(key) + width_of(label) + 3
        if room < 0:
            break
        kept.add(key)
    runs = [Run(" ", Role.HEADER)]
    for key, label, _ in keys:
        if key in kept:
            runs += [Run(key, Role.KEY), Run(f" {label}  ", Role.HEADER)]
    used = sum(width_of(run.text) for run in runs)
    tail = right(range_text, max(width - 1 - used, 0)) if range_text else ""
    return make_line([*runs, Run(tail + " " * width, Role.HEADER)], width)


def filter_line(scene: Scene, width: int) -> Line:
    """The filter as it is typed, its end always in sight."""
    text = clean(scene.view.filter_text)
    help_text = "Enter keep  Esc clear"
    room = width - 4 - (len(help_text) + 2 if width >= 60 else 0)
    while width_of(text) > max(room, 1):
        text = text[1:]
    block = scene.glyphs.blocks[-1] if not scene.glyphs.ascii_only else "_"
    runs = [Run(" /", Role.KEY), Run(text, Role.HEADER_STRONG), Run(block, Role.KEY)]
    if width >= 60:
        used = sum(width_of(run.text) for run in runs)
        gap = " " * max(width - used - len(help_text) - 1, 0)
        runs.append(Run(gap + help_text, Role.HEADER))
    return make_line([*runs, Run(" " * width, Role.HEADER)], width)
