"""What a setting is, and how its values are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fakes.commands.nvidia_smi.reading import Gpu

_ON, _OFF = ("1", "ENABLED"), ("0", "DISABLED")


@dataclass(frozen=True, slots=True)
class Setter:
    """A setting. ``set`` does it, and returns what is said of one GPU, if anything.

    The other three are what is said where a GPU cannot do it, where the caller may not, and where
    it fails otherwise: ``bus`` stands for the GPU's address, ``why`` for NVML's words. ``closing``
    follows all that is said, once something was changed.
    """

    set: Callable[[Gpu, str], str]
    not_supported: str
    refused: str
    failed: str
    closing: str = ""


class BadValue(Exception):  # noqa: N818
    """A value that is none, and what is said about it."""


def switch(value: str, what: str) -> int:
    """1 or 0, of a mode that is on or off; ``what`` it is is said where the value is neither."""
    if value.upper() not in _ON + _OFF:
        raise BadValue(f'"{value}" is not {what}: 0/DISABLED, 1/ENABLED')
    return int(value.upper() in _ON)


def one_of(value: str, names: Sequence[str], what: str) -> int:
    """The number of a mode that is given by number or name."""
    if value.isdecimal() and int(value) < len(names):
        return int(value)
    if value.upper() in names:
        return names.index(value.upper())
    known = ", ".join(f"{number}/{name}" for number, name in enumerate(names))
    raise BadValue(f'"{value}" is not {what}: {known}')


def clocks(value: str, parts: Sequence[int]) -> list[int]:
    """Clocks in MHz, separated by a comma, as many as one of ``parts``."""
    texts = [text.strip() for text in value.split(",")]
    if len(texts) not in parts or not all(text.isdecimal() for text in texts):
        raise BadValue(f'"{value}" is not a clock, or pair of clocks, in MHz')
    return [int(text) for text in texts]


def doing(function: str, *inputs: int) -> Callable[[Gpu, str], str]:
    """A setting that takes no value, and of which nothing is said."""

    def act(gpu: Gpu, value: str) -> str:
        gpu.do(function, *inputs)
        return ""

    return act
