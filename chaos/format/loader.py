"""Scenario files in; scenarios, or all of their mistakes at their places, out.

Parts are read one after the other, and a mistake in one does not hide those in the next. What
cannot be judged because of an earlier mistake (a selection, where the fleet is wrong) is left out,
so that every line that is reported is one to mend.
"""

from __future__ import annotations

from pathlib import Path

from chaos.errors import Mistakes, quoted
from chaos.format.consistency import check_together
from chaos.format.fields import Fields
from chaos.format.given_reader import read_given
from chaos.format.timeline import TimelineReader
from chaos.format.variation import read_vary
from chaos.format.yaml_tree import read_tree
from chaos.scenario import Scenario
from chaos.terms import TermsReader

KEYS = (
    "scenario", "why", "given", "timeline",
    "expect", "runbook", "seed", "stop", "vary", "allow",
)  # fmt: skip


def load(path: Path) -> Scenario:
    """Read and check a scenario file. Its mistakes are one :class:`BadScenarioError`."""
    mistakes = Mistakes()
    with mistakes.noting():
        scenario = _scenario(Fields(read_tree(path, mistakes), KEYS, "a scenario", mistakes), path)
    mistakes.raise_any()
    return scenario


def _scenario(top: Fields, path: Path) -> Scenario:
    """Whatever of a scenario can be read; it holds only if there were no mistakes."""
    name, why = top.need("scenario"), top.need("why")
    if name is not None and name.text != path.stem:
        top.mistakes.add(
            name.place,
            f"scenario {quoted(name.text)} in a file named {path.name}: the two must agree.",
        )
    given, inventory = read_given(top.get("given"), top.mistakes)
    timeline = TimelineReader(inventory, top.mistakes)
    entries = timeline.read(top.get("timeline"))
    terms = TermsReader(top, given, timeline.inventory, timeline.ids, path.parent).read()
    if timeline.inventory is not None:
        check_together(entries, terms, timeline.inventory, top.mistakes)
    return Scenario(
        name.text if name else "",
        why.text if why else "",
        path,
        given,
        entries,
        top.value("seed", int, 0),
        terms,
        read_vary(top.get("vary"), entries, timeline.inventory, top.mistakes),
        places={key.text: value.place for key, value in top.table.entries},
    )
