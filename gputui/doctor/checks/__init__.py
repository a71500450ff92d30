"""Checks, one a file. A new check is a new file here: nothing else lists them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from gputui.doctor.check import Check


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check of every module in this package, by the modules' names."""
    names = sorted(module.name for module in iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Check)
    )
