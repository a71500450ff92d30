"""What a program brings along to a node from the places that are empty there.

The program itself and what it is run by, the environments on ``PATH`` that it may call others from,
the current directory with the repository around it, and what this simulator's own Python needs, so
that ``gputui`` and ``gpuchaos`` work there too. A home as a whole is never brought, and nor is any
other place that is to be empty.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from chaos.errors import UsageError
from chaos.sandbox.hiding import mode_of
from chaos.sandbox.plan import Bind
from chaos.sandbox.program import current_directory

_SEARCH_PATHS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
_PLACES = ("VIRTUAL_ENV", "CONDA_PREFIX", "TERMINFO")
_LONGEST_CHAIN = 8
_PACKAGES = Path(__file__).resolve().parents[2]


def brought(
    words: Sequence[str],
    environ: Mapping[str, str],
    empty: Sequence[str],
    *,
    writable: Sequence[Path] = (),
    here: Path | None = None,
) -> list[Bind]:
    """The binds for a program (``words``) where the places ``empty`` are; parents come first.

    The directory that it starts in is among them, where that is to be seen at all: ``here``, or
    the current one.
    """
    here = current_directory() if here is None else here.resolve()
    wanted = [_repository(here), here, *_own_python(), *_by_environment(environ)]
    wanted += _program(words[0], environ, _LONGEST_CHAIN)
    binds: dict[str, Bind] = {}
    for path in wanted:
        real = os.path.realpath(path)
        if not mode_of(real):
            continue
        for place in dict.fromkeys((real, os.path.normpath(here / path))):
            if lies_in(place, empty) and not _leads_to(real, empty):
                binds[place] = Bind(real, place)
    for path in writable:
        real = os.path.realpath(path)
        if not stat.S_ISDIR(mode_of(real)):
            raise UsageError(f"--writable {path}: there is no such directory.")
        if _leads_to(real, empty) or real == "/":
            raise UsageError(
                f"--writable {path}: a node has a {real} of its own: choose a directory below it."
            )
        binds[real] = Bind(real, real, writable=True)
    return _without_inner(binds)


def _without_inner(binds: Mapping[str, Bind]) -> list[Bind]:
    """The binds in order, without those that another one shows already, by links or directly."""
    kept: list[Bind] = []
    for place in sorted(binds):
        bind = binds[place]
        around = [other for other in kept if place.startswith(f"{other.target}/")]
        if not around or (bind.writable and not around[-1].writable):
            kept.append(bind)
    return kept


def lies_in(path: str, places: Iterable[str]) -> bool:
    """Whether a path lies in one of these directories."""
    return any(path.startswith(f"{place}/") for place in places)


def _leads_to(path: str, places: Iterable[str]) -> bool:
    """Whether one of ``places`` is ``path``, or lies in it."""
    return any(place == path or place.startswith(f"{path.rstrip('/')}/") for place in places)


def _repository(here: Path) -> Path:
    """The directory around ``here`` that is under version control, or ``here``."""
    return next((path for path in (here, *here.parents) if mode_of(path / ".git")), here)


def _own_python() -> Iterator[Path]:
    yield from (Path(sys.prefix), Path(sys.base_prefix), _PACKAGES)
    yield Path(os.path.realpath(sys.executable)).parent.parent
    yield from (Path(entry) for entry in sys.path if entry)


def _by_environment(environ: Mapping[str, str]) -> Iterator[Path]:
    for name in _PLACES:
        if environ.get(name):
            yield Path(environ[name])
    for name in _SEARCH_PATHS:
        for entry in filter(None, environ.get(name, "").split(os.pathsep)):
            yield from _folder_of_programs(Path(entry)) if name == "PATH" else (Path(entry),)


def _folder_of_programs(folder: Path) -> Iterator[Path]:
    """A directory of programs, and what they need that is installed beside it."""
    yield folder
    around = folder.parent
    settings = around / "pyvenv.cfg"
    if stat.S_ISREG(mode_of(settings)):
        yield around
        for line in settings.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":  # the directory of the Python that it was made from
                python = Path(value.strip())
                yield from (python.parent, Path(os.path.realpath(python)).parent)
    elif mode_of(around / "conda-meta"):
        yield around
    else:
        yield from (around / name for name in ("lib", "lib64", "libexec"))


def _program(word: str, environ: Mapping[str, str], chain: int) -> Iterator[Path]:
    """A program, what its links lead to, and what runs it if it is a script."""
    found = word if "/" in word else shutil.which(word, path=environ.get("PATH"))
    if not found or not chain:
        return
    path = Path(os.path.normpath(current_directory() / found))
    if not stat.S_ISREG(mode_of(path)):
        return
    yield path
    yield from _folder_of_programs(path.parent)
    if path.is_symlink():
        yield from _program(str(path.parent / path.readlink()), environ, chain - 1)
        return
    try:
        with path.open("rb") as file:
            first = file.readline(4096)
    except OSError:
        return
    interpreter = first[2:].split()
    if first.startswith(b"#!") and interpreter:
        yield from _program(os.fsdecode(interpreter[0]), environ, chain - 1)
