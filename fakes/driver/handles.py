"""Opaque numbers by which programs hold what the driver made for them: event sets, samples."""

from __future__ import annotations

from typing import Generic, TypeVar

from fakes.hardware.noise import mix

_Thing = TypeVar("_Thing")

_BASE = 0x7E00_0000_0000
_SPREAD = 0x00FF_FFFF_FFF0


class Handles(Generic[_Thing]):
    """Things by handle, ``limit`` of them at most.

    A handle looks like a pointer, is never given out twice, and cannot be guessed from another one:
    a number that a program made up, or one that was freed, leads to nothing. The same ``seed``
    gives the same handles.
    """

    def __init__(self, seed: int, limit: int) -> None:
        self._seed = seed
        self._limit = limit
        self._given = 0
        self._things: dict[int, _Thing] = {}

    def __len__(self) -> int:
        return len(self._things)

    def give(self, thing: _Thing) -> int | None:
        """A new handle for a thing; None where there are as many as there may be."""
        if len(self._things) >= self._limit:
            return None
        handle = 0
        while not handle or handle in self._things:
            self._given += 1
            handle = _BASE | mix(self._seed, self._given) & _SPREAD
        self._things[handle] = thing
        return handle

    def get(self, handle: int) -> _Thing | None:
        """The thing; None if the handle is nobody's."""
        return self._things.get(handle)

    def free(self, handle: int) -> None:
        """Give a handle up. One that is nobody's is no error."""
        self._things.pop(handle, None)
