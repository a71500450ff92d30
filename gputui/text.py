"""Text of unknown origin, made fit for a terminal and for JSON."""

from __future__ import annotations

_REPLACED = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """The text with every control, surrogate and invisible character replaced."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _REPLACED for character in text)


def harmless(text: str) -> str:
    """The text on one line: tabs are spaces, nothing unprintable is left."""
    return text if text.isprintable() else printable(text.replace("\t", " "))


def decoded(data: bytes) -> str:
    """Bytes as UTF-8; what is not is replaced, tabs are spaces, nothing unprintable is left."""
    return harmless(data.decode("utf-8", "replace")).strip()
