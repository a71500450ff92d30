"""The documents of a YAML file, and the places in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

STANDARD_INPUT = Path("-")
_MOST_BYTES = 16 << 20


class ManifestError(Exception):
    """A file cannot be read; the message says where and why."""


def documents_of(path: Path, name: str) -> list[Any]:
    """The documents that are not empty. Raises ManifestError, also where there are none."""
    yaml = YAML(typ="rt")
    yaml.allow_duplicate_keys = True
    try:
        text = _read(path).decode("utf-8-sig")
        found = [one for one in yaml.load_all(text) if one is not None]
    except OSError as error:
        raise ManifestError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{name}: is not UTF-8 text") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ManifestError(f"{name}{where}: no YAML: {error.problem}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ManifestError(f"{name}: no YAML: {reason}") from None
    if not found:
        raise ManifestError(f"{name}:1:1: nothing in it, expected a Kubernetes manifest")
    return found


def _read(path: Path) -> bytes:
    """The whole file. Raises OSError, and ManifestError where it is too long."""
    if path == STANDARD_INPUT:
        data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ManifestError(f"{path}: longer than {_MOST_BYTES >> 20} MiB: that is no manifest")
    return data


def mappings(root: Any) -> Iterator[Any]:
    """Every mapping, in the order of the file; one that aliases repeat comes once."""
    waiting = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not (isinstance(node, Mapping) or is_list(node)):
            continue
        seen.add(id(node))
        if isinstance(node, Mapping):
            yield node
        inside = list(node.values()) if isinstance(node, Mapping) else list(node)
        waiting += reversed(inside)


def is_list(node: Any) -> bool:
    """Whether a node of YAML is a list."""
    return isinstance(node, Sequence) and not isinstance(node, str | bytes)


def at(name: str, table: Any, key: Any) -> str:
    """``file:line:column`` of a key."""
    try:
        line, column = table.lc.key(key)
    except (AttributeError, KeyError, TypeError):
        return name
    return f"{name}:{line + 1}:{column + 1}"


def place_of(name: str, node: Any) -> str:
    """``file:line:column`` of a document; text alone does not know where it stands."""
    line, column = getattr(getattr(node, "lc", None), "line", 0), 0
    return f"{name}:{(line or 0) + 1}:{column + 1}"
