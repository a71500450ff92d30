"""Words into typed values: durations, percentages, sizes, rates, selectors.

Every argument of a fault and every value of a scenario is read here, so that a mistake is told the
same way everywhere: what was found, and what was expected, with an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from chaos.errors import did_you_mean, quoted
from chaos.selection import Gpus, JobId, Nodes

# So many digits that a number which is too large is told from a word that is none.
_NUMBER = r"([0-9]{1,40}(?:\.[0-9]{1,40})?)"
_UNIT_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_UNIT_US["d"] = 24 * _UNIT_US["h"]
_UNIT_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DURATION_PART = re.compile(_NUMBER + r"(us|ms|s|m|h|d)")
_SIZE = re.compile(_NUMBER + r" ?(B|KiB|MiB|GiB|TiB)")
_MAX_COUNT = 100_000
_MAX_DURATION_DAYS = 400
_MAX_TIB = 1024
_MAX_CELSIUS = 1000
_MAX_MEGAWATTS = 1


class BadValueError(ValueError):
    """A word that is no value of its type. Its text is one sentence for the user."""


class TooMuchError(ValueError):
    """A word of the right form that says too much. Its text is a clause: the limit."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time on the run's clock."""

    us: int

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read ``30s``, ``1h30m``, ``500ms``: a unit is required."""
        parts = list(_DURATION_PART.finditer(text))
        if not parts or "".join(part[0] for part in parts) != text:
            raise BadValueError(text)
        us = int(
            sum(Decimal(number) * _UNIT_US[unit] for number, unit in (p.groups() for p in parts))
        )
        if us > _MAX_DURATION_DAYS * _UNIT_US["d"]:
            raise TooMuchError(f"longer than {_MAX_DURATION_DAYS} days, the longest there is")
        return cls(us)

    def __str__(self) -> str:
        for unit in ("h", "m", "s", "ms"):
            if self.us and self.us % _UNIT_US[unit] == 0:
                return f"{self.us // _UNIT_US[unit]}{unit}"
        return f"{self.us}us" if self.us else "0s"


@dataclass(frozen=True, slots=True)
class Percent:
    """A share of a whole."""

    percent: float

    @classmethod
    def parse(cls, text: str) -> Percent:
        """Read ``20%``, between 0% and 100%."""
        match = re.fullmatch(_NUMBER + "%", text)
        if not match or float(match[1]) > 100:
            raise BadValueError(text)
        return cls(float(match[1]))

    @property
    def share(self) -> float:
        """The share as a fraction, 0..1."""
        return self.percent / 100

    def __str__(self) -> str:
        return f"{self.percent:g}%"


def _bytes(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if not match:
        raise BadValueError(text)
    count = int(Decimal(match[1]) * _UNIT_BYTES[match[2]])
    if count > _MAX_TIB * _UNIT_BYTES["TiB"]:
        raise TooMuchError(f"more than {_MAX_TIB}TiB, the most there is")
    return count


def _bytes_words(count: int) -> str:
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count and count % _UNIT_BYTES[unit] == 0:
            return f"{count // _UNIT_BYTES[unit]}{unit}"
    return f"{count}B"


@dataclass(frozen=True, slots=True)
class Size:
    """An amount of memory."""

    bytes: int

    @classmethod
    def parse(cls, text: str) -> Size:
        """Read ``60GiB``."""
        return cls(_bytes(text))

    def __str__(self) -> str:
        return _bytes_words(self.bytes)


@dataclass(frozen=True, slots=True)
class Rate:
    """Memory in the course of time."""

    bytes_per_s: int

    @classmethod
    def parse(cls, text: str) -> Rate:
        """Read ``500MiB/s``, ``2GiB/m``."""
        amount, slash, unit = text.partition("/")
        if not slash or unit not in ("s", "m", "h"):
            raise BadValueError(text)
        rate = _bytes(amount) * _UNIT_US["s"] // _UNIT_US[unit]
        if rate < 1:
            raise BadValueError(text)
        return cls(rate)

    def __str__(self) -> str:
        return f"{_bytes_words(self.bytes_per_s)}/s"


@dataclass(frozen=True, slots=True)
class Count:
    """How many times: at least one."""

    number: int

    @classmethod
    def parse(cls, text: str) -> Count:
        """Read ``12``."""
        if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= _MAX_COUNT:
            raise BadValueError(text)
        return cls(int(text))

    def __str__(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True)
class Celsius:
    """A temperature, or what a sensor takes for one."""

    degrees: float

    @classmethod
    def parse(cls, text: str) -> Celsius:
        """Read ``45C``, ``255C``."""
        match = re.fullmatch(_NUMBER + r" ?C", text)
        if not match or float(match[1]) > _MAX_CELSIUS:
            raise BadValueError(text)
        return cls(float(match[1]))

    def __str__(self) -> str:
        return f"{self.degrees:g}C"


@dataclass(frozen=True, slots=True)
class Watts:
    """Power."""

    milliwatts: int

    @classmethod
    def parse(cls, text: str) -> Watts:
        """Read ``300W``, ``4.5kW``."""
        match = re.fullmatch(_NUMBER + r" ?(k?)W", text)
        if not match:
            raise BadValueError(text)
        milliwatts = int(Decimal(match[1]) * (1_000_000 if match[2] else 1000))
        if milliwatts > _MAX_MEGAWATTS * 1_000_000_000:
            raise TooMuchError(f"more than {_MAX_MEGAWATTS}000kW, the most there is")
        return cls(milliwatts)

    def __str__(self) -> str:
        return f"{self.milliwatts / 1000:g}W"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Things that are counted from 0: one, a range, or all."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Numbers:
        """Read ``4``, ``0..3``, ``all``."""
        match = re.fullmatch(r"([0-9]{1,3})(?:\.\.([0-9]{1,3}))?", text)
        if text != "all" and (not match or int(match[2] or match[1]) < int(match[1])):
            raise BadValueError(text)
        return cls(text)

    def of(self, count: int) -> tuple[int, ...]:
        """The numbers themselves, where there are ``count`` things; some may be too high."""
        if self.text == "all":
            return tuple(range(count))
        first, _, last = self.text.partition("..")
        return tuple(range(int(first), int(last or first) + 1))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class DriverVersion:
    """A version of NVIDIA's driver."""

    text: str

    @classmethod
    def parse(cls, text: str) -> DriverVersion:
        """Read ``570.133.20``."""
        if not re.fullmatch(r"[0-9]{3}\.[0-9]{1,3}(\.[0-9]{1,3})?", text):
            raise BadValueError(text)
        return cls(text)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Settings:
    """Names with their values, as an environment has them."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Settings:
        """Read ``A=1,B=2``; where each stands on a line of its own, values may have commas."""
        parts = text.splitlines() if "\n" in text else text.split(",")
        pairs = [part.partition("=") for part in parts if part]
        if not pairs or not all(_SETTING.fullmatch(name) and equals for name, equals, _ in pairs):
            raise BadValueError(text)
        return cls(tuple((name, value) for name, _, value in pairs))

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> str:
        """The words for such pairs, to be parsed."""
        return "".join(f"{name}={value}\n" for name, value in pairs)

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.pairs)


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise BadValueError(text)
    return int(text)


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise BadValueError(text)
    return text == "true"


_Reader = tuple[Callable[[str], Any], str]

_READERS: dict[type, _Reader] = {
    Duration: (Duration.parse, "a duration with its unit, such as 30s (us, ms, s, m, h, d)"),
    Percent: (Percent.parse, "a percentage from 0% to 100%, such as 20%"),
    Size: (Size.parse, "an amount of memory with its unit, such as 60GiB (B, KiB, MiB, GiB, TiB)"),
    Rate: (Rate.parse, "an amount of memory over time above zero, such as 500MiB/s (/s, /m, /h)"),
    Count: (Count.parse, "a whole number from 1 to 100000, such as 12"),
    Celsius: (Celsius.parse, "a temperature of 0C to 1000C with its unit, such as 45C"),
    Watts: (Watts.parse, "power with its unit, such as 300W or 4.5kW"),
    Numbers: (Numbers.parse, "a number counted from 0, a range or all, such as 4, 0..3 or all"),
    DriverVersion: (DriverVersion.parse, "a version of the driver, such as 570.133.20"),
    Settings: (Settings.parse, "names with their values, such as NCCL_DEBUG=INFO"),
    int: (_whole, "a whole number, such as 79"),
    bool: (_truth, "true or false"),
    str: (str, "a text"),
    Gpus: (Gpus.parse, "a selection of GPUs, such as n0/3, n0/* or */3"),
    Nodes: (Nodes.parse, "a selection of nodes, such as n0 or n4..n11"),
    JobId: (JobId.parse, "a job's id, such as train"),
}


def plain_type(annotation: Any) -> type:
    """The type behind an annotation: ``T`` of ``T | None``."""
    if get_origin(annotation) in (Union, UnionType):
        (annotation,) = (kind for kind in get_args(annotation) if kind is not NoneType)
    if not isinstance(annotation, type):
        raise TypeError(f"{annotation!r} is no type that a word can be read as")
    return annotation


def expected(annotation: Any) -> str:
    """What a value of a type looks like, for error messages and listings."""
    kind = plain_type(annotation)
    if issubclass(kind, Enum):
        return " or ".join(str(member.value) for member in kind)
    return _READERS[kind][1]


def convert(text: str, annotation: Any) -> Any:
    """Read a word as a value of a type; a :class:`BadValueError` says what was expected."""
    kind = plain_type(annotation)
    if issubclass(kind, Enum):
        words = [str(member.value) for member in kind]
        if text not in words:
            raise BadValueError(f"unknown value {quoted(text)}{did_you_mean(text, words)}")
        return kind(text)
    try:
        return _READERS[kind][0](text)
    except BadValueError as error:
        raise BadValueError(f"{quoted(text)} is not {expected(kind)}.") from error
    except TooMuchError as error:
        raise BadValueError(f"{quoted(text)} is {error}.") from error
    except ValueError as error:
        raise BadValueError(f"{error}.") from error


def shown(value: object) -> str:
    """A value as its owner would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value.value) if isinstance(value, Enum) else str(value)
