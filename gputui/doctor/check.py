"""What a check is: a look at a site, results out. One a file, in ``checks/``.

::

    @check("persistence")
    def persistence(site: Site) -> Iterator[Result]:
        \"\"\"The driver stays loaded between jobs.\"\"\"
        for gpu in site.gpus:
            if gpu.persistence_enabled is False:
                yield warning(f"GPU {gpu.index}: persistence mode is off", fix="nvidia-smi -pm 1")

A check yields at least one result; what does not apply here is skipped with the reason. Checks read
and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from gputui.sources.reasons import NOT_AVAILABLE, OTHER_LIBRARY, words
from gputui.sources.reasons import NOT_SUPPORTED as NOT_SUPPORTED_CODE

if TYPE_CHECKING:
    from gputui.doctor.site import Site
    from gputui.model import GpuSample


_NEVER_TOLD = frozenset({"", NOT_AVAILABLE, OTHER_LIBRARY, words(NOT_SUPPORTED_CODE)})
"""Reasons for which a GPU, or its driver, does not have a reading at all."""


class Level(IntEnum):
    """How good a result is, the worst last."""

    GOOD = 0
    SKIPPED = 1
    """It does not apply here, or nothing was given to check."""

    WARNING = 2
    UNCHECKED = 3
    """It should have been checked, and could not be."""

    CRITICAL = 4

    @property
    def word(self) -> str:
        """The word in JSON."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Result:
    """What was found. ``fix`` is the command, or the line of a file, that mends it."""

    level: Level
    text: str
    fix: str = ""


Look = Callable[["Site"], Iterable[Result]]


@dataclass(frozen=True, slots=True)
class Check:
    """A check, as the decorator makes it; ``about`` is the first sentence of its docstring."""

    name: str
    about: str
    look: Look


def check(name: str) -> Callable[[Look], Check]:
    """Make a function of a site a check."""

    def make(look: Look) -> Check:
        about = (look.__doc__ or "").partition("\n")[0]
        return Check(name, about, look)

    return make


def good(text: str) -> Result:
    """All is well."""
    return Result(Level.GOOD, text)


def skipped(text: str) -> Result:
    """There is nothing to check here; the text says why."""
    return Result(Level.SKIPPED, text)


def warning(text: str, *, fix: str) -> Result:
    """Work will go on, but slower or with a risk."""
    return Result(Level.WARNING, text, fix)


def unchecked(text: str, *, fix: str) -> Result:
    """It could not be found out; ``fix`` is what tells more."""
    return Result(Level.UNCHECKED, text, fix)


def critical(text: str, *, fix: str) -> Result:
    """Work will fail, or should not be placed here."""
    return Result(Level.CRITICAL, text, fix)


def unread(gpus: Iterable[GpuSample], reading: str, what: str) -> Iterator[Result]:
    """The GPUs that should tell a reading, and for once do not. One without it is no trouble."""
    for gpu in gpus:
        why = gpu.missing.get(reading, "")
        if getattr(gpu, reading) is None and why not in _NEVER_TOLD:
            yield unchecked(
                f"GPU {gpu.index}: {what} could not be read: {why}",
                fix=f"nvidia-smi -q -i {gpu.index}; dmesg | grep NVRM | tail",
            )


def untold(site: Site, readings: Iterable[str], what: str, otherwise: str) -> Iterator[Result]:
    """Why no GPU tells any of some readings: none could be asked, or the call failed; only where
    they answered that they have none it is as ``otherwise`` says.
    """
    if site.unasked:
        yield skipped(f"unknown: {site.unasked}")
        return
    failed = [one for reading in readings for one in unread(site.gpus, reading, what)]
    yield from failed or [skipped(otherwise)]


def gpu_list(indices: Iterable[int]) -> str:
    """``GPU 3``, or ``GPUs 0, 2, 5``.

    >>> gpu_list([0, 2, 5])
    'GPUs 0, 2, 5'
    """
    numbers = [str(index) for index in indices]
    return f"GPU{'s' * (len(numbers) > 1)} {', '.join(numbers)}"
