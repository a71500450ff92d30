"""Values out of JSON, each checked: a wrong one says where it stood and what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

_T = TypeVar("_T")


class WrongError(Exception):
    """A value of the wrong type; ``where`` is its path inside the record."""

    def __init__(self, where: str, found: object, expected: str) -> None:
        super().__init__(where)
        self.where = where
        self.found = found
        self.expected = expected


def integer(value: object, where: str) -> int:
    """A whole number; true and false are none."""
    if type(value) is not int:
        raise WrongError(where, value, "an integer")
    return value


def number(value: object, where: str) -> float:
    """A number with or without a fraction."""
    if type(value) is not float and type(value) is not int:
        raise WrongError(where, value, "a number")
    try:
        return float(value)
    except OverflowError:
        raise WrongError(where, value, "a number that fits 64 bits") from None


def text(value: object, where: str) -> str:
    """A string."""
    if type(value) is not str:
        raise WrongError(where, value, "text")
    return value


def flag(value: object, where: str) -> bool:
    """True or false, and nothing that merely counts as it."""
    if type(value) is not bool:
        raise WrongError(where, value, "true or false")
    return value


def items(value: object, where: str) -> list[object]:
    """A list, whatever is in it."""
    if type(value) is not list:
        raise WrongError(where, value, "a list")
    return value


def members(value: object, where: str) -> dict[str, object]:
    """An object, whatever is in it."""
    if type(value) is not dict:
        raise WrongError(where, value, "an object")
    return value


def texts(value: object, where: str) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(text(one, f"{where}[{i}]") for i, one in enumerate(items(value, where)))


def integers(value: object, where: str) -> tuple[int, ...]:
    """A list of whole numbers."""
    return tuple(integer(one, f"{where}[{i}]") for i, one in enumerate(items(value, where)))


def reasons(value: object, where: str) -> dict[str, str]:
    """An object of strings."""
    return _each_member(str, "text", value, where)


def counts(value: object, where: str) -> dict[str, int]:
    """An object of whole numbers."""
    return _each_member(int, "an integer", value, where)


def _each_member(kind: type[_T], expected: str, value: object, where: str) -> dict[str, _T]:
    """An object whose members are all of exactly one type."""
    known: dict[str, _T] = {}
    for name, one in members(value, where).items():
        if type(one) is not kind:
            raise WrongError(f"{where}.{name}", one, expected)
        known[name] = one
    return known


def one_of(words: Mapping[str, Enum]) -> Callable[[object, str], Any]:
    """What reads one of these words as the enumeration's member that it stands for."""

    def decode(value: object, where: str) -> Enum:
        word = text(value, where)
        if word not in words:
            raise WrongError(where, value, f"one of {', '.join(words)}")
        return words[word]

    return decode
