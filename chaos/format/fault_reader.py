"""A fault of a scenario file: a mapping of arguments in, the typed fault or its mistakes out."""

from __future__ import annotations

from chaos.errors import Mistakes, Place, ScenarioError, shortened
from chaos.fault import ArgumentError, Fault, check_selections, families, parse_fault
from chaos.format.values import Settings, plain_type
from chaos.format.yaml_tree import Table, Tree, Word, kind_of
from chaos.selection import Inventory


def read_fault(
    family: str,
    place: Place,
    tree: Tree | None,
    inventory: Inventory | None,
    mistakes: Mistakes,
) -> Fault | None:
    """The fault of a family that is there; None where mistakes were noted.

    ``place`` is that of its verb. Without an inventory no selection is checked.
    """
    if not isinstance(tree, Table):
        at = tree.place if tree else place
        mistakes.add(at, f"'{family}' takes a mapping, such as {{gpu: n0/3, ...}}.")
        return None
    known, settings = _arguments_of(family)
    words = {
        # Of an argument that there is not, its name is the mistake, whatever it is set to.
        key.text: _words_of(key, value, takes_pairs=key.text in settings)
        if key.text in known
        else ""
        for key, value in tree.entries
    }
    try:
        fault = parse_fault(family, words)
        if inventory is not None:
            check_selections(fault, inventory)
    except ArgumentError as error:
        for one in (error, *error.others):
            mistakes.add(_place_of(one, place, tree), str(one), same=one.same)
        return None
    return fault


def _arguments_of(family: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of a family's arguments, and of those that are mappings themselves."""
    arguments = [argument for kind in families()[family] for argument in kind.arguments]
    pairs = (one.name for one in arguments if plain_type(one.type) is Settings)
    return frozenset(one.name for one in arguments), frozenset(pairs)


def _words_of(key: Word, value: Tree, *, takes_pairs: bool) -> str:
    if isinstance(value, Word):
        return value.text
    if takes_pairs and isinstance(value, Table):
        for name, one in value.entries:
            if not isinstance(one, Word) or "\n" in one.text:
                raise ScenarioError(
                    one.place, f"{shortened(name.text)}: expected one line, not {kind_of(one)}."
                )
        return Settings.of(
            (name.text, one.text) for name, one in value.entries if isinstance(one, Word)
        )
    raise ScenarioError(
        value.place, f"{shortened(key.text)}: expected one value, not {kind_of(value)}."
    )


def _place_of(error: ArgumentError, verb: Place, arguments: Table) -> Place:
    """Where an argument's mistake lies: at its value, at its name, or at the fault's verb."""
    if error.name is None:
        return verb
    part = arguments.key(error.name) if error.in_name else arguments.get(error.name)
    return part.place if part is not None else verb
