"""Xid 74, an NVLink error before NVLink5: what the bits of its registers mean (``nvlink74.csv``).

The driver prints ``NVLink: fatal error detected on link N(R1, R2, ... R7)``. NVIDIA explains bits
of the first, third, fourth and fifth register, for Hopper; all others are shown as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from gputui.facts.table import BadRowError, Row, Table, load

XID = 74
_REGISTERS = 7
_LINE = re.compile(
    rf"link\s+(?P<link>\d+)\s*\((?P<words>0x[0-9a-f]+(?:,\s*0x[0-9a-f]+){{{_REGISTERS - 1}}})\)",
    re.IGNORECASE,
)
_HARMLESS = "harmless"


@dataclass(frozen=True, slots=True)
class Nvlink74Fact:
    """What some bits of a register (counted from 1) mean; ``sort`` is that in one word."""

    register: int
    bits: tuple[int, ...]
    sort: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class SetBits:
    """Bits of one register that are set, and what they mean; None where nobody says."""

    register: int
    bits: tuple[int, ...]
    fact: Nvlink74Fact | None

    @property
    def text(self) -> str:
        """``register 3, bit 16: field diagnostics ...``."""
        numbers = ", ".join(map(str, self.bits))
        meaning = "nothing public explains it" if self.fact is None else self.fact.meaning
        return f"register {self.register}, bit{'s' * (len(self.bits) > 1)} {numbers}: {meaning}"


@dataclass(frozen=True, slots=True)
class Nvlink74Error:
    """The registers of a line: its link, the words as they are, and the bits that are set."""

    link: int
    registers: tuple[int, ...]
    found: tuple[SetBits, ...]

    @property
    def telling(self) -> tuple[SetBits, ...]:
        """What says most: what is explained, is not harmless, and follows from nothing else."""
        known = [one for one in self.found if one.fact and one.fact.sort != _HARMLESS]
        first = [one for one in known if one.fact and one.fact.sort != "secondary"]
        return tuple(first or known)


def decode(detail: str) -> Nvlink74Error | None:
    """Decode the text of a line after its code; None if it is not of this form.

    >>> decode("NVLink: fatal error detected on link 4(0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)").link
    4
    """
    found = _LINE.search(detail)
    if found is None:
        return None
    registers = tuple(int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", found["words"]))
    return Nvlink74Error(int(found["link"]), registers, tuple(_set_bits(registers)))


def _set_bits(registers: tuple[int, ...]) -> list[SetBits]:
    told: list[SetBits] = []
    for number, word in enumerate(registers, 1):
        left = {bit for bit in range(word.bit_length()) if word >> bit & 1}
        for fact in nvlink74_table().facts.values():
            bits = left.intersection(fact.bits) if fact.register == number else set()
            if bits:
                told.append(SetBits(number, tuple(sorted(bits)), fact))
                left -= bits
        if left:
            told.append(SetBits(number, tuple(sorted(left)), None))
    return told


def _fact(row: Row) -> Nvlink74Fact:
    register = row.integer("register")
    if not 1 <= register <= _REGISTERS:
        raise BadRowError(f"register is {register}, expected 1 to {_REGISTERS}")
    words = row.text("bits").split()
    if not words or not all(word.isdecimal() and int(word) < 32 for word in words):
        raise BadRowError(f'bits are "{row.text("bits")}", expected numbers from 0 to 31')
    bits = tuple(map(int, words))
    return Nvlink74Fact(register, bits, row.text("sort"), row.text("meaning"), row.text("source"))


@cache
def nvlink74_table() -> Table[Nvlink74Fact]:
    """NVIDIA's words on the bits, the site's own rows included."""
    return load("nvlink74", ["register", "bits"], _fact)
