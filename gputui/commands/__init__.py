"""Commands of ``gputui`` that are not the monitor, one a file: ``gputui NAME ...``.

A command is a module here with a function ``run`` of its arguments, which returns the exit code. A
new one is a new file: nothing else lists them.
"""

from __future__ import annotations

import os

_END = ".py"
_HELPERS = frozenset({"__init__", "parser"})


def command_names() -> tuple[str, ...]:
    """The names of all commands; none of them is imported for that."""
    files = (entry.name for entry in os.scandir(__path__[0]))
    names = {file[: -len(_END)] for file in files if file.endswith(_END)}
    return tuple(sorted(names - _HELPERS))
