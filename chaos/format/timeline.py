"""The timeline of a scenario file: entries in, typed faults and heals, or their mistakes, out."""

from __future__ import annotations

import re
from dataclasses import replace

from chaos.errors import Mistakes, ScenarioError, did_you_mean, nearest, quoted
from chaos.fault import Fault, families
from chaos.format.fault_reader import read_fault
from chaos.format.fields import Fields, items_of, read_value
from chaos.format.values import Duration
from chaos.format.yaml_tree import Table, Tree, Word, kind_of
from chaos.scenario import Entry, Heal, started_job
from chaos.selection import Inventory

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class TimelineReader:
    """The entries read so far, and their ids. Without an inventory no selection is checked."""

    def __init__(self, inventory: Inventory | None, mistakes: Mistakes) -> None:
        self._inventory = inventory
        self._mistakes = mistakes
        self._verbs = (*families(), "heal")
        self._ids: dict[str, None] = {}
        self._all_ids = True

    @property
    def inventory(self) -> Inventory | None:
        """What there is to select from, with the jobs that the entries read so far start."""
        return self._inventory

    @property
    def ids(self) -> tuple[str, ...] | None:
        """The ids of the entries read so far; None if one could not be read."""
        return tuple(self._ids) if self._all_ids else None

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
        if not isinstance(tree, Table) or not tree.entries:
            raise ScenarioError(
                tree.place,
                f"an entry is a mapping of at, a fault and perhaps id, not {kind_of(tree)}.",
            )
        names = ("id", "at", *(key.text for key, _ in tree.entries))
        fields = Fields(tree, names, "an entry", self._mistakes)
        name = self._id(fields)
        verb, misspelt = self._verb(tree)
        time = fields.word("at") if "at" in misspelt else fields.need("at")
        at: Duration | None = read_value(time, "at", Duration, self._mistakes)
        self._all_ids = self._all_ids and "id" not in misspelt
        what: Fault | Heal | None = None
        try:
            if verb is not None:
                what = self._heal(fields) if verb.text == "heal" else self._fault(verb, fields)
        finally:
            # Whatever is wrong with the fault, its entry is there to be referred to.
            if name is not None:
                self._ids[name.text] = None
        job = None if what is None else started_job(what)
        if job is not None and self._inventory is not None:
            jobs = tuple(dict.fromkeys((*self._inventory.jobs, job)))
            self._inventory = replace(self._inventory, jobs=jobs)
        if at is None or what is None or verb is None:
            return None
        return Entry(at.us, what, verb.place, name.text if name else None)

    def _id(self, fields: Fields) -> Word | None:
        name = fields.word("id")
        if name is None:
            self._all_ids = self._all_ids and "id" not in fields.table
        elif not _ID.fullmatch(name.text):
            problem = f"id: {quoted(name.text)} is no id of an entry, such as burst-1."
            self._mistakes.add(name.place, problem)
            self._all_ids = False
        elif name.text in self._ids:
            self._mistakes.add(name.place, f"a second entry with the id {quoted(name.text)}.")
        return name

    def _verb(self, tree: Table) -> tuple[Word | None, frozenset[str | None]]:
        """The one fault of an entry (None: the mistake has been noted), and which of the other
        keys an unknown one may stand for.
        """
        given = [key for key, _ in tree.entries if key.text not in ("id", "at")]
        unknown = [key for key in given if key.text not in self._verbs]
        misspelt = frozenset(nearest(key.text, ("id", "at", *self._verbs)) for key in unknown)
        for key in unknown:
            names = (*(("id", "at") if len(given) > 1 else ()), *self._verbs)
            hint = did_you_mean(key.text, names, "Known faults")
            self._mistakes.add(key.place, f"unknown fault {quoted(key.text)}{hint}")
        if not given:
            listed = ", ".join(self._verbs)
            self._mistakes.add(tree.place, f"an entry needs a fault. Known faults: {listed}.")
        elif len(given) > 1 and not unknown:
            self._mistakes.add(
                given[1].place,
                f"'{given[0].text}' and '{given[1].text}' in one entry: one entry is one fault.",
            )
        return given[0] if len(given) == 1 and not unknown else None, misspelt

    def _heal(self, fields: Fields) -> Heal | None:
        word = fields.word("heal")
        if word is not None and self._all_ids and word.text not in self._ids:
            hint = did_you_mean(word.text, self._ids, "Ids above")
            problem = f"heal: no entry above has the id {quoted(word.text)}{hint}"
            self._mistakes.add(word.place, problem, same=f"id {word.text}")
            return None
        return Heal(word.text) if word is not None else None

    def _fault(self, verb: Word, fields: Fields) -> Fault | None:
        tree = fields.get(verb.text)
        return read_fault(verb.text, verb.place, tree, self._inventory, self._mistakes)
