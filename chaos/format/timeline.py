"""The timeline of a scenario file: entries in, typed faults and heals, or their mistakes, out."""

from __future__ import annotations

from dataclasses import replace

from chaos.errors import Mistakes, ScenarioError, did_you_mean, quoted
from chaos.fault import Fault, families
from chaos.format.fault_reader import read_fault
from chaos.format.fields import Fields, items_of, read_value
from chaos.format.values import Duration
from chaos.format.yaml_tree import Table, Tree, Word, kind_of
from chaos.scenario import Entry, Heal, started_job
from chaos.selection import Inventory


class TimelineReader:
    """The entries read so far, and their ids. Without an inventory no selection is checked."""

    def __init__(self, inventory: Inventory | None, mistakes: Mistakes) -> None:
        self._inventory = inventory
        self._mistakes = mistakes
        self._verbs = (*families(), "heal")
        self._ids: dict[str, None] = {}

    @property
    def inventory(self) -> Inventory | None:
        """What there is to select from, with the jobs that the entries read so far start."""
        return self._inventory

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the entries read so far."""
        return tuple(self._ids)

    def read(self, tree: Tree | None) -> tuple[Entry, ...]:
        """Read all of them."""
        entries = []
        for item in items_of(tree, "timeline", self._mistakes):
            with self._mistakes.noting():
                entry = self._entry(item)
                if entry is not None:
                    entries.append(entry)
        return tuple(entries)

    def _entry(self, tree: Tree) -> Entry | None:
        if not isinstance(tree, Table):
            raise ScenarioError(
                tree.place,
                f"an entry is a mapping of at, a fault and perhaps id, not {kind_of(tree)}.",
            )
        verb = self._verb(tree)
        names = ("id", "at", *(key.text for key, _ in tree.entries))
        fields = Fields(tree, names, "an entry", self._mistakes)
        at: Duration | None = read_value(fields.need("at"), "at", Duration, self._mistakes)
        name = fields.word("id")
        if name is not None and name.text in self._ids:
            self._mistakes.add(name.place, f"a second entry with the id {quoted(name.text)}.")
        what: Fault | Heal | None = None
        if verb is not None:
            what = self._heal(fields) if verb.text == "heal" else self._fault(verb, fields)
        if name is not None:
            self._ids[name.text] = None
        job = None if what is None else started_job(what)
        if job is not None and self._inventory is not None:
            jobs = tuple(dict.fromkeys((*self._inventory.jobs, job)))
            self._inventory = replace(self._inventory, jobs=jobs)
        if at is None or what is None or verb is None:
            return None
        return Entry(at.us, what, verb.place, name.text if name else None)

    def _verb(self, tree: Table) -> Word | None:
        """The one fault of an entry; None: the mistake has been noted."""
        given = [key for key, _ in tree.entries if key.text not in ("id", "at")]
        unknown = [key for key in given if key.text not in self._verbs]
        for key in unknown:
            hint = did_you_mean(key.text, self._verbs, "Known faults")
            self._mistakes.add(key.place, f"unknown fault {quoted(key.text)}{hint}")
        if not given:
            listed = ", ".join(self._verbs)
            self._mistakes.add(tree.place, f"an entry needs a fault. Known faults: {listed}.")
        elif len(given) > 1 and not unknown:
            self._mistakes.add(
                given[1].place,
                f"'{given[0].text}' and '{given[1].text}' in one entry: one entry is one fault.",
            )
        return given[0] if len(given) == 1 and not unknown else None

    def _heal(self, fields: Fields) -> Heal | None:
        word = fields.word("heal")
        if word is not None and word.text not in self._ids:
            hint = did_you_mean(word.text, self._ids, "Ids above")
            self._mistakes.add(
                word.place, f"heal: no entry above has the id {quoted(word.text)}{hint}"
            )
        return Heal(word.text) if word is not None else None

    def _fault(self, verb: Word, fields: Fields) -> Fault | None:
        tree = fields.get(verb.text)
        return read_fault(verb.text, verb.place, tree, self._inventory, self._mistakes)
