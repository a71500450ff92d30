r"""kubectl's JSONPath templates, as far as scripts use them.

Text, ``{.a.b}``, ``{.items[*].x}``, ``{.items[0]}``, ``{.x[?(@.type=="Ready")].y}``, names with
escaped points, ``{range ...}{end}``, and strings (``{"\n"}``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_PIECES = re.compile(r"\{((?:[^{}\"']|\"[^\"]*\"|'[^']*')*)\}|([^{]+)")
_STEP = re.compile(
    r"\.\.|\.?\[\?\(@(?P<path>[^=!<>~]*?)\s*(?P<op>==|!=)\s*[\"']?(?P<value>[^\"')]*)[\"']?\)\]"
    r"|\.?\[(?P<index>-?\d+)\]|\.?\[(?P<all>\*)\]|\.?\[[\"'](?P<quoted>[^\"']+)[\"']\]"
    r"|\.(?P<star>\*)|\.(?P<name>(?:\\.|[^.\[\\])+)"
)


class PathError(Exception):
    """A template that is none, or more than is known here. One clause."""


def fill(template: str, thing: Any) -> str:
    """A template, filled from an object."""
    pieces = [(found[1], found[2]) for found in _PIECES.finditer(template)]
    text, end = _fill(pieces, 0, thing)
    if end < len(pieces):
        raise PathError(f"{template}: an end without a range")
    return text


def values(path: str, thing: Any) -> list[Any]:
    """What a path (``.a.b[*]``) leads to."""
    path = path.strip().lstrip("$@")
    if path and not path.startswith((".", "[")):
        path = f".{path}"
    found = [thing]
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or step[0] == "..":
            if path[at:] == ".":
                break
            raise PathError(f"{path}: this is not known here")
        found = [value for one in found for value in _step(step, one)]
        at = step.end()
    return found


def _fill(pieces: list[tuple[str | None, str]], at: int, thing: Any) -> tuple[str, int]:
    """The text from piece ``at`` to the end of the range that it is in, and where that is."""
    text = ""
    while at < len(pieces):
        inside, outside = pieces[at]
        word = (inside or "").strip()
        if outside:
            text += outside
        elif word == "end":
            return text, at
        elif word.startswith("range"):
            ends = _fill(pieces, at + 1, {})[1]
            for one in values(word.removeprefix("range"), thing):
                text += _fill(pieces, at + 1, one)[0]
            at = ends
        elif word[:1] in ("'", '"'):
            text += word[1:-1].encode().decode("unicode_escape")
        else:
            text += " ".join(_shown(value) for value in values(word, thing))
        at += 1
    return text, at


def _step(step: re.Match[str], thing: Any) -> Iterator[Any]:
    if step["op"] is not None:
        for one in thing if isinstance(thing, list) else []:
            same = any(_shown(value) == step["value"] for value in values(step["path"], one))
            if same is (step["op"] == "=="):
                yield one
    elif step["index"] is not None:
        if isinstance(thing, list) and -len(thing) <= int(step["index"]) < len(thing):
            yield thing[int(step["index"])]
    elif step["all"] or step["star"]:
        yield from thing.values() if isinstance(thing, dict) else thing or ()
    else:
        name = step["quoted"] or re.sub(r"\\(.)", r"\1", step["name"])
        if isinstance(thing, dict) and name in thing:
            yield thing[name]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    return "" if value is None else str(value)
