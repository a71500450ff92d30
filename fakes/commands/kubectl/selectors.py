"""Selectors of labels: ``app=train``, ``!gone``, ``tier in (a, b)``, several with commas between.

The grammar is that of k8s.io/apimachinery's labels package.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BETWEEN = re.compile(r",(?![^(]*\))")
_OF_A_SET = re.compile(r"(?P<name>\S+)\s+(?P<word>in|notin)\s*\((?P<values>[^)]*)\)")
_SIGNS = ("!=", "==", "=")

Labels = Mapping[str, str]


class SelectorError(Exception):
    """A part of a selector that is none. One clause."""


def terms(selector: str) -> list[str]:
    """The parts that must all hold."""
    return [term.strip() for term in _BETWEEN.split(selector) if term.strip()]


def split(term: str) -> tuple[str, str, str]:
    """What stands before, as, and after the sign of a part. Raises :class:`SelectorError`."""
    for sign in _SIGNS:
        if sign in term:
            name, _, wanted = term.partition(sign)
            return name.strip(), sign, wanted.strip()
    raise SelectorError(f"{term}: this selector is not known here")


def fits(labels: Labels, term: str) -> bool:
    """Whether one part holds. A label that is not there is not in any set, and equals nothing."""
    if found := _OF_A_SET.fullmatch(term):
        among = {value.strip() for value in found["values"].split(",")}
        return (labels.get(found["name"]) in among) is (found["word"] == "in")
    if "(" in term:
        raise SelectorError(f"{term}: this selector is not known here")
    if "=" not in term:
        return (term.removeprefix("!").strip() in labels) is not term.startswith("!")
    name, sign, wanted = split(term)
    return (labels.get(name) == wanted) is (sign != "!=")
