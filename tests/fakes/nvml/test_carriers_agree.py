"""Both carriers do the same: random calls, compared to the last byte at one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ctypes import POINTER, addressof, byref, c_char, c_uint, c_ulonglong, c_void_p, cast
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Gpu, Identity, Lookup, Lost
from fakes.jobs.process import JobSpec
from fakes.nvml.answer import Call, entries
from fakes.nvml.arguments import handle_of
from fakes.nvml.function import Function, Kind, Param
from fakes.nvml.inprocess import InProcess
from fakes.nvml.pending import in_its_time
from fakes.nvml.table import FUNCTIONS

GPUS = 3
CANARY, CANARY_BYTES = 0xA5, 32
HANDLE_BYTES = 8
ANSWERED = [function for function in FUNCTIONS if function.name in entries()]
SIZED = (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
CODES = (13, 45, 48, 63, 79, 94, 119)

OF_EVENTS = [
    function
    for function in ANSWERED
    if "EventSet" in function.name or "RegisterEvents" in function.name
]

LISTS = [
    function
    for function in ANSWERED
    if any(param.kind in (Kind.LIST, Kind.VERSIONED_LIST) for param in function.params)
]

some_function = st.one_of(
    *[st.sampled_from(ANSWERED)] * 4,
    *map(st.sampled_from, (OF_EVENTS, LISTS, FUNCTIONS)),
)
some_number = st.integers(0, 12) | st.sampled_from([82, 138, 230, 4001, 300_000, 2619, 2**32 - 1])


@dataclass
class Side:
    """One carrier, on a node of its own that is the other's twin."""

    rig: Any
    library: Any
    first_handle: int

    def handle(self, number: int) -> int:
        return self.first_handle + HANDLE_BYTES * number


@dataclass
class Buffer:
    """Memory for a call, with a canary behind it; ``devices`` are where handles may lie in it."""

    memory: Any
    devices: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, content: bytes) -> Buffer:
        memory = (c_char * (len(content) + CANARY_BYTES))()
        memory[:] = content + bytes([CANARY]) * CANARY_BYTES
        return cls(memory)

    def content(self, side: Side) -> bytes:
        """What lies in it, with devices' numbers in the place of handles."""
        found = bytearray(self.memory)
        for at in self.devices:
            handle = int.from_bytes(found[at : at + HANDLE_BYTES], "little")
            if handle >= side.first_handle and (handle - side.first_handle) % HANDLE_BYTES == 0:
                number = (handle - side.first_handle) // HANDLE_BYTES
                found[at : at + HANDLE_BYTES] = number.to_bytes(HANDLE_BYTES, "little")
        return bytes(found)


@dataclass
class Asked:
    """The arguments of one call on one side, and all the memory behind them."""

    arguments: list[Any]
    buffers: list[Buffer]
    counts: list[Any]


class Recipe:
    """How to make the arguments of a call: drawn once, made for each side."""

    def __init__(self, draw: Callable[[Any], Any], function: Function, side: Side) -> None:
        self._draw = draw
        self._side = side
        self._function = function
        self._device: int | None = None
        self._sizes: dict[int, int] = {}
        self.parts = [self._part(at, param) for at, param in enumerate(function.params)]

    def make(self, side: Side, sets: list[int]) -> Asked:
        asked = Asked([], [], [])
        for part in self.parts:
            asked.arguments.append(part(side, sets, asked))
        return asked

    def _part(self, at: int, param: Param) -> Callable[[Side, list[int], Asked], Any]:
        draw, kind = self._draw, param.kind
        size_of = next(
            (i for i, p in enumerate(self._function.params) if p.partner == at and p.kind in SIZED),
            None,
        )
        if kind is Kind.DEVICE:
            return self._handle(at)
        if kind is Kind.HANDLE:
            which = draw(st.integers(-2, 3))
            return lambda side, sets, asked: c_void_p(_choose(sets, which))
        if kind is Kind.U32 and size_of is not None:
            size = self._size_at(at, size_of)
            return lambda side, sets, asked: c_uint(size)
        if kind in (Kind.U32, Kind.U64):
            number = draw(some_number)
            make = c_uint if kind is Kind.U32 else c_ulonglong
            plain = kind is Kind.U32 and number < 2**31 and draw(st.booleans())
            return lambda side, sets, asked: number if plain else make(number)
        if kind is Kind.COUNT:
            output = next(i for i, p in enumerate(self._function.params) if p.partner == at)
            return self._count(self._size_at(at, output))
        if draw(st.integers(0, 40)) == 40:
            return lambda side, sets, asked: None
        if kind is Kind.TEXT_IN:
            text = draw(st.sampled_from(_texts(self._side.rig.node.gpus)))
            return lambda side, sets, asked: text
        if kind in (Kind.VERSIONED, Kind.VERSIONED_LIST, Kind.VERSIONED_EACH, Kind.STRUCT_IN):
            return self._structure(param)
        if kind is Kind.EACH:
            return self._each(at, param)
        return self._output(at, param)

    def _handle(self, at: int) -> Callable[[Side, list[int], Asked], Any]:
        # Nearly always a GPU's; else a device of a larger node, NULL, or the middle of a handle.
        number = self._draw(st.sampled_from([*range(GPUS)] * 6 + [GPUS, -1, -2]))
        if at == 0 and 0 <= number < GPUS:
            self._device = number
        if number < 0:
            return lambda side, s, a: c_void_p(0 if number == -1 else side.handle(0) + 4)
        return lambda side, sets, asked: c_void_p(side.handle(number))

    def _room(self, output: int) -> int:
        """Room for an output: none, one too few, just enough, one more, or much."""
        function, draw = self._function, self._draw
        needed = 3
        entry = entries().get(function.name)
        if self._device is not None and entry and not entry.changes and not _has_inputs(function):
            got = self._side.rig.ask(Call(function.name, self._device), self._side.rig.at_us)
            if got.code == 0 and got.outputs:
                param = function.params[output]
                text = param.kind is Kind.TEXT_OUT
                needed = len(got.outputs[-1]) + 1 if text else len(got.outputs[-1]) // param.size
        return draw(st.sampled_from([0, max(0, needed - 1), needed, needed + 1, needed + 70]))

    def _count(self, room: int) -> Callable[[Side, list[int], Asked], Any]:
        missing = self._draw(st.integers(0, 40)) == 40

        def make(side: Side, sets: list[int], asked: Asked) -> Any:
            asked.counts.append(c_uint(room))
            return None if missing else byref(asked.counts[-1])

        return make

    def _output(self, at: int, param: Param) -> Callable[[Side, list[int], Asked], Any]:
        size = param.size
        if param.kind is Kind.TEXT_OUT and param.partner >= 0:
            size = self._size_at(param.partner, at)
        elif param.kind in (Kind.LIST, Kind.ARRAY):
            size *= self._size_at(param.partner, at)
        offsets = (0,) if param.kind is Kind.DEVICE_OUT else param.devices
        step = param.size or 1
        devices = [start + each for start in range(0, size, step) for each in offsets]
        by_reference = param.kind in (Kind.OUT, Kind.DEVICE_OUT) and self._draw(st.booleans())

        def make(side: Side, sets: list[int], asked: Asked) -> Any:
            buffer = Buffer.of(bytes([CANARY]) * size)
            buffer.devices = devices
            asked.buffers.append(buffer)
            return byref(buffer.memory) if by_reference else buffer.memory

        return make

    def _size_at(self, partner: int, output: int) -> int:
        """What the parameter ``partner`` says of the room for an output; drawn once."""
        if partner not in self._sizes:
            self._sizes[partner] = self._room(output)
        return self._sizes[partner]

    def _each(self, at: int, param: Param) -> Callable[[Side, list[int], Asked], Any]:
        count = self._size_at(param.partner, at)
        words = [[self._draw(some_number) for _ in param.words] for _ in range(count)]
        content = bytearray(param.size * count)
        for record, values in enumerate(words):
            for offset, value in zip(param.words, values, strict=True):
                start = record * param.size + offset
                content[start : start + 4] = value.to_bytes(4, "little")
        return _given(bytes(content))

    def _structure(self, param: Param) -> Callable[[Side, list[int], Asked], Any]:
        draw = self._draw
        wrong = [0, 1 << 24 | 12, 0xFFFFFFFF]
        version = draw(st.sampled_from([*param.versions * 3, *wrong] if param.versions else [0]))
        sizes = [each & 0xFFFFFF if each >> 24 else param.size for each in param.versions]
        content = bytearray(max([param.size, 64, *sizes]))
        content[:4] = version.to_bytes(4, "little")
        offsets = param.words or range(4, min(len(content), 24), 4)
        for offset in offsets:
            if offset:
                content[offset : offset + 4] = draw(some_number).to_bytes(4, "little")
        if param.kind is Kind.VERSIONED_EACH:
            content[param.count_at : param.count_at + 4] = draw(st.integers(0, 3)).to_bytes(
                4, "little"
            )
        if param.kind is not Kind.VERSIONED_LIST:
            return _given(bytes(content))
        room = draw(st.integers(0, 4))
        content[param.count_at : param.count_at + 4] = room.to_bytes(4, "little")
        has_list = draw(st.integers(0, 3)) > 0

        def make(side: Side, sets: list[int], asked: Asked) -> Any:
            records = Buffer.of(bytes([CANARY]) * (room * param.record))
            whole = bytearray(content)
            address = addressof(records.memory) if has_list else 0
            whole[param.list_at : param.list_at + 8] = address.to_bytes(8, "little")
            structure = Buffer.of(bytes(whole))
            asked.buffers += [records]
            # The structure itself, but for the pointer, which is each side's own.
            start, end = param.list_at, param.list_at + 8
            asked.counts.append(_Around(structure.memory, start, end))
            return structure.memory

        return make


class _Around:
    """A structure but for a pointer in it."""

    def __init__(self, memory: Any, start: int, end: int) -> None:
        self._memory, self._start, self._end = memory, start, end

    @property
    def value(self) -> bytes:
        found = bytes(self._memory)
        return found[: self._start] + found[self._end :]


def _has_inputs(function: Function) -> bool:
    """Whether a function of a device takes anything else than room for what it gives."""
    takes = (
        Kind.DEVICE, Kind.U32, Kind.U64, Kind.HANDLE, Kind.TEXT_IN, Kind.STRUCT_IN, Kind.EACH,
        Kind.VERSIONED, Kind.VERSIONED_LIST, Kind.VERSIONED_EACH,
    )  # fmt: skip
    sizes = {param.partner for param in function.params if param.kind in SIZED}
    return any(
        param.kind in takes and at not in sizes
        for at, param in enumerate(function.params[1:], start=1)
    )


def _given(content: bytes) -> Callable[[Side, list[int], Asked], Any]:
    def make(side: Side, sets: list[int], asked: Asked) -> Any:
        buffer = Buffer.of(content)
        asked.buffers.append(buffer)
        return cast(buffer.memory, POINTER(c_char)) if len(content) % 3 == 0 else buffer.memory

    return make


def _choose(sets: list[int], which: int) -> int:
    """One of the event sets there are, NULL, or a number that is none."""
    if which < 0 or not sets:
        return 0 if which == -1 else 0x1234
    return sets[which % len(sets)]


def _texts(gpus: tuple[Gpu, ...]) -> list[bytes]:
    known = [text for gpu in gpus for text in (gpu.uuid, gpu.serial, f"{gpu.bus_id}.0")]
    return [text.encode() for text in (*known, known[0].upper(), "", "nonsense", "0:1:2")]


@pytest.fixture
def sides(
    new_rig: Callable[..., Any], start_serving: Callable[..., Any]
) -> Iterator[tuple[Side, Side]]:
    """Twins, one behind each carrier."""
    ours, theirs = new_rig(gpus=GPUS), new_rig(gpus=GPUS)
    library = InProcess(in_its_time(ours.ask, lambda: ours.at_us, ours.park))
    library.nvmlInit_v2()
    opened = start_serving(theirs)
    opened.nvmlInit_v2()
    handle = c_void_p()
    assert opened.nvmlDeviceGetHandleByIndex_v2(0, byref(handle)) == 0
    yield Side(ours, library, handle_of(0)), Side(theirs, opened, handle.value or 0)


def watch_all(side: Side) -> int:
    """A set with all events of all GPUs; its handle, which is the same on both sides."""
    handle = c_void_p()
    assert side.library.nvmlEventSetCreate(byref(handle)) == 0
    for number in range(GPUS):
        gpu = c_void_p(side.handle(number))
        assert side.library.nvmlDeviceRegisterEvents(gpu, c_ulonglong(11), handle) == 0
    return handle.value or 0


def make_whole(side: Side) -> None:
    """Heal every GPU, and let it have four processes."""
    for gpu in side.rig.node.gpus:
        break_one(side, gpu.index, 0)
        while len(gpu.uses) < 4:
            job = JobSpec("more", (gpu.index,), load=0.1, memory_bytes=1 << 30)
            side.rig.node.start_job(job, side.rig.at_us)


def break_one(side: Side, index: int, how: int) -> None:
    """Let something become of a GPU."""
    gpu, node, at_us = side.rig.node.gpus[index], side.rig.node, side.rig.at_us
    if how == 0:
        gpu.lost, gpu.reset_required = None, False
    elif how == 1:
        gpu.lost = Lost(at_us, Lookup.LOST, Identity.ANSWERS)
    elif how == 2:
        gpu.lost = Lost(at_us, Lookup.UNKNOWN, Identity.FAILS)
    else:
        raise_xid(node, gpu, CODES[how % len(CODES)], at_us)


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(data=st.data())
def test_both_carriers_do_the_same(sides: tuple[Side, Side], data: st.DataObject) -> None:
    """Whatever is called with whatever arguments, whatever has become of the GPUs: the same code,
    the same bytes, at the same moment; from the library also when it answers from the page.
    """
    ours, theirs = sides
    for side in sides:
        make_whole(side)
    (event_set,) = {watch_all(side) for side in sides}
    sets = [event_set]
    for _ in range(data.draw(st.integers(0, 2))):
        index, how = data.draw(st.integers(0, GPUS - 1)), data.draw(st.integers(0, 12))
        for side in sides:
            break_one(side, index, how)
    for _ in range(data.draw(st.integers(1, 12))):
        function = data.draw(some_function)
        recipe = Recipe(data.draw, function, ours)
        later_us = data.draw(st.sampled_from([0, 0, 10_000, 1_000_000, 61_000_000]))
        for side in sides:
            side.rig.at_us += later_us
        # A question is asked twice of the library: the second time, the page may have the answer.
        again = [theirs] if function.paged else []
        results = []
        for side in (ours, theirs, *again):
            asked = recipe.make(side, sets)
            code = getattr(side.library, function.name)(*asked.arguments)
            found = [buffer.content(side) for buffer in asked.buffers]
            results.append((code, found, [count.value for count in asked.counts]))
        note(f"{function.name}: {[result[0] for result in results]}")
        assert results[0] == results[1], function.name
        assert results[-1] == results[1], f"{function.name} from the page"
        assert ours.rig.at_us == theirs.rig.at_us
        if function.name == "nvmlEventSetCreate" and results[0][0] == 0:
            sets.append(int.from_bytes(results[0][1][0][:8], "little"))
