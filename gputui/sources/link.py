"""What all links have in common: how one is read, again and again, from its folder of /sys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from gputui.model import LinkSample
from gputui.sources.counters import Meter
from gputui.sources.files import NOT_SUPPORTED, read_text, why
from gputui.sources.host import TWO_NEEDED
from gputui.sources.reasons import garbage

SELDOM_EVERY = 5
"""What changes seldom, and the counters of errors, are read in one of so many readings."""

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
        self._round = turn % SELDOM_EVERY
        self._meter = Meter()
        self._seldom_values: dict[str, Any] | None = None
        self._seldom_missing: dict[str, str] = {}

    def read(self, now_s: float) -> LinkSample:
        """One reading. Never raises: what cannot be read is missing, with its reason."""
        values: dict[str, Any] = {}
        missing: dict[str, str] = {}
        self._often(values, missing)
        if self._seldom_values is None or self._round == 0:
            self._read_seldom(now_s)
        self._round = (self._round + 1) % SELDOM_EVERY
        traffic = self._bytes(missing)
        if traffic is not None:
            rates = self._meter.bytes_per_s(now_s, *traffic)
            if rates is None:
                missing.update(dict.fromkeys(_RATES, TWO_NEEDED))
            else:
                values.update(zip(_RATES, rates, strict=True))
        return LinkSample(
            self.name,
            kind=self.kind,
            **values,
            **(self._seldom_values or {}),
            missing={**self._seldom_missing, **missing},
        )

    @abstractmethod
    def _often(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """Read the state."""

    @abstractmethod
    def _bytes(self, missing: dict[str, str]) -> tuple[int, int] | None:
        """Bytes received and sent so far; None, and why, where they cannot be told."""

    @abstractmethod
    def _seldom(self, values: dict[str, Any], missing: dict[str, str]) -> dict[str, int]:
        """Read what changes seldom; return the counters of errors."""

    def text(self, file: str) -> str:
        """The text of one of the link's files. Raises OSError."""
        return read_text(f"{self.folder}/{file}")

    def number(self, file: str, missing: dict[str, str], name: str) -> int | None:
        """The number in one of the link's files; None, and the reason under ``name``, if none."""
        try:
            text = self.text(file)
        except OSError as error:
            missing[name] = why(error)
            return None
        if text.isdecimal():
            return int(text)
        # An adapter without a performance agent answers "N/A (no PMA)".
        missing[name] = NOT_SUPPORTED if text.startswith("N/A") else garbage(repr(text))
        return None

    def traffic(self, received: str, sent: str, missing: dict[str, str]) -> tuple[int, int] | None:
        """The two numbers in two files, as ``_bytes`` returns them."""
        numbers = (
            self.number(received, missing, _RATES[0]),
            self.number(sent, missing, _RATES[1]),
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
