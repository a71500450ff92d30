"""What the driver prints beside Xids: ``driver_texts.csv`` and ``sxid_texts.csv``, with sources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fakes.csv_rows import csv_rows

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SxidText:
    """How the driver calls an NVSwitch's error: ``severity`` is its own word for how bad it is."""

    severity: str
    text: str

    @property
    def level(self) -> int:
        """The number of the severity in the record's second line: 1 is fatal."""
        return int(self.severity == "Fatal")


@cache
def _texts() -> dict[str, str]:
    return {row["name"]: row["text"] for row in csv_rows(_HERE / "driver_texts.csv")}


@cache
def sxid_texts() -> dict[int, SxidText]:
    """The codes whose texts are known."""
    rows = csv_rows(_HERE / "sxid_texts.csv")
    return {int(row["code"]): SxidText(row["severity"], row["text"]) for row in rows}


def driver_text(name: str, **parts: object) -> str:
    """A text by its name in the file, with its parts put in."""
    return _texts()[name].format(**parts)
