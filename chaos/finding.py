"""What a finding about a script is, and how those there are get found.

A finding is a sentence on how a runbook works, whatever its verdict: it passed this time. Each sort
is a module of ``chaos/findings/`` with one function, registered by its slug::

    @finding("slept-blindly")
    def slept_blindly(runs: Sequence[ScriptRun]) -> Iterator[Finding]: ...

It knows the journal's lines alone, so that whoever has the file finds the same.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from chaos.journal import Record
from chaos.judging.script import ScriptRun, script_runs


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a script does and should not rely on. ``line`` is the journal's."""

    text: str
    line: int
    at_us: int
    slug: str = ""


Finder = Callable[[Sequence[ScriptRun], Record], Iterator[Finding]]
"""Reads the runs of a script; the journal's first line says what world they were in."""

_found: dict[str, Finder] = {}


def finding(slug: str) -> Callable[[Finder], Finder]:
    """Make a function the finder of a sort of findings."""

    def register(finder: Finder) -> Finder:
        _found[slug] = finder
        return finder

    return register


@cache
def finders() -> Mapping[str, Finder]:
    """Every finder there is, by its slug; found by looking into ``chaos/findings/``."""
    import chaos.findings

    for module in pkgutil.iter_modules(chaos.findings.__path__):
        importlib.import_module(f"chaos.findings.{module.name}")
    return dict(sorted(_found.items()))


def findings(records: Iterable[Record]) -> tuple[Finding, ...]:
    """All findings about the runbook of a run, in the order of the journal."""
    lines = tuple(records)
    runs = script_runs(lines)
    if not runs:
        return ()
    found = [
        Finding(one.text, one.line, one.at_us, slug)
        for slug, finder in finders().items()
        for one in finder(runs, lines[0])
    ]
    return tuple(sorted(found, key=lambda one: (one.line, one.slug)))
