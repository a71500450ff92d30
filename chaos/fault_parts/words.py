"""A fault in a line for people: its verb, and what was said of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from chaos.fault import Fault, described, type_of


def in_words(fault: Fault) -> str:
    """``thermal gpu=n0/3 airflow=20%``: arguments that are as they are by default are left out."""
    cls: Any = type_of(fault).cls
    defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    said = described(fault)
    words = [
        f"{argument.name}={said[argument.name]}"
        for argument in type_of(fault).arguments
        if argument.name in said
        and getattr(fault, argument.attribute) != defaults.get(argument.attribute)
    ]
    return " ".join([type_of(fault).family, *words])
