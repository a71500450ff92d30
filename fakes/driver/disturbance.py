"""What may be wrong with a node's NVML itself: it hangs, is slow, refuses, or answers rubbish.

A disturbance says what becomes of a call; ``fakes/nvml/answer.py`` makes that so. Codes are
nvmlReturn_t. Functions are meant by name; ``nvmlInit_v2`` is one of them. A GPU is an index, and
None stands for the whole driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fakes.node import Node

_FREED = "nvmlEventSetFree"

INIT = "nvmlInit_v2"
"""Stands for every way in."""


@dataclass(frozen=True, slots=True)
class Disturbed:
    """What becomes of one call: it does not return, takes longer, fails, or answers rubbish."""

    hangs: bool = False
    delay_us: int = 0
    code: int = 0
    garbage: bool = False


class Disturbance(Protocol):
    """Something that is wrong with NVML."""

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call to a function of a GPU's, or of the system's; None for nothing.

        ``remembered`` says that the driver knows the answer without asking the GPU.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Hang:
    """Calls do not return: to one GPU, or to the driver at all."""

    gpu: int | None = None

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call. What the kernel frees when a process ends is none."""
        if function == _FREED:
            return None
        if self.gpu is None or (self.gpu == gpu and not remembered):
            return Disturbed(hangs=True)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Slowness:
    """Each call takes so much longer, to one GPU or to any."""

    delay_us: int
    gpu: int | None = None

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call."""
        if function == INIT or remembered or (self.gpu is not None and gpu != self.gpu):
            return None
        return Disturbed(delay_us=self.delay_us)


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """The way in is closed; with ``inside``, also those who were in before get the code."""

    code: int
    inside: bool = False

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call."""
        del gpu, remembered
        return Disturbed(code=self.code) if self.inside or function == INIT else None


@dataclass(frozen=True, slots=True, eq=False)
class NoWayIn:
    """Whoever begins waits; those who were in before go on."""

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call."""
        del gpu, remembered
        return Disturbed(hangs=True) if function == INIT else None


@dataclass(frozen=True, slots=True, eq=False)
class Misreading:
    """One reading of a GPU fails with a code, or, where that is zero, is rubbish."""

    gpu: int
    functions: frozenset[str]
    code: int = 0

    def on(self, function: str, gpu: int | None, *, remembered: bool) -> Disturbed | None:
        """What becomes of a call."""
        del remembered
        if gpu != self.gpu or function not in self.functions:
            return None
        return Disturbed(code=self.code, garbage=not self.code)


def disturb(node: Node, disturbance: Disturbance) -> None:
    """Let a disturbance be in force on a node."""
    node.disturbances = (*node.disturbances, disturbance)


def calm(node: Node, disturbance: Disturbance) -> None:
    """Let a disturbance be over."""
    node.disturbances = tuple(one for one in node.disturbances if one is not disturbance)
