"""Errors that people read: what was found, and what was expected."""

from __future__ import annotations


class SourceError(Exception):
    """A source, or a file to record into, that cannot be opened: which, and why."""
