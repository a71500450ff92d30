"""What a sub-command is given, and how its options are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.commands.nvidia_smi.options import NotImitated, Usage
from fakes.commands.nvidia_smi.reading import Driver, Gpu
from fakes.commands.nvidia_smi.selection import Selection


@dataclass(frozen=True, slots=True)
class Nic:
    """A network adapter, as topologies show it: its device's name, and where it is plugged in."""

    name: str
    numa_node: int


@dataclass(frozen=True, slots=True)
class Session:
    """One call of a sub-command. ``anew`` reads everything again; ``pause`` waits microseconds."""

    selection: Selection
    anew: Callable[[], Selection]
    pause: Callable[[int], None] | None
    nics: Sequence[Nic] = ()

    @property
    def out(self) -> TextIO:
        """Where it prints."""
        return self.selection.out

    @property
    def driver(self) -> Driver:
        """NVML, as the system."""
        return self.selection.driver

    def gpus(self, ids: str) -> list[Gpu]:
        """The GPUs that ``-i`` names, or all."""
        return self.selection.gpus([each.strip() for each in ids.split(",")] if ids else [])


SubCommand = Callable[[Sequence[str], Session], int]


def given(
    name: str, argv: Sequence[str], flags: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str]:
    """What options were given, by long names; ``flags`` and ``values`` map spellings to those.

    What is neither is refused as the real command refuses it.
    """
    found: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        spelled, equals, value = word.partition("=")
        if spelled in flags and not equals:
            found[flags[spelled]] = ""
        elif spelled in values:
            if not equals:
                if not rest:
                    raise Usage(f'Missing value for option "{word}". See "nvidia-smi {name} -h".')
                value = rest.pop(0)
            found[values[spelled]] = value
        else:
            raise Usage(
                f"ERROR: Option {word} is not recognized. Please run 'nvidia-smi {name} -h'."
            )
    return found


def refuse(name: str, options: Mapping[str, str], known: Sequence[str]) -> None:
    """Give up on options that the real sub-command has, and this one does not."""
    for option in options:
        if option not in known:
            raise NotImitated(f"{name} --{option}")
