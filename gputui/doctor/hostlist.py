"""Lists of nodes as Slurm writes them: ``n[0-3,7],login``."""

from __future__ import annotations

import re
from itertools import product

_PART = re.compile(r"\[([^\][]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expanded(text: str, *, most: int) -> tuple[str, ...]:
    """The names of a list. Numbers keep their width. Raises ValueError that says what is wrong.

    >>> expanded("n[08-10],login", most=100)
    ('n08', 'n09', 'n10', 'login')
    """
    names: list[str] = []
    for entry in re.split(r",(?![^\[]*\])", text):
        if not entry or entry.count("[") != len(_PART.findall(entry)):
            raise ValueError(f'"{text}" is no list of nodes: expected such as n0,n1 or n[0-3,7]')
        pieces = _PART.split(entry)
        choices = [
            _numbers(piece, text, most) if position % 2 else [piece]
            for position, piece in enumerate(pieces)
        ]
        for parts in product(*choices):
            names.append("".join(parts))
            if len(names) > most:
                raise ValueError(f'"{text}" names more than {most} nodes')
    return tuple(names)


def _numbers(piece: str, text: str, most: int) -> list[str]:
    found: list[str] = []
    for part in piece.split(","):
        numbers = _RANGE.fullmatch(part)
        if numbers is None:
            raise ValueError(f'"{text}": in brackets expected numbers, such as [0-3,7], not {part}')
        first, last = numbers[1], numbers[2] or numbers[1]
        if int(last) - int(first) >= most:
            raise ValueError(f'"{text}" names more than {most} nodes')
        found += [f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return found
