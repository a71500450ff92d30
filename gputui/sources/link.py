"""What all links have in common: how one is read, again and again, from its folder of /sys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from gputui.model import LinkSample
from gputui.sources.counters import Meter
from gputui.sources.files import NOT_SUPPORTED, OpenFiles, first_line, read, why
from gputui.sources.host import TWO_NEEDED
from gputui.sources.reasons import garbage
from gputui.text import decoded

SELDOM_S = 10.0
"""How often what changes seldom is read, and the counters of errors."""

_TURNS = 5

_RATES = ("rx_bytes_per_s", "tx_bytes_per_s")


class Link(ABC):
    """A port or an interface. ``turn`` sets its seldom readings apart from the other links'.

    State and traffic are read every time. The counters of errors are not: each may ask an adapter's
    firmware, which takes its time.
    """

    kind = "ethernet"

    def __init__(self, name: str, folder: str, turn: int) -> None:
        self.name = name
        self.folder = folder
        self._open = OpenFiles()
        self._turn_s = turn % _TURNS * SELDOM_S / _TURNS
        self._seldom_due_s = float("-inf")
        self._meter = Meter()
        self._seldom_values: dict[str, Any] | None = None
        self._seldom_missing: dict[str, str] = {}

    def read(self, now_s: float) -> LinkSample:
        """One reading. Never raises: what cannot be read is missing, with its reason."""
        values: dict[str, Any] = {}
        missing: dict[str, str] = {}
        self._often(values, missing)
        if now_s >= self._seldom_due_s:
            is_first = self._seldom_values is None
            self._read_seldom(now_s)
            self._seldom_due_s = now_s + SELDOM_S - (self._turn_s if is_first else 0.0)
        traffic = self._bytes(missing)
        if traffic is not None:
            rates = self._meter.bytes_per_s(now_s, *traffic)
            if rates is None:
                missing.update(dict.fromkeys(_RATES, TWO_NEEDED))
            else:
                values.update(zip(_RATES, rates, strict=True))
        told = {**(self._seldom_values or {}), **values}
        missing = {**self._seldom_missing, **missing}
        return LinkSample(self.name, kind=self.kind, **told, missing=missing)

    @abstractmethod
    def _often(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """Read the state."""

    @abstractmethod
    def _bytes(self, missing: dict[str, str]) -> tuple[int, int] | None:
        """Bytes received and sent so far; None, and why, where they cannot be told."""

    @abstractmethod
    def _seldom(self, values: dict[str, Any], missing: dict[str, str]) -> dict[str, int]:
        """Read what changes seldom; return the counters of errors."""

    def text(self, file: str, *, often: bool = False) -> str:
        """The text of one of the link's files. Raises OSError."""
        return first_line(self._data(file, often))

    def _data(self, file: str, often: bool) -> bytes:
        path = f"{self.folder}/{file}"
        return self._open.read(path) if often else read(path)

    def number(
        self, file: str, missing: dict[str, str], name: str, *, often: bool = False
    ) -> int | None:
        """The number in one of the link's files; None, and the reason under ``name``, if none."""
        try:
            data = self._data(file, often)
        except OSError as error:
            missing[name] = why(error)
            return None
        if data.strip().isdigit():
            return int(data)
        # An adapter without a performance agent answers "N/A (no PMA)".
        missing[name] = NOT_SUPPORTED if data.startswith(b"N/A") else garbage(repr(decoded(data)))
        return None

    def traffic(self, received: str, sent: str, missing: dict[str, str]) -> tuple[int, int] | None:
        """The two numbers in two files, as ``_bytes`` returns them."""
        numbers = (
            self.number(received, missing, _RATES[0], often=True),
            self.number(sent, missing, _RATES[1], often=True),
        )
        return None if numbers[0] is None or numbers[1] is None else (numbers[0], numbers[1])

    def _read_seldom(self, now_s: float) -> None:
        values: dict[str, Any] = {}
        missing: dict[str, str] = {}
        totals = self._seldom(values, missing)
        growth, growth_s = self._meter.growth(now_s, totals)
        values["counters"] = {name: count for name, count in totals.items() if count}
        values["growth"] = growth
        if growth_s is None:
            missing["growth_s"] = TWO_NEEDED
        else:
            values["growth_s"] = round(growth_s, 3)
        self._seldom_values, self._seldom_missing = values, missing
