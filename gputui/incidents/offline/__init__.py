"""Rules for logs alone, one a file: what readings would show must be taken from the log's word.

They stand beside those of :mod:`gputui.incidents.rules` that look at logs, and are used where there
are no readings. A new rule is a new file here: nothing else lists them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from gputui.incidents.history import History
from gputui.incidents.rule import Rule, Subject
from gputui.logs.kernel import KernelEvent


@cache
def offline_rules() -> tuple[Rule, ...]:
    """Every rule of every module in this package, in the order of the modules' names."""
    names = sorted(module.name for module in iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Rule)
    )


def subject_of(event: KernelEvent, past: History) -> Subject:
    """The GPU that an event names, or the whole node if it names none."""
    if event.bus_id is not None:
        return Subject.of_bus(event.bus_id)
    return Subject.of_node(past.samples[-1].host if past.samples else "")
