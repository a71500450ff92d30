"""What a sub-command of dcgmi is given, how its options are read, and which GPUs are meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.system.dcgm import ALL_GPUS, HostEngine, Status
from fakes.world import World


class NotImitated(Exception):  # noqa: N818
    """What the real command can do, and this one cannot."""


class RefusedError(Exception):
    """What the real command refuses: its words, and the code with which it ends."""

    def __init__(self, text: str, status: Status) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Engine:
    """A host engine that answers."""

    node: Node
    world: World
    out: TextIO
    pause: Callable[[int], None]

    @property
    def memory(self) -> HostEngine:
        """What it remembers."""
        return self.node.dcgm


SubCommand = Callable[[Sequence[str], Engine], int]


def read(
    name: str, argv: Sequence[str], flags: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str]:
    """What options were given, by long names; ``flags`` and ``values`` map spellings to those."""
    found: dict[str, str] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        spelled, equals, value = word.partition("=")
        if word in flags:
            found[flags[word]] = ""
        elif spelled in values and (equals or rest):
            found[values[spelled]] = value if equals else rest.pop(0)
        elif spelled in values:
            raise RefusedError(
                f"PARSE ERROR: Argument: {word}\n             Missing a value for this argument!",
                Status.BADPARAM,
            )
        else:
            raise RefusedError(
                f"PARSE ERROR: Argument: {word}\n             Couldn't find match for argument\n\n"
                f"For complete USAGE and HELP type:\n   dcgmi {name} --help",
                Status.BADPARAM,
            )
    return found


def group_of(options: Mapping[str, str]) -> int:
    """The group that ``-g`` names; all GPUs, if it does not."""
    text = options.get("group", str(ALL_GPUS))
    if not text.isdecimal():
        raise RefusedError(f'Error: Bad group ID: "{text}"', Status.BADPARAM)
    return int(text)


def gpus_of(options: Mapping[str, str], engine: Engine) -> list[Gpu]:
    """The GPUs that ``-i`` or ``-g`` name, or all."""
    gpus = engine.node.gpus
    if "gpus" in options:
        texts = [text.strip().removeprefix("gpu:") for text in options["gpus"].split(",")]
        if not all(text.isdecimal() and int(text) < len(gpus) for text in texts):
            raise RefusedError(
                f"Error: Unable to run on the GPUs \"{options['gpus']}\": bad parameter passed to "
                "function", Status.BADPARAM,
            )  # fmt: skip
        return [gpus[int(text)] for text in texts]
    group = group_of(options)
    members = engine.memory.members(group, len(gpus))
    if members is None:
        raise RefusedError(
            f"Error: Unable to retrieve information about group {group}. Return: Not configured",
            Status.NOT_CONFIGURED,
        )
    return [gpus[index] for index in members]
