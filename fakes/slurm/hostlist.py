"""Slurm's lists of hosts: ``n[0-3,7],login``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

_PART = re.compile(r"\[([^\][]*)\]")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_NUMBERED = re.compile(r"(.*?)(\d+)$")
_MOST_HOSTS = 65_536


class HostlistError(Exception):
    """A text that is no list of hosts."""


def expand(text: str) -> list[str]:
    """The hosts of a list. Raises :class:`HostlistError`.

    >>> expand("n[08-10],login")
    ['n08', 'n09', 'n10', 'login']
    """
    names: list[str] = []
    for entry in re.split(r",(?![^\[]*\])", text):
        if not entry or entry.count("[") != len(_PART.findall(entry)):
            raise HostlistError(text)
        pieces = _PART.split(entry)
        choices = [_numbers(piece) if at % 2 else [piece] for at, piece in enumerate(pieces)]
        names += ("".join(parts) for parts in product(*choices))
        if len(names) > _MOST_HOSTS:
            raise HostlistError(text)
    return names


def _numbers(piece: str) -> list[str]:
    found: list[str] = []
    for part in piece.split(","):
        numbers = _RANGE.fullmatch(part)
        if numbers is None:
            raise HostlistError(piece)
        first, last = numbers[1], numbers[2] or numbers[1]
        if int(last) - int(first) > _MOST_HOSTS:
            raise HostlistError(piece)
        found += [f"{number:0{len(first)}}" for number in range(int(first), int(last) + 1)]
    return found


def compress(names: Iterable[str]) -> str:
    """Hosts as a list, numbers joined into ranges.

    >>> compress(["n0", "n1", "n2", "n7", "login"])
    'n[0-2,7],login'
    """
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        found = _NUMBERED.match(name)
        prefix, number = (found[1], found[2]) if found else (name, "")
        if number and groups and groups[-1][0] == prefix and _go_together(groups[-1][1], number):
            groups[-1][1].append(number)
        else:
            groups.append((prefix, [number]))
    return ",".join(
        prefix + (numbers[0] if len(numbers) == 1 else f"[{','.join(_ranges(numbers))}]")
        for prefix, numbers in groups
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Hosts each once, n2 before n10.

    >>> in_order(["n10", "n2", "n2"])
    ['n2', 'n10']
    """
    return sorted(set(names), key=_order)


def _order(name: str) -> tuple[str, int]:
    found = _NUMBERED.match(name)
    return (found[1], int(found[2])) if found else (name, -1)


def _go_together(numbers: list[str], number: str) -> bool:
    """Whether a number may stand in one list with others: padded ones are of one width."""
    last = numbers[-1]
    padded = any(len(one) > 1 and one.startswith("0") for one in (*numbers, number))
    return bool(last) and (not padded or len(last) == len(number))


def _ranges(numbers: list[str]) -> Iterable[str]:
    first = last = numbers[0]
    for number in [*numbers[1:], ""]:
        if number and int(number) == int(last) + 1:
            last = number
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = number
