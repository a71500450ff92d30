"""What several nodes have said, gathered: the blocks of dshbak, clubak and ``clush -b``.

Each line comes with its node's name before it, ``n0: text``; a block stands under the names of
those whose output it is, between two rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fakes.slurm.hostlist import compress, in_order


def by_node(lines: Iterable[str]) -> dict[str, str]:
    """What each node has said, n2 before n10. A line that names no node is left out."""
    said: dict[str, str] = {}
    for line in lines:
        name, colon, text = line.rstrip("\n").partition(":")
        if colon and name.strip():
            said[name.strip()] = said.get(name.strip(), "") + text.removeprefix(" ") + "\n"
    return {name: said[name] for name in in_order(said)}


def alike(said: dict[str, str]) -> list[tuple[list[str], str]]:
    """The nodes that have said the same, and what that is, by the first of them."""
    groups: dict[str, list[str]] = {}
    for name, text in said.items():
        groups.setdefault(text, []).append(name)
    return [(names, text) for text, names in groups.items()]


def blocks(
    groups: Iterable[tuple[Sequence[str], str]], *, rule: str, counts: bool = False
) -> Iterator[str]:
    """A block for each group; with ``counts``, how many nodes it is where it is not one."""
    for names, text in groups:
        count = f" ({len(names)})" if counts and len(names) > 1 else ""
        yield f"{rule}\n{compress(names)}{count}\n{rule}\n{text}"
