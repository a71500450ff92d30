"""Write the list of which module has which commands, so that a run imports only what is called.

::

    python -m fakes.commands.generate

What is written, ``fakes/commands/index.py``, is checked in. A module that it does not name yet is
imported whenever commands are looked for, and found all the same.
"""

from __future__ import annotations

from pathlib import Path

from fakes.commands.registry import names_by_module

INDEX = Path(__file__).resolve().with_name("index.py")

_HEAD = '''"""Which module of this package has which commands. Generated.

Written by ``python -m fakes.commands.generate`` from the modules themselves; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
'''


def index_text() -> str:
    """The text of ``fakes/commands/index.py``: a row a module."""
    rows = (f'    "{module}": {_tuple(names)},\n' for module, names in names_by_module().items())
    return "".join((_HEAD, *rows, "}  # fmt: skip\n"))


def _tuple(names: tuple[str, ...]) -> str:
    words = ", ".join(f'"{name}"' for name in names)
    return f"({words},)" if len(names) == 1 else f"({words})"


if __name__ == "__main__":
    INDEX.write_text(index_text(), encoding="utf-8")
