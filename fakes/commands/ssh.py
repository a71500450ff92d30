"""``ssh`` and ``scp`` to another node of the run (OpenSSH).

What runs there is answered as remote_shell.py says; a node that cannot be reached is waited for on
the run's clock, and ends the call with 255.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.remote_shell import NotThereError, words_on
from fakes.network.reaching import NO_NAME, Unreached, reach
from fakes.node import Node
from fakes.world import World

_FLAGS = frozenset("1246AaCfGgKkMNnqsTtVvXxYy")
_WITH_VALUE = frozenset("BbcDEeFIiJLlmOoPpQRSWw")
_FAILED = 255
_USAGE = "usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-o option] [-p port] destination [command ...]\n"


@command("ssh", latency_us=150_000)
def main(
    argv: Sequence[str], node: Node, world: World, user: str,
    spawn: Callable[[Sequence[str], int | None], int | None], pause: Callable[[int], None],
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Run it there; its exit status, or 255 where it does not come to that."""
    options, words = _parse(argv)
    if options is None:
        err.write(f"ssh: {words[0]}: this option is not known here\n")
        return NOT_UNDERSTOOD
    if "V" in options:
        err.write("OpenSSH_9.6p1 Ubuntu-3ubuntu13.5, OpenSSL 3.0.13 30 Jan 2024\n")
        return 0
    if not words:
        err.write(_USAGE)
        return _FAILED
    name = words[0].removeprefix("ssh://").rpartition("@")[2].partition(":")[0]
    there = reach(world, node, name, limit_us=_limit_us(options))
    if isinstance(there, Unreached):
        pause(there.after_us)
        err.write(said_of(name, there, options.get("p", "22")))
        return _FAILED
    if not there.services.is_active("ssh.service"):
        err.write(said_of(name, Unreached("Connection refused"), options.get("p", "22")))
        return _FAILED
    if len(words) == 1:
        if there is node:
            return spawn(["/bin/bash", "-l"], None) or 0
        err.write(f"ssh: {name}: a session without a command is not known here\n")
        return NOT_UNDERSTOOD
    try:
        status = spawn(words_on(there, node, " ".join(words[1:])), None)
    except NotThereError as error:
        err.write(f"ssh: {error}\n")
        return NOT_UNDERSTOOD
    return 0 if status is None else status


def said_of(name: str, unreached: Unreached, port: str = "22") -> str:
    """What ssh says of a node that it does not reach."""
    if unreached.why == NO_NAME:
        return f"ssh: Could not resolve hostname {name}: {NO_NAME}\n"
    return f"ssh: connect to host {name} port {port}: {unreached.why}\n"


def _parse(argv: Sequence[str]) -> tuple[dict[str, str] | None, list[str]]:
    """The options by letter (those of ``-o`` by name, in lower case), the host and its command."""
    options: dict[str, str] = {}
    rest = list(argv)
    host: list[str] = []
    while rest and (not host or rest[0].startswith("-")):
        word = rest.pop(0)
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            if host:
                rest.insert(0, word)
                break
            host.append(word)
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in _WITH_VALUE:
                value = letters or (rest.pop(0) if rest else "")
                name = letter
                if letter == "o":
                    key, _, value = value.replace("=", " ", 1).partition(" ")
                    name = key.lower()
                options[name] = value.strip()
                break
            if letter not in _FLAGS:
                return None, [f"-{letter}"]
            options[letter] = ""
    return options, [*host, *rest]


def _limit_us(options: dict[str, str]) -> int | None:
    """How long ``-o ConnectTimeout=N`` lets it try."""
    limit = options.get("connecttimeout", "")
    return int(limit) * SECOND_US if limit.isdecimal() else None


@command("scp", "rsync", latency_us=200_000)
def copy(
    argv: Sequence[str], node: Node, world: World, program: str,
    spawn: Callable[[Sequence[str], int | None], int | None], pause: Callable[[int], None],
    err: TextIO,
) -> int:  # fmt: skip
    """Copy on the caller's own node; to and from another one files are not to be had here."""
    files = [word for word in argv if not word.startswith("-")]
    local: list[str] = []
    for word in files:
        name, colon, path = word.rpartition("@")[2].partition(":")
        if not colon or "/" in name:
            local.append(word)
            continue
        there = reach(world, node, name)
        if isinstance(there, Unreached):
            pause(there.after_us)
            err.write(said_of(name, there))
            err.write("scp: Connection closed\n" if program.endswith("scp") else "")
            return _FAILED
        if there is not node:
            err.write(f"{program}: {shlex.quote(word)}: files of another node are not known here\n")
            return NOT_UNDERSTOOD
        local.append(path or ".")
    return spawn(["/bin/cp", "-a", *local], None) or 0
