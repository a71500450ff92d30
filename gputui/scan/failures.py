"""Lists of failures, as machines of many GPUs keep them: a CSV file with a row a failure.

The first line names the columns: ``time``, ``event``, ``gpu`` and, if it is known, ``location``. An
event is an Xid (``48`` or ``Xid 48``), or one of the words that the published list of the machine
Titan uses: DBE, a double-bit error, which is Xid 48; OTB, off the bus, which is Xid 79.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputui.logs.kernel import KernelEvent
from gputui.logs.prefix import split_prefix
from gputui.text import harmless

_COLUMNS = frozenset({"time", "event", "gpu"})
_XID = re.compile(r"(?:xid\s*)?(\d{1,4})", re.IGNORECASE)
_WORDS = {"dbe": 48, "otb": 79}


@dataclass(frozen=True, slots=True)
class ListedFailure:
    """One row: the event, on a GPU that goes by its name instead of an address."""

    event: KernelEvent
    gpu: str


def is_list_of_failures(block: bytes) -> bool:
    """Whether a file begins as such a list does."""
    first = block[:200].split(b"\n", 1)[0].decode("utf-8", "replace")
    return {name.strip().strip('"').lower() for name in first.split(",")} >= _COLUMNS


def failures(blocks: Iterator[bytes]) -> Iterator[ListedFailure]:
    """The rows that tell a failure, in order; others are passed over."""
    rows = csv.reader(_lines(blocks))
    columns = [name.strip().lower() for name in next(rows, [])]
    for row in rows:
        cells = dict(zip(columns, row, strict=False))
        code = _code(cells.get("event", ""))
        time_s = split_prefix(f"{cells.get('time', '').strip()} ", 0.0)[0].wall_s
        gpu = harmless(cells.get("gpu", "")).strip()
        if code is None or time_s is None or not gpu:
            continue
        event = KernelEvent(
            "xid",
            time_s,
            harmless(",".join(row)),
            bus_id=gpu,
            code=code,
            line=rows.line_num,
            host=harmless(cells.get("location", "")).strip() or None,
        )
        yield ListedFailure(event, gpu)


def _code(text: str) -> int | None:
    word = text.strip().lower()
    found = _XID.fullmatch(word)
    return int(found[1]) if found else _WORDS.get(word)


def _lines(blocks: Iterator[bytes]) -> Iterator[str]:
    for block in blocks:
        for line in block.replace(b"\0", b"").splitlines():
            yield line.decode("utf-8", "replace")
