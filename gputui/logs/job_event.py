"""What a job's log said that means something: one typed event a line, or a record of several."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobEvent:
    """Something a job printed that the facts know.

    ``pattern`` is the id of the row of the facts that it matched, ``family`` that row's class
    (``oom``, ``nccl`` ...). ``time_s`` is Unix time, ``text`` the line as the job wrote it.
    ``job`` is the job's id, ``pid`` and ``rank`` are the process's, ``gpu`` is the index of its
    GPU, ``host`` where it runs; None (or empty) where nobody knows. ``fields`` are the named parts
    of the line, by name.
    """

    pattern: str
    family: str
    time_s: float
    text: str
    job: str | None = None
    pid: int | None = None
    rank: int | None = None
    gpu: int | None = None
    host: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    def field(self, name: str) -> str | None:
        """One named part of the line; None where the line does not have it."""
        return next((value for key, value in self.fields if key == name), None)
