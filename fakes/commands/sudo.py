"""``sudo``: runs a command as root, which programs on a node are already, as far as it matters.

Options and assignments are taken, and the rest is run (sudo(8)); set-user-ID has no effect on a
node, so that the real one could not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FLAGS = frozenset("AbEeHiKklnPSsv")
_WITH_VALUE = frozenset("CDghpRrtTUu")
_LONG_FLAGS = frozenset({"--non-interactive", "--preserve-env", "--set-home", "--stdin"})
_ONLY_ASKS = frozenset("Kklv")


@command("sudo", latency_us=10_000)
def main(
    argv: Sequence[str], env: Mapping[str, str], become: Callable[[Sequence[str]], NoReturn],
    err: TextIO,
) -> int:  # fmt: skip
    """Become the command."""
    words = list(argv)
    shell = asks = False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        if word in _LONG_FLAGS or word.startswith("--preserve-env="):
            continue
        letters = word[1:]
        if not letters or not set(letters) <= _FLAGS | _WITH_VALUE:
            err.write(f"sudo: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
        shell = shell or bool(set(letters) & {"i", "s"})
        asks = asks or bool(set(letters) & _ONLY_ASKS)
        if letters[-1] in _WITH_VALUE and words:
            words.pop(0)
    assigned = []
    while words and _ASSIGNMENT.match(words[0]):
        assigned.append(words.pop(0))
    if not words:
        if asks:
            return 0
        if not shell:
            err.write("usage: sudo [-AbEHknPS] [-u user] [VAR=value] command [arg ...]\n")
            return 1
        words = [env.get("SHELL", "/bin/sh")]
    elif shell:
        words = [env.get("SHELL", "/bin/sh"), "-c", " ".join(words)]
    return become(["/usr/bin/env", *assigned, *words] if assigned else words)
