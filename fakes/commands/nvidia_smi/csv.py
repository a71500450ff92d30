"""Selective queries: chosen properties as comma-separated values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TextIO

from fakes.commands.nvidia_smi.field import Field, Row
from fakes.commands.nvidia_smi.options import Format
from fakes.commands.nvidia_smi.reading import Driver, Gpu
from fakes.commands.nvidia_smi.selection import Ended, status_of
from fakes.nvml.codes import Code


@dataclass(frozen=True, slots=True)
class Query(Generic[Row]):
    """A kind of query: what can be asked, and the lines that one GPU has."""

    about: str
    fields: tuple[Field[Row], ...]
    rows: Callable[[Gpu], Iterable[Row]]

    def chosen(self, names: str, out: TextIO) -> list[Field[Row]]:
        """The fields named, separated by commas. A name that is none ends the call."""
        by_name = {name: field for field in self.fields for name in field.names}
        chosen = []
        for name in names.split(","):
            if (field := by_name.get(name.strip())) is None:
                out.write(f'Field "{name.strip()}" is not a valid field to query.\n\n')
                raise Ended(status_of(Code.INVALID_ARGUMENT))
            chosen.append(field)
        return chosen

    def answer(
        self, names: str, gpus: Sequence[Gpu], driver: Driver, form: Format, out: TextIO
    ) -> None:
        """Print the heading, unless it is not wanted, and every GPU's lines."""
        chosen = self.chosen(names, out)
        if form.header:
            out.write(", ".join(field.heading for field in chosen) + "\n")
        for gpu in gpus:
            for row in self.rows(gpu):
                cells = (field.cell(row, driver, units=form.units) for field in chosen)
                out.write(", ".join(cells) + "\n")
