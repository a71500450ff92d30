"""The answers in the page: which questions have a place, and keeping the answers fresh.

A question gets a slot when a client first asks it over the socket, and loses it when no client has
read it for a while. Every publication asks each question once and writes what has changed. A bank
(``shim/page.c`` reads it)::

    4  entries of the directory, a power of two     then the directory: open addressing, linear
    4  bytes used                                   probes, 24 bytes an entry: the key (16), the
    8  at_us: the moment the answers are of         slot's offset, its byte in ``touched``

    a slot: the code (ASK: this question goes over the socket), the outputs' length, the outputs
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable

from fakes.nvml.answer import Answer, Call
from fakes.nvml.function import Function, Kind
from fakes.nvml.page import BANK_BYTES, TOUCHED_BYTES
from fakes.nvml.wire import pack_outputs

SLOT_LIMIT = 4096
"""Bytes of outputs above which a question always goes over the socket."""

IDLE_ROUNDS = 10
"""A slot that no client read in so many rounds of :meth:`Slots.retire` is given up."""

_ASK = 0xFFFFFFFF
_BANK = struct.Struct("<IIq")
_KEY = struct.Struct("<HHIII")
_ENTRY = struct.Struct("<16sII")
_SLOT = struct.Struct("<II")
_ONE_WORD = struct.Struct("<III4s")
_EMPTY = Answer(-1)


class _Slot:
    """A question with its place. Mutable, and plain attributes: refreshing it must be cheap."""

    __slots__ = ("answer", "call", "capacity", "idle", "key", "offset", "steady")

    def __init__(self, key: bytes, call: Call, steady: bool) -> None:
        self.key = key
        self.call = call
        self.steady = steady
        self.answer = _EMPTY
        self.offset = 0
        self.capacity = 0
        self.idle = 0


class Slots:
    """The questions in the page, and the bank they make."""

    def __init__(self, answer: Callable[[Call, int], Answer]) -> None:
        self._answer = answer
        self._slots: dict[bytes, _Slot] = {}
        self._moving: list[_Slot] = []
        self._laid_out = False
        self.bank = bytearray(_BANK.size)
        self._lay_out()

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, function: Function, call: Call, answer: Answer) -> None:
        """Give a question its place from the next publication on; ``answer`` is today's."""
        for key, question, answered in _questions(function, call, answer):
            if key not in self._slots and len(self._slots) < TOUCHED_BYTES:
                slot = self._slots[key] = _Slot(key, question, function.steady)
                slot.answer = answered
                self._laid_out = False

    def refresh(self, at_us: int, *, steady: bool) -> None:
        """Ask every question at ``at_us``; those that only events change only if ``steady``."""
        ask = self._answer
        for slot in self._slots.values() if steady else self._moving:
            answer = ask(slot.call, at_us)
            known = slot.answer
            if (
                answer.outputs == known.outputs
                and answer.code == known.code
                and answer.delay_us == known.delay_us
            ):
                continue
            slot.answer = answer
            if self._laid_out and not self._write(slot):
                self._laid_out = False
        if not self._laid_out:
            self._lay_out()
        struct.pack_into("<q", self.bank, 8, at_us)

    def retire(self, touched: mmap.mmap) -> None:
        """Give up the slots that nobody reads. Call it once a second.

        ``touched`` has a byte a slot, which its readers set; it is cleared.
        """
        count = len(self._slots)
        if not count or not self._laid_out:
            return
        marks = bytes(touched[:count])
        touched[:count] = bytes(count)
        for slot, mark in zip(list(self._slots.values()), marks, strict=True):
            slot.idle = 0 if mark else slot.idle + 1
            if slot.idle >= IDLE_ROUNDS:
                del self._slots[slot.key]
                self._laid_out = False

    def _write(self, slot: _Slot) -> bool:
        """Put a slot's answer into its place; False if it is too small."""
        answer = slot.answer
        outputs = answer.outputs
        if len(outputs) == 1 and len(outputs[0]) == 4 and not answer.delay_us:
            _ONE_WORD.pack_into(self.bank, slot.offset, answer.code, 8, 4, outputs[0])
            return True
        packed = pack_outputs(outputs)
        if len(packed) > SLOT_LIMIT or answer.delay_us:
            _SLOT.pack_into(self.bank, slot.offset, _ASK, 0)
            return True
        if len(packed) > slot.capacity:
            return False
        at = slot.offset + _SLOT.size
        _SLOT.pack_into(self.bank, slot.offset, answer.code, len(packed))
        self.bank[at : at + len(packed)] = packed
        return True

    def _lay_out(self) -> None:
        """Give every slot its place anew."""
        entry_count = 64
        while entry_count < 2 * len(self._slots):
            entry_count *= 2
        offset = _BANK.size + entry_count * _ENTRY.size
        directory = [b""] * entry_count
        number = 0
        for slot in list(self._slots.values()):
            needed = len(pack_outputs(slot.answer.outputs))
            # Room to grow, so that a process more in a list does not move everything.
            capacity = min(max(8, needed + needed // 2 + 7 & ~7), SLOT_LIMIT)
            if offset + _SLOT.size + capacity > BANK_BYTES:
                del self._slots[slot.key]
                continue
            slot.offset, slot.capacity = offset, capacity
            offset += _SLOT.size + capacity
            at = _hash(slot.key) & (entry_count - 1)
            while directory[at]:
                at = (at + 1) & (entry_count - 1)
            directory[at] = _ENTRY.pack(slot.key, slot.offset, number)
            number += 1
        self.bank = bytearray(offset)
        _BANK.pack_into(self.bank, 0, entry_count, offset, 0)
        empty = bytes(_ENTRY.size)
        entries = b"".join(entry or empty for entry in directory)
        self.bank[_BANK.size : _BANK.size + len(entries)] = entries
        for slot in self._slots.values():
            self._write(slot)
        self._moving = [slot for slot in self._slots.values() if not slot.steady]
        self._laid_out = True


def _questions(function: Function, call: Call, answer: Answer) -> list[tuple[bytes, Call, Answer]]:
    """What a call asks, as the page's keys: one question, or one for each record of an EACH."""
    device = 0xFFFF if call.device is None else call.device
    each = next((param for param in function.params if param.kind is Kind.EACH), None)
    if each is None:
        words: list[int] = []
        for value in call.inputs:
            words += value if isinstance(value, tuple) else [value]  # type: ignore[list-item]
        return [(_key(function, device, words), call, answer)]
    (buffer,) = call.inputs
    assert isinstance(buffer, bytes)
    questions = []
    for start in range(0, len(buffer) - each.size + 1, each.size):
        values = [struct.unpack_from("<I", buffer, start + at)[0] for at in each.words]
        record = bytearray(each.size)
        for at, value in zip(each.words, values, strict=True):
            struct.pack_into("<I", record, at, value)
        answered = answer
        if answer.outputs:
            answered = Answer(
                answer.code, (answer.outputs[0][start : start + each.size],), answer.delay_us
            )
        question = Call(call.function, call.device, (bytes(record),))
        questions.append((_key(function, device, values), question, answered))
    return questions


def _key(function: Function, device: int, words: list[int]) -> bytes:
    return _KEY.pack(function.id, device, *words, *[0] * (3 - len(words)))


def _hash(key: bytes) -> int:
    low, high = struct.unpack("<QQ", key)
    mixed: int = low * 0x9E3779B97F4A7C15 ^ high * 0xC2B2AE3D27D4EB4F
    return mixed >> 32 & 0xFFFFFFFF
