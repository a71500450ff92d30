"""Short ways through the in-process carrier, for the commonest shapes of function.

A campaign reads GPUs hundreds of thousands of times. A short way does what the long one does where
everything is as nvidia-ml-py passes it, and leaves whatever is not to the long one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from ctypes import Array, c_uint
from struct import Struct
from typing import Any, Protocol

from fakes.nvml.answer import Answer, Call, NodeNow, Value
from fakes.nvml.arguments import DEVICES, read_handle, write
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.function import Fit, Kind, Param

Function = Callable[..., int]

Put = Callable[[Any, int, bytes], None]
"""Writes bytes of a size into memory, at an offset."""

_SUCCESS = int(Code.SUCCESS)
_UNINITIALIZED = int(Code.UNINITIALIZED)
_INSUFFICIENT_SIZE = int(Code.INSUFFICIENT_SIZE)
_CALLS_KEPT = 4096
_OTHERWISE = (AttributeError, KeyError, TypeError, ValueError, struct.error)
"""What comes of arguments that a short way does not take: another number of them, NULL, a pointer
that was not made by ``byref``, a number that is Python's own, a handle that is none."""


class Library(Protocol):
    """The carrier, as far as a function concerns itself with it."""

    users: int
    respond: Callable[[Call], Answer]


def shortcut(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function | None:
    """A short way to call a function of this shape, if there is one."""
    if any(param.optional or param.devices or param.asking_succeeds for param in params):
        return None
    make = _BY_SHAPE.get(tuple(param.kind for param in params))
    return make(library, name, params, otherwise) if make else None


def _asker(library: Library) -> Callable[[Call], Value | Answer]:
    """The quickest way to a call's outputs, which may be an answer or fail like one."""
    respond = library.respond
    return respond.value if isinstance(respond, NodeNow) else respond


def _puts(params: tuple[Param, ...]) -> tuple[Put, ...]:
    return tuple(Struct(f"{param.size}s").pack_into for param in params)


def _parts(value: Value | Answer) -> tuple[int, tuple[bytes, ...]]:
    """Code and outputs."""
    if isinstance(value, Answer):
        return value[:2]
    return _SUCCESS, (value,) if isinstance(value, bytes) else value


class _Calls(dict[int, Call]):
    """The calls of a function without inputs, by the device's handle. No handle: ``KeyError``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, handle: int) -> Call:
        call = self[handle] = Call(self._name, DEVICES[handle])
        return call


class _CallsByNumbers(dict[tuple[int, ...], Call]):
    """The same of a function with numbers for inputs, by the handle and them."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, asked: tuple[int, ...]) -> Call:
        handle, *numbers = asked
        inputs = tuple(number & 0xFFFFFFFF for number in numbers)
        call = Call(self._name, DEVICES[handle], inputs)
        if len(self) < _CALLS_KEPT:
            self[asked] = call
        return call


def _value(library: Library, name: str, params: tuple[Param, ...], otherwise: Function) -> Function:
    """One value of a device."""
    ask = _asker(library)
    put = Struct(f"{params[1].size}s").pack_into
    calls = _Calls(name)

    def function(handle: Any = None, pointer: Any = None, *more: Any) -> int:
        try:
            call = calls[read_handle(handle)[0]]
            memory = pointer._obj
        except _OTHERWISE:
            return otherwise(handle, pointer)
        if not library.users:
            return _UNINITIALIZED
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        if type(value) is bytes:
            put(memory, 0, value)
            return _SUCCESS
        code, outputs = _parts(value)
        if not code:
            put(memory, 0, outputs[0])
        return code

    return function


def _value_by_number(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function:
    """One value of a device that a number names: a sensor, a clock."""
    ask = _asker(library)
    put = Struct(f"{params[2].size}s").pack_into
    calls = _CallsByNumbers(name)

    def function(handle: Any = None, number: Any = None, pointer: Any = None, *more: Any) -> int:
        try:
            call = calls[read_handle(handle)[0], number.value]
            memory = pointer._obj
        except _OTHERWISE:
            return otherwise(handle, number, pointer)
        if not library.users:
            return _UNINITIALIZED
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        if type(value) is bytes:
            put(memory, 0, value)
            return _SUCCESS
        code, outputs = _parts(value)
        if not code:
            put(memory, 0, outputs[0])
        return code

    return function


def _value_by_two_numbers(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function:
    """One value of a device that two numbers name: a sort of error, since when it is counted."""
    ask = _asker(library)
    put = Struct(f"{params[3].size}s").pack_into
    calls = _CallsByNumbers(name)

    def function(
        handle: Any = None, first: Any = None, second: Any = None, pointer: Any = None, *more: Any
    ) -> int:
        try:
            call = calls[read_handle(handle)[0], first.value, second.value]
            memory = pointer._obj
        except _OTHERWISE:
            return otherwise(handle, first, second, pointer)
        if not library.users:
            return _UNINITIALIZED
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        if type(value) is bytes:
            put(memory, 0, value)
            return _SUCCESS
        code, outputs = _parts(value)
        if not code:
            put(memory, 0, outputs[0])
        return code

    return function


def _value_by_numbers(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function:
    """One value of a device that several numbers name: a sort of error, and where it was."""
    ask = _asker(library)
    put = Struct(f"{params[-1].size}s").pack_into
    calls = _CallsByNumbers(name)
    expected = len(params)

    def function(*given: Any) -> int:
        try:
            handle, *numbers, pointer = given
            asked = (read_handle(handle)[0], *[number.value for number in numbers])
            call, memory = calls[asked], pointer._obj
        except _OTHERWISE:
            return otherwise(*given)
        if not library.users or len(given) != expected:
            return otherwise(*given)
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        if type(value) is bytes:
            put(memory, 0, value)
            return _SUCCESS
        code, outputs = _parts(value)
        if not code:
            put(memory, 0, outputs[0])
        return code

    return function


def _two_values(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function:
    """Two values of a device."""
    ask = _asker(library)
    put_first, put_second = _puts(params[1:])
    calls = _Calls(name)

    def function(handle: Any = None, first: Any = None, second: Any = None, *more: Any) -> int:
        try:
            call = calls[read_handle(handle)[0]]
            first_memory, second_memory = first._obj, second._obj
        except _OTHERWISE:
            return otherwise(handle, first, second)
        if not library.users:
            return _UNINITIALIZED
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        if isinstance(value, tuple) and len(value) == 2:
            put_first(first_memory, 0, value[0])
            put_second(second_memory, 0, value[1])
            return _SUCCESS
        code, outputs = _parts(value)
        if not code:
            put_first(first_memory, 0, outputs[0])
            put_second(second_memory, 0, outputs[1])
        return code

    return function


def _values(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function:
    """Several values of a device."""
    ask = _asker(library)
    puts = _puts(params[1:])
    calls = _Calls(name)

    def function(*given: Any) -> int:
        try:
            handle, *pointers = given
            call = calls[read_handle(handle)[0]]
            memories = [pointer._obj for pointer in pointers]
        except _OTHERWISE:
            return otherwise(*given)
        if not library.users or len(memories) != len(puts):
            return otherwise(*given)
        try:
            code, outputs = _parts(ask(call))
        except NvmlError as error:
            return int(error.code)
        if not code:
            for put, memory, output in zip(puts, memories, outputs, strict=True):
                put(memory, 0, output)
        return code

    return function


def _records(
    library: Library, name: str, params: tuple[Param, ...], otherwise: Function
) -> Function | None:
    """A list of a device's: the count of the room there is, and the room."""
    if params[2].fit is not Fit.REFUSE:
        return None
    ask = _asker(library)
    size = params[2].size
    calls = _Calls(name)

    def function(handle: Any = None, counter: Any = None, room: Any = None, *more: Any) -> int:
        try:
            call = calls[read_handle(handle)[0]]
            count = counter._obj
        except _OTHERWISE:
            return otherwise(handle, counter, room)
        if not library.users or type(count) is not c_uint:
            return otherwise(handle, counter, room)
        fits = count.value
        if fits and not isinstance(room, Array):
            return otherwise(handle, counter, room)
        try:
            value = ask(call)
        except NvmlError as error:
            return int(error.code)
        code, outputs = _parts(value)
        if code:
            return code
        records = outputs[0]
        needed = len(records) // size
        count.value = needed
        if needed > fits:
            return _INSUFFICIENT_SIZE
        if needed:
            write([(room, 0, records)])
        return _SUCCESS

    return function


_Make = Callable[[Library, str, tuple[Param, ...], Function], Function | None]

_BY_SHAPE: dict[tuple[Kind, ...], _Make] = {
    (Kind.DEVICE, Kind.OUT): _value,
    (Kind.DEVICE, Kind.U32, Kind.OUT): _value_by_number,
    (Kind.DEVICE, Kind.U32, Kind.U32, Kind.OUT): _value_by_two_numbers,
    (Kind.DEVICE, Kind.U32, Kind.U32, Kind.U32, Kind.OUT): _value_by_numbers,
    (Kind.DEVICE, Kind.OUT, Kind.OUT): _two_values,
    (Kind.DEVICE, Kind.OUT, Kind.OUT, Kind.OUT): _values,
    (Kind.DEVICE, Kind.OUT, Kind.OUT, Kind.OUT, Kind.OUT): _values,
    (Kind.DEVICE, Kind.COUNT, Kind.LIST): _records,
}
