"""Tables that lie beside the module that reads them, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV file in UTF-8, each by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
