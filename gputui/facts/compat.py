"""Which driver, CUDA, GPU and framework go together (``compat.csv``).

Every row says how sure it is: what is ``recalled`` or ``inferred`` is good for a warning and no
reason to refuse anything. Versions are tuples of integers, so that they compare as people mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from gputui.facts.table import BadRowError, Row, Table, load

Version = tuple[int, ...]
"""``(525, 60, 13)``; as long as it was written."""


class Confidence(str, Enum):
    """How a row is known, the surest first."""

    DOCUMENTED = "documented"
    MEASURED = "measured"
    RECALLED = "recalled"
    INFERRED = "inferred"

    @property
    def is_sure(self) -> bool:
        """Whether a check may fail because of it, and not merely warn."""
        return self in (Confidence.DOCUMENTED, Confidence.MEASURED)


_CONFIDENCES = {confidence.value: confidence for confidence in Confidence}
_VERSION = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class CompatFact:
    """One row. ``kind`` is ``cuda``, ``torch``, ``tensorflow``, ``arch`` or ``rule``; ``item`` is
    the version, or the name.

    ``driver_min`` is the oldest Linux driver that the release was made for, ``driver_min_minor``
    the oldest with which it runs thanks to minor version compatibility. ``driver_branch_max`` is
    the last branch of drivers that serves an architecture. Capabilities are compute capabilities
    that are supported; None where nothing is known.
    """

    kind: str
    item: str
    cuda: Version | None
    cudnn: Version | None
    nccl: Version | None
    driver_min: Version | None
    driver_min_minor: Version | None
    driver_branch_max: int | None
    capability_min: Version | None
    capability_max: Version | None
    detail: str
    notes: str
    confidence: Confidence
    source: str

    @property
    def version(self) -> Version | None:
        """The item as a version, where it is one."""
        return version(self.item)


def version(text: str) -> Version | None:
    """The version that a text begins with; None if it begins with none.

    >>> version("12.4.1+cu124")
    (12, 4, 1)
    """
    found = _VERSION.match(text.strip())
    return tuple(int(part) for part in found[0].split(".")) if found else None


def _version(row: Row, column: str) -> Version | None:
    text = row.text(column)
    found = version(text)
    if text and found is None:
        raise BadRowError(f'{column} is "{text}", expected a version such as 12.4')
    return found


def _fact(row: Row) -> CompatFact:
    return CompatFact(
        kind=row.text("kind"),
        item=row.text("item"),
        cuda=_version(row, "cuda"),
        cudnn=_version(row, "cudnn"),
        nccl=_version(row, "nccl"),
        driver_min=_version(row, "driver_min"),
        driver_min_minor=_version(row, "driver_min_minor"),
        driver_branch_max=row.integer("driver_branch_max")
        if row.text("driver_branch_max")
        else None,
        capability_min=_version(row, "capability_min"),
        capability_max=_version(row, "capability_max"),
        detail=row.text("detail"),
        notes=row.text("notes"),
        confidence=row.one_of("confidence", _CONFIDENCES),
        source=row.text("source"),
    )


@cache
def compat_table() -> Table[CompatFact]:
    """All rows, the site's own included."""
    return load("compat", ["kind", "item"], _fact)


def cuda_release(wanted: Version) -> CompatFact | None:
    """What is known of a CUDA release, by its major and minor number."""
    return _release("cuda", wanted, digits=2)


def torch_release(wanted: Version) -> CompatFact | None:
    """What is known of a release of torch: this one, or another patch of it."""
    return _release("torch", wanted, digits=2)


def _release(kind: str, wanted: Version, *, digits: int) -> CompatFact | None:
    found = None
    for fact in compat_table().facts.values():
        if fact.kind != kind or fact.version is None:
            continue
        if fact.version == wanted:
            return fact
        if fact.version[:digits] == wanted[:digits]:
            found = fact
    return found
