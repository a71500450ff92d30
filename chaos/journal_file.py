"""A journal that was written before, read from its file, wherever it comes from.

A run that was killed leaves its last line half written: what is whole counts, and the line within
which the file ends is known. All else that no run writes is one mistake with its place: whoever
judges or tells a journal that was read here finds each line's facts, of the types that are told
below. No text keeps a character that a terminal would obey.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol

from chaos.errors import UsageError, shortened
from chaos.journal import Record
from chaos.verdict import Verdict
from fakes.clock import SECOND_US
from gputui import decoding
from gputui.decoding import WrongError
from gputui.model import Incident
from gputui.shapes import decode
from gputui.text import harmless

_LONGEST_LINE_BYTES = 16 << 20
_LARGEST = 1e9
_BEGINS = b'{"t":'
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class JournalFile:
    """The whole lines of a journal. ``ends_within_line`` counts from 1; None: it ends with one."""

    path: Path
    records: tuple[Record, ...]
    ends_within_line: int | None = None


def read_journal(path: Path) -> JournalFile:
    """The lines of a file, checked; a :class:`UsageError` says where it is no journal."""
    try:
        with path.open("rb") as file:
            records = tuple(_records(path, file))
            ends_within = len(records) + 1 if file.read(1) else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from error
    return JournalFile(path, records, ends_within)


def _records(path: Path, file: BinaryIO) -> Iterator[Record]:
    """Line by line; of a last line that is not whole the file is left at its beginning."""
    number = 0
    while line := file.readline(_LONGEST_LINE_BYTES):
        number += 1
        if number == 1 and line.startswith(_GZIP):
            raise UsageError(f"{path}: is compressed: unpack it first (gunzip).")
        try:
            raw = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
            yield _record(number, decoding.members(raw, "the line"))
        except (ValueError, RecursionError):
            if not line.endswith(b"\n") and line.startswith(_BEGINS[: len(line)]):
                file.seek(-len(line), os.SEEK_CUR)
                return
            raise UsageError(f"{path}:{number}:1: is no line of a journal.") from None
        except WrongError as wrong:
            found = "nothing" if wrong.found is MISSING else shortened(repr(wrong.found))
            raise UsageError(
                f"{path}:{number}:1: is no line of a journal of this version: {wrong.where}: "
                f"found {found}, expected {wrong.expected}."
            ) from None


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number in JSON")


def _record(number: int, raw: dict[str, Any]) -> Record:
    """A line's record; facts that no reader asks for are taken as they are."""
    facts = _harmless(raw)
    t = decoding.number(facts.pop("t", MISSING), "t")
    if not 0 <= t <= _LARGEST:
        raise WrongError("t", t, f"0 to {_LARGEST:g} seconds")
    event = decoding.text(facts.pop("event", MISSING), "event")
    _check(_SHAPES.get(event, {}), facts)
    return Record(number, round(t * SECOND_US), event, facts)


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [_harmless(one) for one in value]
    if isinstance(value, dict):
        return {harmless(name): _harmless(one) for name, one in value.items()}
    return value


# --- what each event's line says -----------------------------------------------------------------


class _Fact(Protocol):
    """Raises :class:`WrongError` for a value (``MISSING`` if there is none) that cannot be."""

    def __call__(self, value: object, where: str, /) -> object: ...


def _check(shape: Mapping[str, _Fact], facts: Mapping[str, object], where: str = "") -> None:
    for name, check in shape.items():
        check(facts.get(name, MISSING), f"{where}{name}")


def _perhaps(check: _Fact) -> _Fact:
    """A fact that may be missing, or null."""

    def checked(value: object, where: str) -> None:
        if value is not None and value is not MISSING:
            check(value, where)

    return checked


def _or_null(check: _Fact) -> _Fact:
    """A fact that may be null."""

    def checked(value: object, where: str) -> None:
        if value is not None:
            check(value, where)

    return checked


def _words(value: object, where: str) -> None:
    """The words of a command: one at the least."""
    if not decoding.texts(value, where):
        raise WrongError(where, value, "a command")


def _figure(value: object, where: str) -> None:
    """A number of a size that can be told, and drawn: seconds, degrees, MHz."""
    if not -_LARGEST <= decoding.number(value, where) <= _LARGEST:
        raise WrongError(where, value, f"a number between {-_LARGEST:g} and {_LARGEST:g}")


def _place(value: object, where: str) -> None:
    """FILE:LINE:COLUMN."""
    if not re.fullmatch(r".*:\d{1,9}:\d{1,9}", decoding.text(value, where)):
        raise WrongError(where, value, "FILE:LINE:COLUMN")


def _incident(value: object, where: str) -> None:
    decode(Incident, value, where)
    _check(_OF_AN_INCIDENT, decoding.members(value, where), f"{where}.")


def _false_pages(value: object, where: str) -> None:
    shape: Mapping[str, _Fact] = {
        "kind": decoding.text, "subject": decoding.text, "at_s": _figure, "line": decoding.integer,
    }  # fmt: skip
    for number, page in enumerate(decoding.items(value, where)):
        _check(shape, decoding.members(page, f"{where}[{number}]"), f"{where}[{number}].")


_verdict = decoding.one_of({verdict.value: verdict for verdict in Verdict})
_ON_WHOM = {
    "node": _perhaps(decoding.text), "gpu": _perhaps(decoding.integer),
    "job": _perhaps(decoding.text),
}  # fmt: skip

_OF_AN_INCIDENT = {
    "gpu": _or_null(decoding.integer), "cleared_s": _or_null(_figure),
    "parent": _or_null(decoding.text),
}  # fmt: skip
"""What the monitor's captures may leave out, and a run's journal never does."""

_SHAPES: Mapping[str, Mapping[str, _Fact]] = {
    "start": {
        "scenario": decoding.text, "why": decoding.text, "file": decoding.text,
        "seed": decoding.integer, "scheduler": _perhaps(decoding.text),
        "drawn": _perhaps(decoding.reasons), "reseeded": _perhaps(decoding.flag),
        "live": _perhaps(decoding.flag),
    },
    "expect": {
        "position": decoding.integer, "at": _place, "text": decoding.text, "from_s": _figure,
        "deadline_s": _or_null(_figure), "hold_s": _figure, "waits": decoding.flag,
    },
    "fault": {"id": decoding.text, "fault": decoding.text, "arguments": decoding.members},
    "heal": {"id": decoding.text},
    "incident": {"incident": _incident},
    "log": {"node": decoding.text, "source": decoding.text, "text": decoding.text},
    "call": {"node": decoding.text, "argv": _words},
    "return": {"node": decoding.text, "argv": _words, "exit": _perhaps(decoding.integer)},
    "action": {
        "action": decoding.text, "ok": _perhaps(decoding.flag), "detail": _perhaps(decoding.text),
        **_ON_WHOM,
    },
    "state": {"state": decoding.text, "holds": decoding.flag, "why": decoding.text},
    "runbook": {"node": decoding.text, "argv": _words, "exit": _perhaps(decoding.integer)},
    "reading": {
        "node": decoding.text, "gpu": decoding.integer, "temperature_c": _perhaps(_figure),
        "sm_clock_mhz": _perhaps(_figure),
    },
    "hint": {"text": decoding.text},
    "unknown": {"why": decoding.text},
    "outcome": {
        "position": decoding.integer, "ok": decoding.flag, "measured_s": _or_null(_figure),
        "why": decoding.text, "lines": decoding.integers,
    },
    "verdict": {
        "verdict": _verdict, "false_pages": _false_pages, "unsteady": decoding.texts,
        "unknown": decoding.texts,
    },
}  # fmt: skip
"""The facts that verdicts and reports ask for, event by event."""
