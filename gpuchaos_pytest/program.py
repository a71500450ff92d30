"""How programs of ours are started from a tests' process: by where they lie, and not by name."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Where our packages lie beside each other."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; sys.exit(main())"
)


def own_program(module: str, *words: str) -> list[str]:
    """The command that runs ``main()`` of a module of ours, whatever else has its name."""
    return [sys.executable, "-c", _START.format(module=module), str(ROOT), *words]
