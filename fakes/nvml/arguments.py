"""A C caller's arguments, as ctypes passes them to a Python callable.

For each kind of parameter (:class:`fakes.nvml.function.Kind`) there is a class here, or in
``structures.py``, that checks the argument, takes the input out of it, and gives the output to it,
by the rules in ``function.py``.

What lies behind a pointer is read and written through Python's buffer protocol: faster than moving
memory by address, and a ctypes object that is too small for what NVML would write raises
``struct.error`` instead of being written past its end.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import (
    Array,
    Structure,
    addressof,
    byref,
    c_char,
    c_int,
    c_uint64,
    c_void_p,
    cast,
    string_at,
)
from functools import lru_cache
from struct import Struct
from typing import Any

from fakes.nvml.answer import Input
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.function import DEVICE_LIMIT, Fit, Kind, Param

Arguments = tuple[Any, ...]

Writes = list[tuple[Any, int, bytes]]
"""What is to be written, once all is known to fit: buffer, offset, bytes."""

_Reference: Any = type(byref(c_int()))
_AnyMemory = c_char * (1 << 30)
_WORD = Struct("<I")
_HANDLE = Struct("<Q")

read_handle = _HANDLE.unpack_from
"""The one number, in a tuple, of a handle that is a pointer of ctypes: the quickest way to it."""


def target(pointer: Any) -> Any:
    """What a pointer argument points to, as a buffer; None if it is NULL."""
    if type(pointer) is _Reference:
        return pointer._obj
    if pointer is None or isinstance(pointer, (Array, Structure)):
        return pointer
    at = cast(pointer, c_void_p).value
    return _AnyMemory.from_address(at) if at else None


def word_at(memory: Any, offset: int = 0) -> int:
    """A 32-bit word of a buffer."""
    return _WORD.unpack_from(memory, offset)[0]  # type: ignore[no-any-return]


def word(value: int) -> bytes:
    """The bytes of a 32-bit word."""
    return _WORD.pack(value)


def bytes_of(memory: Any, size: int) -> bytes:
    """The first ``size`` bytes of a buffer."""
    return _bytes(size).unpack_from(memory)[0]  # type: ignore[no-any-return]


def write(writes: Writes) -> None:
    """Write what was found to fit."""
    for memory, offset, content in writes:
        _bytes(len(content)).pack_into(memory, offset, content)


@lru_cache(maxsize=1024)
def _bytes(size: int) -> Struct:
    return Struct(f"{size}s")


def number(value: Any) -> int:
    """An integer argument, as the unsigned one of 32 bits that C sees."""
    return _whole(value) & 0xFFFFFFFF


def long_number(value: Any) -> int:
    """An integer argument, as the unsigned one of 64 bits that C sees."""
    return _whole(value) & 0xFFFFFFFFFFFFFFFF


def _whole(value: Any) -> int:
    if isinstance(value, int):
        return value
    return 0 if value is None else int(value.value)


_handles = (c_uint64 * DEVICE_LIMIT)()
_FIRST_HANDLE = addressof(_handles)


def handle_of(device: int) -> int:
    """The handle of a device: the address of its own place, valid as long as the process lives."""
    return _FIRST_HANDLE + _HANDLE.size * device


def handle_value(handle: Any) -> int:
    """A handle, which is a pointer by value, as an integer."""
    if handle is None or isinstance(handle, int):
        return handle or 0
    return int.from_bytes(handle, "little")


DEVICES = {handle_of(device): device for device in range(DEVICE_LIMIT)}
"""The device's number of every handle."""


def device_of(handle: Any) -> int:
    """The device's number of a handle."""
    try:
        return DEVICES[read_handle(handle)[0]]
    except (KeyError, TypeError):
        if isinstance(handle, int) and handle in DEVICES:
            return DEVICES[handle]
        raise NvmlError(Code.INVALID_ARGUMENT) from None


def with_handles(param: Param, records: bytes, size: int) -> bytes:
    """Records of ``size`` bytes, with handles in the place of devices' numbers."""
    if not param.devices:
        return records
    patched = bytearray(records)
    for start in range(0, len(records), size):
        for offset in param.devices:
            device = _HANDLE.unpack_from(patched, start + offset)[0]
            _HANDLE.pack_into(patched, start + offset, handle_of(device))
    return bytes(patched)


class TooSmallError(NvmlError):
    """An output does not fit. ``told`` is what is written all the same: how much room it needs."""

    def __init__(self, told: Writes) -> None:
        super().__init__(Code.INSUFFICIENT_SIZE)
        self.told = told


class Argument:
    """What stands at one position of a call."""

    is_output = False

    def __init__(self, at: int, params: tuple[Param, ...]) -> None:
        self.at = at
        self.param = params[at]
        self.partner = self.param.partner
        self.partner_kind = params[self.partner].kind if self.partner >= 0 else None

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """Check the argument; append what it brings to ``inputs``. Here: it must not be NULL."""
        if target(arguments[self.at]) is None:
            raise NvmlError(Code.INVALID_ARGUMENT)

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """Say what is to be written where. What does not fit fails; a count is told even then."""
        writes.append((target(arguments[self.at]), 0, output))

    def memory(self, arguments: Arguments) -> Any:
        """What the argument points to, as a buffer. NULL fails."""
        memory = target(arguments[self.at])
        if memory is None:
            raise NvmlError(Code.INVALID_ARGUMENT)
        return memory


class Scalar(Argument):
    """An input that is a number: an integer, or a handle."""

    def __init__(
        self, at: int, params: tuple[Param, ...], convert: Callable[[Any], int] = number
    ) -> None:
        super().__init__(at, params)
        self.convert = convert

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """The number."""
        inputs.append(self.convert(arguments[self.at]))


class TextIn(Argument):
    """A string that the caller passes."""

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """The string without its NUL."""
        text = arguments[self.at]
        if isinstance(text, bytes):
            text = text.partition(b"\0")[0]
        else:
            text = string_at(addressof(self.memory(arguments)))
        inputs.append(text)


class Out(Argument):
    """Bytes that the function fills, handles among them."""

    is_output = True

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """No input: it must be there, unless it is optional."""
        if target(arguments[self.at]) is None and not self.param.optional:
            raise NvmlError(Code.INVALID_ARGUMENT)

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """The bytes, with handles for devices' numbers."""
        memory = target(arguments[self.at])
        if memory is not None:
            writes.append((memory, 0, with_handles(self.param, output, self.param.size)))


class DeviceOut(Argument):
    """Where a device's handle goes."""

    is_output = True

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """The handle of the number that the answer has."""
        handle = _HANDLE.pack(handle_of(_HANDLE.unpack(output)[0]))
        writes.append((target(arguments[self.at]), 0, handle))


class TextOut(Argument):
    """A buffer for a string, whose length stands beside it."""

    is_output = True

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """The string and its NUL, or as much as fits if it may be cut."""
        count = None
        room = self.param.size
        if self.partner_kind is Kind.COUNT:
            count = target(arguments[self.partner])
            room = word_at(count)
        elif self.partner >= 0:
            room = number(arguments[self.partner])
        if count is not None:
            writes.append((count, 0, word(len(output) + 1)))
        if len(output) >= room and not (self.param.fit is Fit.CUT and room):
            raise TooSmallError(writes[-1:] if count is not None else [])
        writes.append((target(arguments[self.at]), 0, output[: room - 1] + b"\0"))


class OutArray(Argument):
    """A buffer of as many elements as the caller says."""

    is_output = True

    def take(self, arguments: Arguments, inputs: list[Input]) -> None:
        """No input: it must be there, with room for something."""
        super().take(arguments, inputs)
        if not number(arguments[self.partner]):
            raise NvmlError(Code.INVALID_ARGUMENT)

    def place(self, arguments: Arguments, output: bytes, writes: Writes) -> None:
        """The elements, cut if they may be, and a filling for what room is left."""
        room = number(arguments[self.partner]) * self.param.size
        if len(output) > room and self.param.fit is not Fit.CUT:
            raise TooSmallError([])
        pad = word(self.param.pad) * ((room - len(output)) // _WORD.size)
        writes.append((target(arguments[self.at]), 0, (output + pad)[:room]))
