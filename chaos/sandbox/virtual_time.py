"""How programs on a node come to live by a run's clock: by a library preloaded into each.

It is named in the node's /etc/ld.so.preload (ld.so(8)), so that neither ``env -i`` nor ``sudo``
loses it. Programs without the C library's dynamic loader do not see it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from chaos.sandbox.plan import NODE

_FOLDER = "clock"
_LIBRARY = "libgputui-clock.so"
_PAGE = "now"
_PRELOAD = Path("/etc/ld.so.preload")


def clock_page(directory: Path) -> Path:
    """Where the simulator keeps a node's time, as the machine sees it (chaos/lookalikes)."""
    return directory / _FOLDER / _PAGE


def equip(directory: Path, library: Path) -> None:
    """Put the library and the page into a node's directory."""
    folder = directory / _FOLDER
    folder.mkdir()
    folder.chmod(0o755)
    shutil.copyfile(library, folder / _LIBRARY)
    (folder / _LIBRARY).chmod(0o755)
    page = clock_page(directory)
    page.touch()
    page.chmod(0o644)


def files() -> dict[str, str]:
    """What names the library, before what the machine preloads anyway: texts, by names in /etc."""
    others = _PRELOAD.read_text(encoding="utf-8") if _PRELOAD.is_file() else ""
    return {_PRELOAD.name: f"{NODE}/{_FOLDER}/{_LIBRARY}\n{others}"}
