"""What can be explained, one sort of thing a file.

A topic is a module with ``explain(question, driver)``, which gives an :class:`Explanation`, or None
for a question that is not of its sort, and ``KNOWN``, one line on what it understands. Topics are
asked in the order of ``ORDER``; a new one is a new file, asked after these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from gputui.explain.explanation import Explanation
from gputui.facts.compat import Version

ORDER = ("kernel_line", "codes", "endings", "kinds", "words", "texts")


class Topic(NamedTuple):
    """A sort of thing that can be explained, and how it is described."""

    explain: Callable[[str, Version | None], Explanation | None]
    known: str


@cache
def topics() -> tuple[Topic, ...]:
    """All of them, in the order in which they are asked."""
    names = {module.name for module in iter_modules(__path__)}
    ordered = [*ORDER, *sorted(names - set(ORDER))]
    modules = [import_module(f"{__name__}.{name}") for name in ordered]
    return tuple(Topic(module.explain, module.KNOWN) for module in modules)
