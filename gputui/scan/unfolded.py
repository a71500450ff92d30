"""Logs in which a record takes several lines, or a character two bytes: as lines of text.

``journalctl`` writes a field a line in three of its forms (``json-pretty``, ``export``,
``verbose``), and so does ``dmesg --json``. Each record becomes one line where its first stood, and
empty lines after it, so that lines keep their numbers. Text in UTF-16, as Windows writes it,
becomes UTF-8.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import chain
from typing import Protocol

from gputui.scan.shipped import logged

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BEGINNING = 200
"""Of UTF-16 a third at least are zero bytes: a mark alone may stand before rubbish."""

_LOOKED_AT = 1 << 14
_MOST_FIELDS = 200
_LONGEST_VALUE = 1 << 13

_OBJECT = re.compile(rb"\s*\{\s*\n")
_OF_OBJECTS = (b'"__REALTIME_TIMESTAMP"', b'"dmesg"')
_EXPORT = re.compile(rb"(?:__\w+=[^\n]*\n){2}")
_HEADER = rb"(?:[A-Z][a-z]{2} )?(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+) \[s=[^\]]*\]"
_VERBOSE = re.compile(rb"(?:-- [^\n]*\n)?" + _HEADER + rb"\s*\n\s+[A-Z_]+=")


def unfolded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """A log's blocks as blocks of plain lines, whatever form they are in."""
    first = next(blocks, b"")
    if first.startswith(_UTF16) and 3 * first.count(b"\0", 0, _BEGINNING) >= len(
        first[:_BEGINNING]
    ):
        blocks = _recoded(chain((first,), blocks))
        first = next(blocks, b"")
    form = _form(first)
    if form is None:
        yield from _those_with_text(chain((first,), blocks))
    else:
        yield from _those_with_text(_as_lines(chain((first,), blocks), form))


def _those_with_text(blocks: Iterator[bytes]) -> Iterator[bytes]:
    return filter(None, blocks)


def _recoded(blocks: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    half = ""
    for block in blocks:
        text = half + decoder.decode(block)
        end = text.rfind("\n") + 1
        half = text[end:]
        yield text[:end].encode("utf-8", "replace")
    yield (half + decoder.decode(b"", final=True)).encode("utf-8", "replace")


class _Form(Protocol):
    """How a record's lines are read."""

    def field(self, line: bytes) -> tuple[str, object] | None:
        """The field on a line, if it has one."""

    def begins(self, line: bytes) -> bool:
        """Whether a record begins with a line."""

    def ends(self, line: bytes) -> bool:
        """Whether a record ends with a line."""


class _Objects:
    """A field of a JSON object a line."""

    _FIELD = re.compile(rb'\s*"(?P<name>[^"]+)"\s*:\s*(?P<value>.*?),?\s*$')

    def field(self, line: bytes) -> tuple[str, object] | None:
        import json

        found = self._FIELD.match(line)
        if found is None:
            return None
        try:
            return str(found["name"], "utf-8", "replace"), json.loads(found["value"])
        except ValueError:
            return None

    def begins(self, line: bytes) -> bool:
        return False

    def ends(self, line: bytes) -> bool:
        return line.lstrip().startswith(b"}")


class _Export:
    """``NAME=value``, and an empty line after each record."""

    def field(self, line: bytes) -> tuple[str, object] | None:
        name, equals, value = line.partition(b"=")
        if not equals or not name.strip().isupper():
            return None
        return str(name.strip(), "utf-8", "replace"), str(value, "utf-8", "replace")

    def begins(self, line: bytes) -> bool:
        return False

    def ends(self, line: bytes) -> bool:
        return not line.strip()


class _Verbose(_Export):
    """A line with the time, and below it ``NAME=value``, indented."""

    _HEADER = re.compile(_HEADER)

    def field(self, line: bytes) -> tuple[str, object] | None:
        header = self._HEADER.match(line)
        if header is not None:
            return "@timestamp", str(header["time"], "utf-8")
        return super().field(line)

    def begins(self, line: bytes) -> bool:
        return self._HEADER.match(line) is not None

    def ends(self, line: bytes) -> bool:
        return False


def _form(first: bytes) -> _Form | None:
    head = first[:_LOOKED_AT]
    if _OBJECT.match(head) and any(name in head for name in _OF_OBJECTS):
        return _Objects()
    if _EXPORT.match(head):
        return _Export()
    return _Verbose() if _VERBOSE.match(head) else None


def _as_lines(blocks: Iterator[bytes], form: _Form) -> Iterator[bytes]:
    """A line a record, and empty ones for the rest of it."""
    fields: dict[str, object] = {}
    lines = 0
    for block in blocks:
        made: list[bytes] = []
        for line in block.removesuffix(b"\n").split(b"\n"):
            if lines and form.begins(line):
                made.append(_line(fields) + b"\n" * lines)
                fields, lines = {}, 0
            lines += 1
            found = form.field(line[:_LONGEST_VALUE])
            if found is not None and len(fields) < _MOST_FIELDS:
                fields[found[0]] = found[1]
            if form.ends(line):
                made.append(_line(fields) + b"\n" * lines)
                fields, lines = {}, 0
        yield b"".join(made)
    if fields:
        yield _line(fields) + b"\n"


def _line(fields: dict[str, object]) -> bytes:
    return logged(fields).encode("utf-8", "replace") if fields else b""
