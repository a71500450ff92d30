"""A scenario's file with other values in it: all else, comments too, stays as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chaos.errors import Mistakes
from chaos.format.yaml_tree import Items, Table, Word, read_tree

_PLAIN = frozenset(",:{}[]\"'#*&!|>%@`")


def rewritten(path: Path, values: Mapping[str, str]) -> str:
    """The text of a scenario whose entries have these values, named ``ENTRY.ARGUMENT``."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    changes = [_change(path, name, value) for name, value in values.items()]
    # From the end, so that what is still to be changed stays where it is.
    for line, column, old, new in sorted((one for one in changes if one), reverse=True):
        text = lines[line - 1]
        end = column - 1 + _length(text[column - 1 :], old)
        lines[line - 1] = f"{text[: column - 1]}{new}{text[end:]}"
    return "".join(lines)


def _change(path: Path, name: str, value: str) -> tuple[int, int, str, str] | None:
    """Where a value stands, what stands there, and what is to; nothing there: before the end."""
    entry_id, _, argument = name.partition(".")
    written = value if not set(value) & _PLAIN else f'"{value}"'
    for entry in _entries(path):
        known = entry.get("id")
        if not isinstance(known, Word) or known.text != entry_id:
            continue
        arguments = next((tree for _, tree in entry.entries if isinstance(tree, Table)), None)
        word = entry.get("at") if argument == "at" else arguments and arguments.get(argument)
        if isinstance(word, Word):
            return word.place.line, word.place.column, word.text, written
        if arguments is not None:
            first = arguments.entries[0][0]
            return first.place.line, first.place.column, "", f"{argument}: {written}, "
    return None


def _entries(path: Path) -> list[Table]:
    top = read_tree(path, Mistakes())
    timeline = top.get("timeline") if isinstance(top, Table) else None
    items = timeline.items if isinstance(timeline, Items) else ()
    return [item for item in items if isinstance(item, Table)]


def _length(text: str, word: str) -> int:
    """How many letters a word takes in the file, with its quotes."""
    if word and text[0] in "\"'":
        return text.index(text[0], 1) + 1
    return len(word)
