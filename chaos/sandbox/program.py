"""How our own small programs are started: isolated, without the site's packages, and so fast."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent
_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from {module} import main; sys.exit(main())"
)


def own_program(module: str, *words: str) -> list[str]:
    """The command that runs ``main()`` of a module of ours, from whatever directory."""
    start = _START.format(module=module)
    return [sys.executable, "-I", "-S", "-c", start, str(_ROOT), *words]


def current_directory() -> Path:
    """The current directory; the root where it has been removed from under us."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")
