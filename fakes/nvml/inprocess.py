"""NVML without a library: nvidia-ml-py's own code, on answers in the same process.

nvidia-ml-py calls NVML through one object, ``pynvml.nvmlLib``, whose attributes it takes to be C
functions. :class:`InProcess` is such an object. The binding, and every program built on it, runs
unchanged: it packs ctypes arguments, and reads what was written behind its pointers.

The binding is global to the process, and so is what :func:`installed` puts into it: with several
nodes, install one, act, and leave before the next; use no threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from struct import Struct
from typing import Any

from fakes.nvml.answer import Answer, Call, Input
from fakes.nvml.arguments import (
    DEVICES,
    Argument,
    DeviceOut,
    Out,
    OutArray,
    Scalar,
    TextIn,
    TextOut,
    TooSmallError,
    Writes,
    device_of,
    handle_value,
    number,
    target,
    write,
)
from fakes.nvml.codes import Code, NvmlError, error_string
from fakes.nvml.function import Kind, Param
from fakes.nvml.structures import Each, List, StructIn, Versioned, VersionedEach, VersionedList
from fakes.nvml.table import BY_NAME

Respond = Callable[[Call], Answer]
"""Answers a call now: ``lambda call: answer(node, call, clock.now_us())``, say. It is also the
place to let the world advance first, to wait for the answer's delay, or to take notes."""

_SUCCESS = int(Code.SUCCESS)
_UNINITIALIZED = int(Code.UNINITIALIZED)
_INVALID_ARGUMENT = int(Code.INVALID_ARGUMENT)

_CLASSES: dict[Kind, Callable[[int, tuple[Param, ...]], Argument]] = {
    Kind.DEVICE: partial(Scalar, convert=device_of),
    Kind.DEVICE_OUT: DeviceOut,
    Kind.HANDLE: partial(Scalar, convert=handle_value),
    Kind.U32: Scalar,
    Kind.U64: partial(Scalar, convert=partial(number, bits=64)),
    Kind.TEXT_IN: TextIn,
    Kind.STRUCT_IN: StructIn,
    Kind.OUT: Out,
    Kind.TEXT_OUT: TextOut,
    Kind.COUNT: Argument,
    Kind.LIST: List,
    Kind.ARRAY: OutArray,
    Kind.VERSIONED: Versioned,
    Kind.VERSIONED_LIST: VersionedList,
    Kind.VERSIONED_EACH: VersionedEach,
    Kind.EACH: Each,
}

_SIZED_BY_NUMBER = (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
_call = lru_cache(maxsize=4096)(Call)


class InProcess:
    """What nvidia-ml-py takes for the loaded library: a callable for each of NVML's functions."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.users = 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        """The function of that name, made at its first use. None: AttributeError, as in ctypes."""
        if name not in BY_NAME:
            raise AttributeError(f"NVML has no function {name}")
        function = _function(self, name, BY_NAME[name].params)
        setattr(self, name, function)
        return function

    # What concerns the calling process, not the node.

    def nvmlInitWithFlags(self, flags: Any = 0) -> int:  # noqa: N802
        """Begin to use NVML. Each beginning wants its end; flags say how to attach GPUs."""
        del flags
        self.users += 1
        return _SUCCESS

    nvmlInit = nvmlInit_v2 = nvmlInitWithFlags  # noqa: N815

    def nvmlShutdown(self) -> int:  # noqa: N802
        """End a use of NVML."""
        if not self.users:
            return _UNINITIALIZED
        self.users -= 1
        return _SUCCESS

    @property
    def nvmlErrorString(self) -> Callable[[Any], bytes]:  # noqa: N802
        """A function, so that the binding can set its ``restype``: the text of a return code."""
        return lambda code: error_string(getattr(code, "value", code)).encode()

    def nvmlInternalGetExportTable(self, table: Any, which: Any) -> int:  # noqa: N802
        """The door to NVIDIA's private tables, which are not here."""
        del which
        if (door := target(table)) is not None:
            write([(door, 0, bytes(8))])
        return int(Code.NOT_SUPPORTED)


def _function(library: InProcess, name: str, params: tuple[Param, ...]) -> Callable[..., int]:
    function = _any_function(library, name, params)
    shape = " ".join(param.kind.name for param in params)
    if re.fullmatch("DEVICE( U32)* OUT", shape) and not (params[-1].optional or params[-1].devices):
        function = _reading(library, name, params, function)
    function.__name__ = name
    return function


def _any_function(library: InProcess, name: str, params: tuple[Param, ...]) -> Callable[..., int]:
    """A function of any shape."""
    of_device = bool(params) and params[0].kind is Kind.DEVICE
    sizes = {param.partner for param in params if param.kind in _SIZED_BY_NUMBER}
    arguments = [
        _CLASSES[param.kind](at, params)
        for at, param in enumerate(params)
        if not (at == 0 and of_device) and not (at in sizes and param.kind is Kind.U32)
    ]
    expected = len(params)
    respond = library.respond
    takes = [argument.take for argument in arguments]
    outputs = [argument for argument in arguments if argument.is_output]

    def function(*given: Any) -> int:
        if not library.users:
            return _UNINITIALIZED
        if len(given) < expected:
            given += (None,) * (expected - len(given))
        inputs: list[Input] = []
        try:
            device = device_of(given[0]) if of_device else None
            for take in takes:
                take(given, inputs)
            answer = respond(_call(name, device, tuple(inputs)))
            if answer.code:
                return answer.code
            writes: Writes = []
            for argument, output in zip(outputs, answer.outputs, strict=True):
                argument.place(given, output, writes)
            write(writes)
        except TooSmallError as error:
            write(error.told)
            return int(error.code)
        except NvmlError as error:
            return int(error.code)
        return _SUCCESS

    return function


def _reading(
    library: InProcess, name: str, params: tuple[Param, ...], otherwise: Callable[..., int]
) -> Callable[..., int]:
    """A function of the commonest shape: a device and numbers in, one value out. Made to be quick.

    It does what ``otherwise`` does, to which it leaves whatever is not as it should be.
    """
    respond = library.respond
    expected = len(params)
    has_numbers = expected > 2
    write_value = Struct(f"{params[-1].size}s").pack_into
    calls: dict[int, Call] = {}

    def function(*given: Any) -> int:
        if not library.users or len(given) != expected:
            return otherwise(*given)
        memory = target(given[-1])
        try:
            device = DEVICES[int.from_bytes(given[0], "little")]
        except (KeyError, TypeError):
            return otherwise(*given)
        if memory is None:
            return otherwise(*given)
        if has_numbers:
            call = _call(name, device, tuple(map(number, given[1:-1])))
        else:
            call = calls.get(device) or calls.setdefault(device, Call(name, device))
        code, outputs, _ = respond(call)
        if code:
            return code
        write_value(memory, 0, outputs[0])
        return _SUCCESS

    return function


@contextmanager
def installed(respond: Respond) -> Iterator[InProcess]:
    """Let nvidia-ml-py use :class:`InProcess` inside the ``with``; all is as it was afterwards."""
    import pynvml

    cache: dict[str, Any] = pynvml._nvmlGetFunctionPointer_cache
    before = pynvml.nvmlLib, pynvml._nvmlLib_refcount, dict(cache)
    library = InProcess(respond)
    pynvml.nvmlLib, pynvml._nvmlLib_refcount = library, 0
    cache.clear()
    try:
        yield library
    finally:
        pynvml.nvmlLib, pynvml._nvmlLib_refcount, known = before
        cache.clear()
        cache.update(known)
