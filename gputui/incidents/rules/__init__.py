"""Rules, one a file. A new rule is a new file here: nothing else lists them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from gputui.incidents.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of every module in this package, in the order of the modules' names.

    Those that look at samples come last: of several rules of a kind they know whether it still is
    so, and what is remembered of that kind is for them.
    """
    names = sorted(module.name for module in iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    rules = [
        value for module in modules for value in vars(module).values() if isinstance(value, Rule)
    ]
    return tuple(sorted(rules, key=lambda rule: rule.on_sample is not None))
