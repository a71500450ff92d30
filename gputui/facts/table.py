"""Tables of facts: CSV files in this package, and what a site adds to them.

A site's additions lie in ``facts.d/`` below ``/etc/gputui`` and below the user's own config folder
(``$XDG_CONFIG_HOME/gputui``): ``xid.csv`` or ``xid-NAME.csv`` there has rows for the table ``xid``,
under the same columns. A row whose key is known overrides the cells that it fills in; another one
is added. A row that cannot be used is passed over, and told with its file and line. Rows that begin
with ``#`` are remarks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Generic, TypeVar

from gputui.places import SYSTEM_CONFIG, user_config

HERE = Path(__file__).parent
_SUFFIX = ".csv"
_NAME = re.compile(r"(?P<table>[a-z0-9_]+)(?:-.+)?\.csv")

Fact = TypeVar("Fact")
Choice = TypeVar("Choice", bound=Enum)
Key = tuple[str, ...]


class BadRowError(ValueError):
    """A row that cannot be used: what was found in which column, and what was expected."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its cells by column, each without blanks around it.

    ``file`` and ``line`` are where it stands; ``is_site`` says that it is, in part, a site's.
    """

    cells: Mapping[str, str]
    file: str
    line: int
    is_site: bool = False

    def text(self, column: str) -> str:
        """A cell; empty where the row has none."""
        return self.cells.get(column, "")

    def integer(self, column: str) -> int:
        """A cell that is a whole number, decimal or after ``0x``."""
        text = self.text(column)
        try:
            return int(text, 16) if text[:2].lower() == "0x" else int(text)
        except ValueError:
            raise BadRowError(f'{column} is "{text}", expected a whole number') from None

    def one_of(self, column: str, choices: Mapping[str, Choice]) -> Choice:
        """A cell that is one of some words."""
        text = self.text(column)
        if text in choices:
            return choices[text]
        import difflib

        near = difflib.get_close_matches(text, choices, 1)
        meant = f'; did you mean "{near[0]}"?' if near else ""
        raise BadRowError(f'{column} is "{text}", expected one of {", ".join(choices)}{meant}')


@dataclass(frozen=True, slots=True)
class Table(Generic[Fact]):
    """The facts of a table by their key, in the order of the files; and what was wrong with rows.

    ``problems`` are lines for people, each beginning with ``FILE:LINE:``.
    """

    facts: Mapping[Key, Fact]
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reading:
    """A table while it is read. ``columns`` are those that the package's own file has."""

    key: Sequence[str]
    columns: tuple[str, ...] = ()
    rows: dict[Key, Row] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def site_folders() -> tuple[Path, ...]:
    """Where a site's additions lie; those named later are stronger."""
    return tuple(Path(file).parent / "facts.d" for file in (SYSTEM_CONFIG, user_config()))


def site_files(name: str, folders: Iterable[Path] | None = None) -> Iterator[Path]:
    """The files with additions to a table, weakest first."""
    for folder in site_folders() if folders is None else folders:
        try:
            found = sorted(folder.iterdir())
        except OSError:
            continue
        for path in found:
            match = _NAME.fullmatch(path.name)
            if match and match["table"] == name:
                yield path


def load(
    name: str,
    key: Sequence[str],
    build: Callable[[Row], Fact],
    *,
    folders: Iterable[Path] | None = None,
) -> Table[Fact]:
    """Read a table and what the site has added.

    ``key`` are the columns that tell rows apart; ``build`` makes a fact of a row, and raises
    :class:`BadRowError` if it cannot.
    """
    reading = _Reading(key)
    own = HERE / f"{name}{_SUFFIX}"
    _read(own, reading, is_site=False)
    facts = {key: build(row) for key, row in reading.rows.items()}
    for path in site_files(name, folders):
        before = dict(reading.rows)
        _read(path, reading, is_site=True)
        for which, row in list(reading.rows.items()):
            if before.get(which) is row:
                continue
            try:
                facts[which] = build(row)
            except BadRowError as error:
                reading.problems.append(f"{row.file}:{row.line}: {error}")
                if which in before:
                    reading.rows[which] = before[which]
                else:
                    del reading.rows[which]
    return Table(facts, tuple(reading.problems))


def _read(path: Path, reading: _Reading, *, is_site: bool) -> None:
    """Take a file's rows in. What is wrong with a site's file is a problem, never an error."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, restkey="")
            columns = tuple(name.strip() for name in rows.fieldnames or ())
            if not is_site:
                reading.columns = columns
            elif not _are_columns(path, columns, reading):
                return
            for raw in rows:
                _take(raw, columns, path, rows.line_num, reading, is_site=is_site)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        if not is_site:
            raise
        reading.problems.append(f"{path}:1: cannot be read: {error}")


def _are_columns(path: Path, columns: Sequence[str], reading: _Reading) -> bool:
    """Whether a site's file has the key's columns, and only columns that the table has."""
    missing = [column for column in reading.key if column not in columns]
    if missing:
        reading.problems.append(
            f"{path}:1: no column {missing[0]}; the first line names the columns, "
            f"expected some of {', '.join(reading.columns)}"
        )
        return False
    for column in columns:
        if column not in reading.columns:
            import difflib

            near = difflib.get_close_matches(column, reading.columns, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            reading.problems.append(f'{path}:1: unknown column "{column}"{meant}')
    return True


def _take(
    raw: Mapping[str, str | None],
    columns: Sequence[str],
    path: Path,
    line: int,
    reading: _Reading,
    *,
    is_site: bool,
) -> None:
    values = list(raw.values())
    if len(values) > len(columns):
        reading.problems.append(
            f"{path}:{line}: more cells than the {len(columns)} columns of the first line"
        )
        return
    cells = {
        name: (value or "").strip() for name, value in zip(columns, values, strict=True) if name
    }
    if is_site and next(iter(cells.values())).startswith("#"):
        return
    key = tuple(cells[column] for column in reading.key)
    if is_site and not all(key):
        empty = reading.key[key.index("")]
        reading.problems.append(f"{path}:{line}: {empty} is empty")
        return
    known = reading.rows.get(key)
    if is_site:
        said_by = cells.get("source") or f"{path}:{line}"
        if known is not None:
            cells = {**known.cells, **{name: value for name, value in cells.items() if value}}
            said_by = f"{known.text('source')}; {said_by}"
        cells["source"] = said_by
    reading.rows[key] = Row(cells, str(path), line, is_site)
