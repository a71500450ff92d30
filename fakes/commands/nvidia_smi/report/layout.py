"""How a report is built: lines with a label and a value, groups of them, and lists.

A part is shown under ``-d`` if it belongs to one of the sections asked for. A part with ``when`` is
shown for those GPUs only for which it holds: the same group has other lines on other generations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.words import Read

_Condition = Callable[[Gpu], bool]


def _always(gpu: Gpu) -> bool:
    return True


class Sheet(Protocol):
    """What a report is written on: text, or XML."""

    def line(self, label: str, value: str) -> None:
        """A label and a value."""

    def open(self, label: str) -> None:
        """A heading: what follows belongs under it."""

    def close(self) -> None:
        """The end of what belongs under the last heading."""

    def listing(self, part: Listing, entries: Sequence[Entry]) -> None:
        """A list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(ABC):
    """A piece of the report. ``section`` is the name under which ``-d`` shows it.

    What is ``only_asked`` for is shown under its section alone: the whole report leaves it out.
    """

    label: str
    section: str = ""
    when: _Condition = _always
    only_asked: bool = False

    def belongs(self, wanted: Set[str]) -> bool:
        """Whether it is to be shown, if these sections are wanted (none: the whole report)."""
        return self.section in wanted if wanted else not self.only_asked

    @abstractmethod
    def write(self, gpu: Gpu, sheet: Sheet) -> None:
        """Write it down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Part):
    """A label and a value; ``ending`` is what follows a value that is there."""

    read: Read
    ending: str = ""

    def write(self, gpu: Gpu, sheet: Sheet) -> None:
        """Write it down, if its condition holds."""
        if self.when is _always or self.when(gpu):
            try:
                value = f"{self.read(gpu)}{self.ending}"
            except Missing as missing:
                value = gpu.driver.why(missing.code)
            sheet.line(self.label, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Part):
    """A heading, and parts under it. Where ``asks`` is not answered, one line says so instead."""

    parts: tuple[Part, ...]
    asks: Callable[[Gpu], object] = _always

    def write(self, gpu: Gpu, sheet: Sheet) -> None:
        """Write it down, if its condition holds."""
        if not self.when(gpu):
            return
        try:
            self.asks(gpu)
        except Missing as missing:
            sheet.line(self.label, gpu.driver.why(missing.code))
            return
        sheet.open(self.label)
        for part in self.parts:
            part.write(gpu, sheet)
        sheet.close()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list, ``deeper`` than its heading by so many steps, without the first."""

    label: str
    value: str
    deeper: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Part):
    """A heading, and entries as many as there are; ``none`` in their place if there are none.

    ``value_at`` is the column of their values, where it is another than the report's.
    """

    entries: Callable[[Gpu], Iterator[Entry]]
    none: str = "None"
    value_at: int = 0

    def write(self, gpu: Gpu, sheet: Sheet) -> None:
        """Write it down."""
        sheet.listing(self, list(self.entries(gpu)))


def line(
    label: str,
    source: str | Read,
    ending: str | None = None,
    *,
    section: str = "",
    when: _Condition = _always,
) -> Line:
    """A line with the value of a field (by its name) or of a reading.

    A field's unit follows its value, unless ``ending`` says what does.
    """
    if isinstance(source, str):
        field = BY_NAME[source]
        unit = f" {field.unit}" if field.unit else ""
        source, ending = field.read, unit if ending is None else ending
    return Line(label=label, section=section, when=when, read=source, ending=ending or "")


def group(
    label: str,
    *parts: Part,
    section: str = "",
    when: _Condition = _always,
    asks: Callable[[Gpu], object] = _always,
) -> Group:
    """A group of parts."""
    return Group(label=label, section=section, when=when, parts=parts, asks=asks)


def answers(function: str, *inputs: int) -> _Condition:
    """Whether a GPU answers an NVML function."""

    def ask(gpu: Gpu) -> bool:
        try:
            gpu.get(function, *inputs)
        except Missing:
            return False
        return True

    return ask
