"""Options as getopt_long reads them, for look-alikes: which there are, and what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class UnknownOptionError(Exception):
    """An option that the real command may know and the look-alike does not. One clause."""


def parse(
    argv: Sequence[str],
    flags: Mapping[str, str],
    values: Mapping[str, str],
    long_values: Sequence[str] = (),
    long_flags: Sequence[str] = (),
) -> tuple[dict[str, str], list[str]]:
    """What was given, by long names, and the words that are no options.

    ``flags`` and ``values`` map letters to long names, of options without and with a value;
    ``long_values`` and ``long_flags`` have no letter. A flag's value is "".
    """
    options: dict[str, str] = {}
    words: list[str] = []
    rest = list(argv)
    valued = {*values.values(), *long_values}
    known = {*flags.values(), *long_flags, *valued}
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name not in known:
                raise UnknownOptionError(f"{word}: this option is not known here")
            if name in valued and not equals:
                value = rest.pop(0) if rest and name != "color" else ""
            options[name] = value
        elif word.startswith("-") and word != "-":
            _letters(word[1:], rest, flags, values, options)
        else:
            words.append(word)
    return options, words


def _letters(
    letters: str,
    rest: list[str],
    flags: Mapping[str, str],
    values: Mapping[str, str],
    options: dict[str, str],
) -> None:
    """Short options, several of which may stand in one word."""
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in values:
            options[values[letter]] = letters or (rest.pop(0) if rest else "")
            return
        if letter not in flags:
            raise UnknownOptionError(f"-{letter}: this option is not known here")
        options[flags[letter]] = ""
