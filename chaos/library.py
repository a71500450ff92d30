"""The scenarios that come with the project, and how one is found by its name or its path."""

from __future__ import annotations

import stat
from pathlib import Path

from chaos.errors import UsageError, did_you_mean, quoted, shortened

_HERE = Path(__file__).parent


def folder() -> Path:
    """Where they lie: inside the installed package, or beside it in a checkout."""
    installed = _HERE / "scenarios"
    return installed if installed.is_dir() else _HERE.parent / "scenarios"


def shipped() -> dict[str, Path]:
    """Every scenario that comes along, by its name."""
    return {path.stem: path for path in sorted(folder().rglob("*.yaml"))}


def find_scenario(name: str) -> Path:
    """The file of a scenario: a path, or the name of one that comes along."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or "/" in name or _is_there(path, name):
        _check_is_file(path)
        return path
    if name not in shipped():
        raise UsageError(
            f"unknown scenario {quoted(name)}{did_you_mean(name, shipped(), 'Known scenarios')}"
            " Or give the path of a .yaml file."
        )
    return shipped()[name]


def _is_there(path: Path, name: str) -> bool:
    """Whether a word is meant as a path without saying so; shipped scenarios come first."""
    try:
        return name not in shipped() and path.exists()
    except OSError:
        return False


_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (lambda _: True, "a device"),
)


def _check_is_file(path: Path) -> None:
    """Refuse what is there but is no file, before anybody waits for it to say something."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise UsageError(f"there is no scenario file {shortened(str(path), 400)}.") from error
    except OSError as error:
        raise UsageError(
            f"{shortened(str(path), 400)}: cannot be read: {error.strerror}."
        ) from error
    if not stat.S_ISREG(mode):
        what = next(words for is_kind, words in _KINDS if is_kind(mode))
        raise UsageError(f"{path} is {what}, not a scenario file.")
