"""Xids 144 to 150, NVLink5 errors, decoded from the registers in the line (``nvlink5.csv``).

The driver prints ``UNIT Fatal|Nonfatal XC0|XC1 iN Link N (INTRINFO ERRORSTATUS ...)``. Which bits
of the first word name the unit that saw the error changed with driver branch 575, so the word alone
may be read in two ways; the catalogue's sheet gives both. Where the driver's version is unknown,
both are told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from gputui.facts.compat import Version
from gputui.facts.table import BadRowError, Row, Table, load

XIDS = range(144, 151)
_CHANGED = 575

_SUB_CODE_SHIFT, _SUB_CODE_MASK = 20, 0x3F

_LINE = re.compile(
    r"(?P<unit>[A-Z][A-Z0-9_/]*)\s+(?P<severity>Fatal|Non-?fatal|Link Fatal)\s+"
    r"XC\d\s+i(?P<injected>\d+)\s+Link\s+(?P<link>-?\d+)\s+\((?P<words>(?:0x[0-9a-fA-F]+[\s,]*)+)\)?",
    re.IGNORECASE,
)


class Layout(str, Enum):
    """Which bits say what."""

    BEFORE_R575 = "before R575"
    FROM_R575 = "R575 and later"


@dataclass(frozen=True, slots=True)
class Nvlink5Fact:
    """One row of the sheet: a unit, an error status of it, and what to do.

    Each of the patterns is a mask and the value under it, of the first register.
    """

    xid: int
    units: tuple[str, ...]
    patterns: tuple[tuple[Layout, int, int], ...]
    error_status: int
    nvidia_action: str
    nvidia_investigation: str
    severity: str
    origin: str
    local_effect: str
    remote_effect: str
    source: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the registers of a line mean in one layout. ``unit`` is what the first register names.

    ``facts`` are the rows that fit, one for each bit of the error status that the sheet explains;
    ``fits`` says whether the unit is the one that the line itself names.
    """

    layout: Layout
    unit: str
    facts: tuple[Nvlink5Fact, ...]
    fits: bool


@dataclass(frozen=True, slots=True)
class Nvlink5Error:
    """An NVLink5 error as a line tells it. ``link`` is None where it names none (-1)."""

    xid: int
    unit: str
    is_fatal: bool
    link: int | None
    sub_code: int
    error_status: int
    injected: bool
    readings: tuple[Reading, ...]

    @property
    def blames_peer(self) -> bool:
        """Whether the sheet says to look at the other end of the link."""
        facts = [fact for reading in self.readings if reading.fits for fact in reading.facts]
        return any(fact.nvidia_investigation == "INVESTIGATE_PEER_DEVICE" for fact in facts)

    @property
    def nvidia_action(self) -> str | None:
        """What to do at once, in NVIDIA's word, where all that fits agrees; None otherwise."""
        fitting = [one for one in self.readings if one.fits] or self.readings
        words = {fact.nvidia_action for reading in fitting for fact in reading.facts}
        return next(iter(words)) if len(words) == 1 else None


def decode(xid: int, detail: str, driver: Version | None = None) -> Nvlink5Error | None:
    """Decode the text of a line after its code; None if it is not of this form.

    ``driver`` is the version of the driver that printed it; without it both layouts are told.
    """
    found = _LINE.search(detail)
    if found is None or xid not in XIDS:
        return None
    words = [int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", found["words"])]
    status = words[1] if len(words) > 1 else 0
    readings = [_read(layout, xid, found["unit"], words[0], status) for layout in Layout]
    if driver:
        layout = Layout.FROM_R575 if driver[0] >= _CHANGED else Layout.BEFORE_R575
        readings = [one for one in readings if one.layout is layout]
    link = int(found["link"])
    return Nvlink5Error(
        xid=xid,
        unit=found["unit"],
        is_fatal=not found["severity"].lower().startswith("non"),
        link=None if link < 0 else link,
        sub_code=words[0] >> _SUB_CODE_SHIFT & _SUB_CODE_MASK,
        error_status=status,
        injected=found["injected"] != "0",
        readings=tuple(readings),
    )


def _read(layout: Layout, xid: int, named: str, first: int, status: int) -> Reading:
    of_unit = [
        fact
        for fact in nvlink5_table().facts.values()
        if fact.xid == xid and any(_matches(layout, pattern, first) for pattern in fact.patterns)
    ]
    fits = any(named in fact.units for fact in of_unit)
    if fits:
        of_unit = [fact for fact in of_unit if named in fact.units]
    exact = [fact for fact in of_unit if fact.error_status == status]
    bits = [fact for fact in of_unit if fact.error_status and fact.error_status & status]
    bits = [fact for fact in bits if fact.error_status & status == fact.error_status]
    unit = "/".join(of_unit[0].units) if of_unit else ""
    return Reading(layout, unit, tuple(exact or bits), fits)


def _matches(layout: Layout, pattern: tuple[Layout, int, int], first: int) -> bool:
    of_layout, mask, value = pattern
    return of_layout is layout and first & mask == value


def _pattern(row: Row, layout: Layout, column: str) -> tuple[Layout, int, int]:
    """A mask and a value, of 32 characters ``0``, ``1`` and ``-`` (does not matter)."""
    text = row.text(column)
    if not re.fullmatch(r"[01-]{32}", text):
        raise BadRowError(f'{column} is "{text}", expected 32 of the characters 0, 1 and -')
    mask = int(text.replace("0", "1").replace("-", "0"), 2)
    return layout, mask, int(text.replace("-", "0"), 2)


def _fact(row: Row) -> Nvlink5Fact:
    xid = row.integer("xid")
    if xid not in XIDS:
        raise BadRowError(f"xid is {xid}, expected 144 to 150")
    return Nvlink5Fact(
        xid=xid,
        units=tuple(row.text("unit").split("/")),
        patterns=(
            _pattern(row, Layout.BEFORE_R575, "bits_before_r575"),
            _pattern(row, Layout.FROM_R575, "bits_from_r575"),
        ),
        error_status=row.integer("error_status"),
        nvidia_action=row.text("nvidia_action"),
        nvidia_investigation=row.text("nvidia_investigation"),
        severity=row.text("severity"),
        origin=row.text("origin"),
        local_effect=row.text("local_effect"),
        remote_effect=row.text("remote_effect"),
        source=row.text("source"),
    )


@cache
def nvlink5_table() -> Table[Nvlink5Fact]:
    """The sheet, the site's own rows included."""
    key = ["xid", "unit", "bits_before_r575", "error_status"]
    return load("nvlink5", key, _fact)
