"""What an answer is: NVML's meaning, free of where the caller's pointers are.

An answer function says, in NVML's name, what one NVML function returns. It knows the world and the
moment; it knows no buffers, pages or sockets. Carriers (``inprocess.py``, the C library) bring the
inputs and put the outputs where the caller wants them, by the rules in ``function.py``.

::

    @answers("nvmlDeviceGetPowerUsage")
    def power_usage(gpu: Gpu, at_us: int) -> Value:
        return uint32(gpu.power_mw(at_us))

A function of a GPU takes ``(gpu, at_us, *inputs)``, or ``(gpu, node, at_us, *inputs)`` if it asks
for the node; one of the system takes ``(node, at_us, *inputs)``; one that asks for the client gets
its number before the inputs. What takes its time returns an :class:`Answer` that says so.

The module of an answer lies in ``fakes/nvml/answers/``, where it is found by itself. What every GPU
function shares (lost, reset required) stands once, in :func:`answer`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from importlib import import_module
from typing import NamedTuple, TypeVar

from fakes.driver.disturbance import INIT, Disturbed
from fakes.hardware.gpu import Gpu, Identity
from fakes.node import Node
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.function import Kind
from fakes.nvml.table import BY_NAME

Input = int | bytes | tuple[int, ...]

Value = bytes | tuple[bytes, ...]
"""One output parameter's bytes, or several's in order; a list's are all its records, joined."""

Bound = Callable[[Node, int], "Value | Answer"]
"""Answers one call, on a node, at a moment."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as either carrier hands it over.

    ``device`` is the number of the device's handle, or None for a function of the system.
    ``inputs`` are the input parameters in order (see :class:`fakes.nvml.function.Kind`). ``client``
    is the carrier's number for the process that calls, the same for all its threads.
    """

    function: str
    device: int | None = None
    inputs: tuple[Input, ...] = ()
    client: int = 0
    bound: Bound | None = field(default=None, init=False, compare=False, repr=False)
    """What answers it, once it has been asked."""


FOREVER_US = 1 << 62
"""A delay that never ends by itself."""


class Answer(NamedTuple):
    """A return code and the output parameters' bytes (none when the call fails).

    ``delay_us`` is how long the call takes on the run's clock; ``FOREVER_US`` is a hang, which
    ends when the same question is answered without it. (One is made for every call: a named tuple
    is made in half the time of a frozen dataclass.)
    """

    code: int
    outputs: tuple[bytes, ...] = ()
    delay_us: int = 0


class Reach(Enum):
    """How far down a function must reach, and so what still answers when a GPU does not."""

    IDENTITY = auto()
    """What the driver remembers of a GPU: may answer for a lost one (``Lost.identity``)."""
    DRIVER = auto()
    """What the driver knows by itself: answers while a GPU waits for its reset."""
    GPU = auto()
    """What only the GPU can tell."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer function, and how it wants to be called."""

    function: Callable[..., Value | Answer]
    reach: Reach
    with_node: bool
    with_client: bool
    changes: bool


_Function = TypeVar("_Function", bound=Callable[..., Value | Answer])

_entries: dict[str, Entry] = {}


def answers(
    *names: str,
    node: bool = False,
    client: bool = False,
    changes: bool = False,
    reach: Reach = Reach.GPU,
) -> Callable[[_Function], _Function]:
    """Register the answer to the NVML functions ``names``.

    ``node`` hands a GPU's function its node as well, ``client`` any function its caller's number;
    ``changes`` says that it acts on the world.
    """

    def register(function: _Function) -> _Function:
        for name in names:
            if known := _entries.get(name):
                raise ValueError(
                    f"{name} is answered twice: in {known.function.__module__} "
                    f"and in {function.__module__}"
                )
            _entries[name] = Entry(function, reach, node, client, changes)
        return function

    return register


@cache
def entries() -> Mapping[str, Entry]:
    """All answers, by the NVML function's name."""
    folder = import_module("fakes.nvml.answers")
    for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        import_module(module.name)
    return _entries


def answer(node: Node, call: Call, at_us: int) -> Answer:
    """What NVML on ``node`` answers to ``call`` at ``at_us``."""
    return _disturbed(node, call, at_us) if node.disturbances else _plain(node, call, at_us)


class NodeNow:
    """What NVML on a node answers at whatever moment a clock tells: for carriers in its process."""

    __slots__ = ("_node", "_now_us")

    def __init__(self, node: Node, now_us: Callable[[], int]) -> None:
        self._node = node
        self._now_us = now_us

    def __call__(self, call: Call) -> Answer:
        """The answer to a call."""
        return answer(self._node, call, self._now_us())

    def value(self, call: Call) -> Value | Answer:
        """The same with less ado: the outputs alone where there is no more to say.

        Failures are raised as :class:`NvmlError`, or told by an answer.
        """
        node = self._node
        if node.disturbances:
            return _disturbed(node, call, self._now_us())
        return (call.bound or _bind(call))(node, self._now_us())


INIT_CALL = Call(INIT)
"""Beginning to use NVML, in whatever form: carriers ask for it before they let anybody in.

Whoever answers calls need not know of it: NOT_SUPPORTED lets everybody in.
"""


def _plain(node: Node, call: Call, at_us: int) -> Answer:
    """The answer of an NVML that works."""
    try:
        value = (call.bound or _bind(call))(node, at_us)
    except NvmlError as error:
        return Answer(int(error.code))
    if isinstance(value, bytes):
        return _good[value]
    return value if isinstance(value, Answer) else Answer(_SUCCESS, value)


def _disturbed(node: Node, call: Call, at_us: int) -> Answer:
    """The answer of an NVML that may hang, be slow, refuse, or answer rubbish."""
    entry = entries().get(call.function)
    remembered = entry is not None and entry.reach is Reach.IDENTITY
    changes: list[Disturbed] = []
    for each in node.disturbances:
        change = each.on(call.function, call.device, remembered=remembered)
        if change is not None:
            changes.append(change)
    if any(change.hangs for change in changes):
        return _HANGS
    failed = next((change.code for change in changes if change.code), None)
    found = Answer(failed) if failed else _plain(node, call, at_us)
    if any(change.garbage for change in changes):
        found = found._replace(outputs=_garbled(call.function, found.outputs))
    return found._replace(delay_us=found.delay_us + sum(change.delay_us for change in changes))


_HANGS = Answer(int(Code.TIMEOUT), (), FOREVER_US)
"""Nobody is given the code, but where nobody waits for anything (virtual time)."""


def _garbled(function: str, outputs: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """What registers of a GPU read as that cannot be reached, over and over; versions stay."""
    kinds = {param.kind for param in BY_NAME[function].params}
    kept = 4 if kinds & {Kind.VERSIONED, Kind.VERSIONED_LIST, Kind.VERSIONED_EACH} else 0
    return tuple(
        output[:kept] + (_UNREACHABLE * (len(output) // 4 + 1))[: len(output) - kept]
        for output in outputs
    )


_UNREACHABLE = (0xBADF1100).to_bytes(4, "little")
"""A register's value when the access timed out: they all begin with 0xBADF (hwref of
open-gpu-kernel-modules, NV_PRIV_ERR)."""


def _bind(call: Call) -> Bound:
    """Resolve a call to what answers it. Most calls are asked over and over."""
    entry = entries().get(call.function)
    bound = _bind_to_system(call, entry) if call.device is None else _bind_to_gpu(call, entry)
    object.__setattr__(call, "bound", bound)
    return bound


def _bind_to_system(call: Call, entry: Entry | None) -> Bound:
    if entry is None:
        return lambda node, at_us: _NOT_SUPPORTED
    function, inputs = entry.function, _inputs(call, entry)
    return lambda node, at_us: function(node, at_us, *inputs)


def _bind_to_gpu(call: Call, entry: Entry | None) -> Bound:
    device = call.device or 0
    function: Callable[..., Value | Answer] = entry.function if entry else _lacking
    inputs = _inputs(call, entry) if entry else ()
    with_node = entry is not None and entry.with_node
    count = len(inputs)
    first = inputs[0] if inputs else None

    def bound(node: Node, at_us: int) -> Value | Answer:
        try:
            gpu = node.gpus[device]
        except IndexError:
            raise NvmlError(Code.INVALID_ARGUMENT) from None
        if gpu.lost is not None or gpu.reset_required:
            _check(gpu, entry)
        if with_node:
            return function(gpu, node, at_us, *inputs)
        if count == 0:
            return function(gpu, at_us)
        return function(gpu, at_us, first) if count == 1 else function(gpu, at_us, *inputs)

    return bound


def _inputs(call: Call, entry: Entry) -> tuple[Input, ...]:
    return (call.client, *call.inputs) if entry.with_client else call.inputs


def _lacking(gpu: Gpu, at_us: int) -> Answer:
    """What nobody answers is what this GPU lacks."""
    return _NOT_SUPPORTED


def gpu_at(node: Node, device: int) -> Gpu:
    """The GPU with a device number. A number that no GPU has is an invalid argument."""
    if device >= len(node.gpus):
        raise NvmlError(Code.INVALID_ARGUMENT)
    return node.gpus[device]


_SUCCESS = int(Code.SUCCESS)


class _Good(dict[bytes, Answer]):
    """Answers of one output. Most are given many times: one is found sooner than made."""

    def __missing__(self, output: bytes) -> Answer:
        answer = Answer(_SUCCESS, (output,))
        if len(self) < _ANSWERS_KEPT and len(output) <= _LONGEST_KEPT:
            self[output] = answer
        return answer


_ANSWERS_KEPT = 8192
_LONGEST_KEPT = 64
_good = _Good()
_NOT_SUPPORTED = Answer(int(Code.NOT_SUPPORTED))


def _check(gpu: Gpu, entry: Entry | None) -> None:
    """Fail as every function fails on a GPU that is lost, or that waits for its reset."""
    if gpu.lost is not None:
        remembered = entry is not None and entry.reach is Reach.IDENTITY
        if not remembered or gpu.lost.identity is Identity.FAILS:
            raise NvmlError(Code.GPU_IS_LOST)
    elif entry is None or entry.reach is Reach.GPU:
        raise NvmlError(Code.RESET_REQUIRED)
