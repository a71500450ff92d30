"""How Slurm's commands are told what to print: ``-o "%.18i %N"``, ``-O "JobID:10,Name:.12"``.

A field has a name, a heading, and a width with a side. The rules are those of sinfo(1) and
squeue(1): a width cuts and pads, ``.`` puts to the right, and what is no field is printed as it
stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

_SHORT = re.compile(r"%(\.?)(\d*)(%|all\b|[A-Za-z])([^%]*(?:%[^A-Za-z%.\d][^%]*)*)")
_LONG = re.compile(r"([A-Za-z_-]+)(?::([.-]?)(\d*)(.*))?")
_USUAL_WIDTH = 20

_Thing = TypeVar("_Thing")


class UnknownFieldError(Exception):
    """A field that there is not. Its name."""


@dataclass(frozen=True, slots=True)
class Field(Generic[_Thing]):
    """What a field is called, what stands over it, and what it says of a thing."""

    heading: str
    text: Callable[[_Thing], str]


@dataclass(frozen=True, slots=True)
class Column(Generic[_Thing]):
    """A field in its place: ``width`` 0 is as wide as it is; ``after`` is printed behind it."""

    field: Field[_Thing]
    width: int = 0
    right: bool = False
    after: str = ""

    def cell(self, text: str) -> str:
        """The text, cut and padded."""
        if not self.width:
            return text + self.after
        cut = text[: self.width]
        return (cut.rjust(self.width) if self.right else cut.ljust(self.width)) + self.after


@dataclass(frozen=True, slots=True)
class Form(Generic[_Thing]):
    """What to print of every thing: what stands before the first field, and the columns."""

    columns: Sequence[Column[_Thing]]
    before: str = ""

    @property
    def heading(self) -> str:
        """The first line."""
        return self.before + "".join(one.cell(one.field.heading) for one in self.columns)

    def line(self, thing: _Thing) -> str:
        """The line of a thing."""
        return self.before + "".join(one.cell(one.field.text(thing)) for one in self.columns)


def short_form(text: str, fields: Mapping[str, Field[_Thing]]) -> tuple[Form[_Thing], list[str]]:
    """A form as ``-o`` gives it, and the letters in it that are no field."""
    if text == "%all":
        return every(fields), []
    columns: list[Column[_Thing]] = []
    unknown: list[str] = []
    start = text.find("%")
    before = text if start < 0 else text[:start]
    for dot, width, letter, after in _SHORT.findall(text):
        if letter in fields:
            columns.append(Column(fields[letter], int(width or 0), bool(dot), after))
            continue
        unknown.append(letter)
        stands = f"%{after}" if letter == "%" else f"%{dot}{width}{letter}{after}"
        if columns:
            last = columns.pop()
            columns.append(Column(last.field, last.width, last.right, last.after + stands))
        else:
            before += stands
    return Form(columns, before), [letter for letter in unknown if letter != "%"]


def every(fields: Mapping[str, Field[_Thing]]) -> Form[_Thing]:
    """Everything, with bars between."""
    columns = [Column(field, after="|") for field in fields.values()]
    return Form([*columns[:-1], Column(columns[-1].field)])


def long_form(text: str, fields: Mapping[str, Field[_Thing]]) -> Form[_Thing]:
    """A form as ``-O`` gives it. Raises :class:`UnknownFieldError`."""
    columns = []
    for word in text.split(","):
        found = _LONG.fullmatch(word.lstrip())
        if found is None or found[1].lower() not in fields:
            raise UnknownFieldError(word)
        width = int(found[3]) if found[3] else _USUAL_WIDTH
        columns.append(Column(fields[found[1].lower()], width, found[2] == ".", found[4] or ""))
    return Form(columns)
