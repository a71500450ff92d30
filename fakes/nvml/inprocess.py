"""NVML without a library: nvidia-ml-py's own code, on answers in the same process.

nvidia-ml-py calls NVML through one object, ``pynvml.nvmlLib``, whose attributes it takes to be C
functions. :class:`InProcess` is such an object. The binding, and every program built on it, runs
unchanged: it packs ctypes arguments, and reads what was written behind its pointers.

The binding is global to the process, and so is what :func:`installed` puts into it: with several
nodes, install one, act, and leave before the next; use no threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

from fakes.nvml.answer import INIT_CALL, Answer, Call, Input
from fakes.nvml.arguments import (
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
    long_number,
    target,
    write,
)
from fakes.nvml.codes import Code, NvmlError, error_string
from fakes.nvml.function import Kind, Param
from fakes.nvml.holdings import GIVING_AND_FREEING, Holdings
from fakes.nvml.shortcuts import shortcut
from fakes.nvml.structures import Each, List, StructIn, Versioned, VersionedEach, VersionedList
from fakes.nvml.table import BY_NAME

Respond = Callable[[Call], Answer]
"""Answers a call now: ``NodeNow(node, clock.now_us)``, say, which is the quickest. It is also the
place to let the world advance first, or to take notes. What takes its time (an answer with a delay)
is returned at once, unless whoever responds waits for it: ``in_its_time`` of pending.py does."""

_SUCCESS = int(Code.SUCCESS)
_UNINITIALIZED = int(Code.UNINITIALIZED)
_INVALID_ARGUMENT = int(Code.INVALID_ARGUMENT)
_NOT_SUPPORTED = int(Code.NOT_SUPPORTED)

_CLASSES: dict[Kind, Callable[[int, tuple[Param, ...]], Argument]] = {
    Kind.DEVICE: partial(Scalar, convert=device_of),
    Kind.DEVICE_OUT: DeviceOut,
    Kind.HANDLE: partial(Scalar, convert=handle_value),
    Kind.U32: Scalar,
    Kind.U64: partial(Scalar, convert=long_number),
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
_CLIENT = 0  # there is but one process, a call's client by default
_call = lru_cache(maxsize=4096)(Call)


class InProcess:
    """What nvidia-ml-py takes for the loaded library: a callable for each of NVML's functions."""

    def __init__(self, respond: Respond) -> None:
        self.respond = respond
        self.users = 0
        self._holdings = Holdings()

    def __getattr__(self, name: str) -> Callable[..., int]:
        """The function of that name, made at its first use. None: AttributeError, as in ctypes."""
        if name not in BY_NAME:
            raise AttributeError(f"NVML has no function {name}")
        function = _function(self, name, BY_NAME[name].params)
        setattr(self, name, function)
        return function

    def answer(self, call: Call) -> Answer:
        """Respond to a call, and keep account of what its client holds."""
        answer = self.respond(call)
        self._holdings.note(call, answer)
        return answer

    def close(self) -> None:
        """Free what was not freed, as when a process ends."""
        for call in self._holdings.frees(_CLIENT):
            self.respond(call)

    # What concerns the calling process, not the node.

    def nvmlInitWithFlags(self, flags: Any = 0) -> int:  # noqa: N802
        """Begin to use NVML. Each beginning wants its end; flags say how to attach GPUs."""
        del flags
        code = self.respond(INIT_CALL).code
        if code not in (_SUCCESS, _NOT_SUPPORTED):
            return code
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
        return _NOT_SUPPORTED


def _function(library: InProcess, name: str, params: tuple[Param, ...]) -> Callable[..., int]:
    function = _any_function(library, name, params)
    function = shortcut(library, name, params, function) or function
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
    respond = library.answer if name in GIVING_AND_FREEING else library.respond
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
        library.close()
        pynvml.nvmlLib, pynvml._nvmlLib_refcount, known = before
        cache.clear()
        cache.update(known)
