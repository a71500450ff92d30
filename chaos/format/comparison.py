"""Comparisons as people write them: ``< 85C``, ``>= 90%``, ``0``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import ScenarioError, quoted
from chaos.format.yaml_tree import Tree, Word, kind_of

_FORM = re.compile(r"(<=|>=|<|>|==|=|!=)?\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z%]*)")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "": operator.eq,
    "!=": operator.ne,
}


_EXACT = ("", "=", "==", "!=")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measurement, and how many of the world's own one of it is."""

    name: str
    factor: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison with a number in the world's own units. ``text`` is as it was written.

    Each sort of quantity has its ``units``, the usual one first. What is ``counted`` may be
    exactly so; what is measured hits a number other than 0 by chance alone, and is to be compared.
    """

    units: ClassVar[tuple[Unit, ...]] = (Unit("", 1.0),)
    most: ClassVar[float] = math.inf
    counted: ClassVar[bool] = False

    text: str
    sign: str
    number: float

    @classmethod
    def read(cls, tree: Tree, name: str, context: object) -> Comparison:
        """The comparison under a key, in the units of this sort; values are from 0 to ``most``."""
        comparison = read_comparison(tree, name, cls.units, cls.most)
        if not cls.counted and comparison.sign in _EXACT and comparison.number:
            amount = tree.text.lstrip("!= ") if isinstance(tree, Word) else ""
            raise ScenarioError(
                tree.place,
                f"{name}: {quoted(comparison.text)} is no comparison: what is measured is hardly "
                f'ever exactly so. Write "< {amount}" or ">= {amount}".',
            )
        return comparison

    def holds(self, value: float | None) -> bool:
        """Whether it holds of a value; of none it does not."""
        return value is not None and _OPERATORS[self.sign](value, self.number)

    def is_idle(self, most: float) -> str:
        """What is wrong with it where values are from 0 to ``most``; empty if nothing is."""
        sign, number = self.sign or "=", self.number
        if (
            (sign == "<" and number <= 0)
            or (sign == ">" and number >= most)
            or (sign in ("=", "==", ">=") and number > most)
        ):
            return "can never hold"
        always_less = sign in ("<", "!=") and number > most
        if (sign == ">=" and number <= 0) or (sign == "<=" and number >= most) or always_less:
            return "always holds"
        return ""

    def __str__(self) -> str:
        return self.text


def read_comparison(
    tree: Tree, name: str, units: tuple[Unit, ...], most: float = math.inf
) -> Comparison:
    """The comparison under a key. Of several units the first is the usual; "" is for none.

    Values are from 0 to ``most``: a comparison that holds for all of them, or for none, is wrong.
    """
    if not isinstance(tree, Word) or not tree.text:
        raise ScenarioError(tree.place, f"{name}: expected a comparison, not {kind_of(tree)}.")
    found = _FORM.fullmatch(tree.text.strip())
    by_name = {unit.name: unit for unit in units}
    if found is None or found[3] not in by_name:
        example = f"< 85{units[0].name}"
        raise ScenarioError(
            tree.place, f'{name}: {quoted(tree.text)} is no comparison, such as "{example}".'
        )
    comparison = Comparison(tree.text, found[1] or "", float(found[2]) * by_name[found[3]].factor)
    if problem := comparison.is_idle(most):
        raise ScenarioError(tree.place, f"{name}: {quoted(tree.text)} {problem}.")
    return comparison
