"""The arguments that carry structures: lists, versioned structures, and lists inside of those."""

from __future__ import annotations

from struct import Struct
from typing import Any

from fakes.nvml.answer import Input
from fakes.nvml.arguments import (
    Argument,
    Arguments,
    TooSmallError,
    Writes,
    bytes_of,
    number,
    target,
    with_handles,
    word,
    word_at,
)
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.function import Fit, Param

_POINTER = Struct("<Q")


def version_size(param: Param, version: int) -> int:
    """How many bytes a structure has that says this version. An unknown version fails."""
    if version not in param.versions:
        raise NvmlError(Code.ARGUMENT_VERSION_MISMATCH)
    return version & 0xFFFFFF if version >> 24 else param.size


def words_of(param: Param, memory: Any) -> tuple[int, ...]:
    """The words of a versioned structure that its function reads; 0 for those it is too short for.

    The version is always the first of them.
    """
    version = word_at(memory)
    size = version_size(param, version)
    rest = [word_at(memory, at) if at + 4 <= size else 0 for at in param.words[1:]]
    return (version, *rest)


class StructIn(Argument):
    """A structure that the caller passes."""

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """Its bytes."""
        memory, size = self.memory(arguments), self.param.size
        if self.param.versions:
            size = version_size(self.param, word_at(memory))
        inputs.append(bytes_of(memory, size))


class Versioned(Argument):
    """A structure filled in place, whose first word says its version."""

    is_output = True

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """The words that the function reads."""
        inputs.append(words_of(self.param, self.memory(arguments)))


class VersionedEach(Argument):
    """A versioned structure that ends in records filled in place."""

    is_output = True

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """The structure as far as its last record."""
        memory, param = self.memory(arguments), self.param
        whole = version_size(param, word_at(memory))
        size = param.list_at + word_at(memory, param.count_at) * param.record
        if size > whole:
            raise NvmlError(Code.INVALID_ARGUMENT)
        inputs.append(bytes_of(memory, size))


class Each(Argument):
    """Records filled in place, as many as the caller says."""

    is_output = True

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """All the records."""
        memory = self.memory(arguments)
        size = number(arguments[self.partner]) * self.param.size
        if not size:
            raise NvmlError(Code.INVALID_ARGUMENT)
        inputs.append(bytes_of(memory, size))


class List(Argument):
    """A buffer of records, whose count stands beside it: in, the room; out, the records."""

    is_output = True

    def __init__(self, at: int, params: tuple[Param, ...]) -> None:
        super().__init__(at, params)
        self._size = self.param.record or self.param.size
        self._trusting = self.param.fit is Fit.TRUST

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """No input. NULL is for asking how many there are: with no room, or where it may be."""
        memory, count, offset = self._where(arguments)
        if count is None:
            raise NvmlError(Code.INVALID_ARGUMENT)
        may_be_null = self.param.optional or not (self._trusting or word_at(count, offset))
        if memory is None and not may_be_null:
            raise NvmlError(Code.INVALID_ARGUMENT)

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """The records that there is room for, and how many; or only how many there are."""
        memory, count, offset = self._where(arguments)
        records = len(output) // self._size
        room = records if self._trusting else word_at(count, offset)
        if memory is None or not room:
            refused = records > 0 and not self.param.asking_succeeds
            given = 0
        else:
            refused = records > room and self.param.fit is Fit.REFUSE
            given = records = records if refused else min(records, room)
        told = (count, offset, word(records))
        if refused:
            raise TooSmallError([told])
        if given:
            content = with_handles(self.param, output[: given * self._size], self._size)
            writes.append((memory, 0, content))
        writes.append(told)

    def _where(self, arguments: Arguments) -> tuple[Any, Any, int]:
        """The buffers of the records and of their count, with its offset; None for NULL."""
        return target(arguments[self.at]), target(arguments[self.partner]), 0


class VersionedList(List):
    """A versioned structure that leads to a list and counts it."""

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """The words that the function reads."""
        inputs.append(words_of(self.param, self.memory(arguments)))
        super().take(arguments, inputs)

    def _where(self, arguments: Arguments) -> tuple[Any, Any, int]:
        structure = target(arguments[self.at])
        address = _POINTER.unpack_from(structure, self.param.list_at)[0]
        return target(address or None), structure, self.param.count_at
