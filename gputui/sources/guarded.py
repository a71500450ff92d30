"""What comes from another machine, or out of a recording, without the secrets that are in it.

This machine's own processes and jobs are read without them (:mod:`gputui.secret_values`). Another
program, or an older one, may have written what comes from elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from gputui.model import Ancestor, ProcessSample
from gputui.recording import LogRecord, Record, SampleRecord
from gputui.secret_values import without_secrets

_Started = TypeVar("_Started", ProcessSample, Ancestor)


def guarded(record: Record) -> Record:
    """The record, with nothing in command lines and lines of logs that nobody is to see."""
    if isinstance(record, SampleRecord):
        sample = record.sample
        return replace(
            record,
            sample=replace(
                sample,
                processes=_each(sample.processes),
                ancestors=_each(sample.ancestors),
            ),
        )
    if isinstance(record, LogRecord):
        return replace(record, line=replace(record.line, text=without_secrets(record.line.text)))
    return record


def _each(started: tuple[_Started, ...]) -> tuple[_Started, ...]:
    return tuple(_one(one) for one in started)


def _one(started: _Started) -> _Started:
    command = without_secrets(started.command) if started.command else started.command
    return started if command == started.command else replace(started, command=command)
