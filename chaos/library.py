"""The scenarios that come with the project, and how one is found by its name or its path."""

from __future__ import annotations

from pathlib import Path

from chaos.errors import UsageError, did_you_mean

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
    if path.suffix in (".yaml", ".yml") or "/" in name:
        if not path.is_file():
            raise UsageError(f"there is no scenario file {name}.")
        return path
    if name not in shipped():
        raise UsageError(
            f"unknown scenario '{name}'{did_you_mean(name, shipped(), 'Known scenarios')}"
            " Or give the path of a .yaml file."
        )
    return shipped()[name]
