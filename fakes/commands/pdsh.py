"""``pdsh``, ``clush``, ``parallel-ssh``: a command line on several nodes at a time.

Each line of output comes with the name of its node before it, as these programs print it; what
runs there is answered as remote_shell.py says. They go node by node, and take as long as the
slowest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.remote_shell import (
    NotThereError,
    Spawn,
    Task,
    gathered,
    together,
    unreached,
    words_on,
)
from fakes.commands.ssh import said_of
from fakes.network.groups import NoGroupError, ReadFile, members
from fakes.network.reaching import Unreached, reach
from fakes.node import Node
from fakes.slurm.hostlist import HostlistError, expand
from fakes.world import World

_PDSH_VALUES = frozenset("wxRltuf") | {"g", "j", "P", "X"}
_PDSH_FLAGS = frozenset("SNbdhiLVqaAvsk")
_CLUSH_VALUES = {"-w": "w", "-x": "x", "-g": "g", "-l": "l", "-t": "t", "-u": "u", "-f": "f",
                 "-o": "o", "--nodes": "w", "--exclude": "x", "--group": "g", "--user": "l",
                 "--fanout": "f", "--options": "o", "--connect_timeout": "t",
                 "--command_timeout": "u", "--color": "color", "-X": "X", "--worker": "R",
                 "-R": "R"}  # fmt: skip
_CLUSH_FLAGS = {"-S": "S", "--maxrc": "S", "-N": "N", "-b": "b", "-B": "B", "-a": "a", "-q": "q",
                "-v": "v", "-L": "L", "-n": "n", "--nostdin": "n", "--all": "a", "-d": "v",
                "--dshbak": "b", "--quiet": "q", "--nolabel": "N", "-s": "s"}  # fmt: skip
_PSSH_VALUES = {"-H": "w", "--host": "w", "-l": "l", "-t": "u", "-p": "f", "-O": "o", "-x": "o",
                "-o": "outdir", "-e": "errdir", "--timeout": "u", "--par": "f", "--user": "l",
                "-X": "o"}  # fmt: skip
_PSSH_FLAGS = {"-i": "i", "--inline": "i", "-P": "P", "--print": "P", "-v": "v", "-A": "A"}
_FAILED = 255


@dataclass(frozen=True, slots=True)
class _Reach:
    """From where, and how it waits."""

    world: World
    here: Node
    limit_us: int | None
    labels: bool = True


@command("pdsh", latency_us=200_000)
def pdsh(
    argv: Sequence[str], node: Node, world: World, env: Mapping[str, str], spawn: Spawn,
    read_file: ReadFile, out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Run it on each; 0, unless ``-S`` asks for the highest exit status."""
    options: dict[str, str] = {}
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        letters = rest.pop(0)[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in _PDSH_VALUES:
                options[letter] = letters or (rest.pop(0) if rest else "")
                break
            if letter not in _PDSH_FLAGS:
                err.write(f"pdsh: -{letter}: this option is not known here\n")
                return NOT_UNDERSTOOD
            options[letter] = ""
    if "V" in options:
        out.write("pdsh-2.34\n")
        return 0
    listed = options.get("w", env.get("WCOLL", "") if not {"a", "A"} & options.keys() else "")
    try:
        names = _names(world, listed, options, read_file, all_of={"a", "A"} & options.keys())
    except HostlistError:
        err.write("pdsh@" + node.name + ": invalid hostlist\n")
        return 1
    except NoGroupError as error:
        err.write(f"pdsh: {error} here\n")
        return NOT_UNDERSTOOD
    if not names:
        err.write(f"pdsh@{node.name}: no remote hosts specified\n")
        return 1
    if not rest:
        err.write("pdsh: a session without a command is not known here\n")
        return NOT_UNDERSTOOD
    ways = _Reach(world, node, _seconds_us(options.get("t"), 10), "N" not in options)
    said = "pdsh@{here}: {name}: ssh exited with exit code $s"
    try:
        tasks = [_task(ways, name, " ".join(rest), said) for name in names]
    except NotThereError as error:
        err.write(f"pdsh: {error}\n")
        return NOT_UNDERSTOOD
    worst = spawn(together(tasks), None) or 0
    return worst if "S" in options else 0


@command("clush", latency_us=300_000)
def clush(
    argv: Sequence[str], node: Node, world: World, spawn: Spawn, read_file: ReadFile,
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Run it on each; 0, unless ``-S`` asks for the highest exit status."""
    options, rest, strange = _parse(argv, _CLUSH_VALUES, _CLUSH_FLAGS)
    gathers = bool({"b", "B"} & options.keys())
    if gathers and {"L", "N", "q"} & options.keys():
        strange = "-b with -L, -N or -q"
    if strange:
        err.write(f"clush: {strange}: this option is not known here\n")
        return NOT_UNDERSTOOD
    try:
        names = _names(world, options.get("w", ""), options, read_file, all_of="a" in options)
    except HostlistError:
        err.write(f"clush: error: bad nodeset {options.get('w', '')}\n")
        return 1
    except NoGroupError as error:
        err.write(f"clush: {error} here\n")
        return NOT_UNDERSTOOD
    if not names:
        err.write("Usage: clush [options] command\n\nclush: error: No node to run on.\n")
        return 2
    ways = _Reach(world, node, _seconds_us(options.get("t"), 15), "N" not in options)
    said = "clush: {name}: exited with exit code $s"
    try:
        tasks = [_task(ways, name, " ".join(rest), said) for name in names]
    except NotThereError as error:
        err.write(f"clush: {error}\n")
        return NOT_UNDERSTOOD
    words = gathered(tasks, errors="B" in options) if gathers else together(tasks)
    worst = spawn(words, None) or 0
    return worst if "S" in options else 0


@command("parallel-ssh", "pssh", latency_us=300_000)
def parallel_ssh(
    argv: Sequence[str], node: Node, world: World, clock: Callable[[], float], spawn: Spawn,
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Run it on each; 4 if a command failed, 5 if a node could not be reached (pssh(1))."""
    options, rest, strange = _parse(argv, _PSSH_VALUES, _PSSH_FLAGS)
    if strange or {"outdir", "errdir"} & options.keys():
        err.write(f"parallel-ssh: {strange or '-o'}: this option is not known here\n")
        return NOT_UNDERSTOOD
    names = [part for part in options.get("w", "").replace(",", " ").split() if part]
    if not names or not rest:
        err.write("parallel-ssh: error: Hosts not specified.\n")
        return 2
    if not {"i", "P"} & options.keys():
        err.write("parallel-ssh: without -i: this is not known here\n")
        return NOT_UNDERSTOOD
    ways = _Reach(world, node, None, labels=False)
    result = 0
    for number, name in enumerate(names, 1):
        host = name.rpartition("@")[2].partition(":")[0]
        try:
            task = _task(ways, host, " ".join(rest), "")
        except NotThereError as error:
            err.write(f"parallel-ssh: {error}\n")
            return NOT_UNDERSTOOD
        status = spawn(task.words, None) or 0
        second = int(clock()) % 86_400
        at = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        word = "SUCCESS" if status == 0 else "FAILURE"
        detail = "" if status == 0 else f" Exited with error code {status}"
        out.write(f"[{number}] {at} [{word}] {name}{detail}\n")
        result = max(result, 0 if status == 0 else 5 if status == _FAILED else 4)
    return result


def _task(ways: _Reach, name: str, line: str, said: str) -> Task:
    """What is done on a node; ``said`` is what is said of it where it fails."""
    found = reach(ways.world, ways.here, name, limit_us=ways.limit_us)
    if isinstance(found, Node) and not found.services.is_active("ssh.service"):
        found = Unreached("Connection refused")
    if isinstance(found, Unreached):
        words = unreached(said_of(name, found), found.after_us)
    else:
        words = words_on(found, ways.here, line)
    failed = said.format(name=name, here=ways.here.name)
    return Task(words, f"{name}: " if ways.labels else "", failed)


def _names(
    world: World,
    listed: str,
    options: Mapping[str, str],
    read_file: ReadFile,
    *,
    all_of: object,
) -> list[str]:
    """The nodes that are meant, each once; those after ``-x``, ``-X`` or a ``-`` are not.

    A name that begins with ``@`` is a group's, as are those after ``-g``.
    """

    def spread(text: str) -> list[str]:
        found: list[str] = []
        for one in _entries(text):
            if one.startswith("@"):
                found += members(one[1:], world, read_file)
            else:
                found += expand(one.rpartition("@")[2])
        return found

    def of_groups(text: str) -> list[str]:
        return spread(",".join(f"@{one}" for one in _entries(text)))

    names: list[str] = list(world.nodes) if all_of else []
    out = spread(options.get("x", "")) + of_groups(options.get("X", ""))
    for one in _entries(listed):
        if one.startswith("-"):
            out += spread(one[1:])
        else:
            names += spread(one)
    names += of_groups(options.get("g", ""))
    return [name for name in dict.fromkeys(names) if name not in out]


def _entries(text: str) -> list[str]:
    """What stands between commas, and blanks, that are not in brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter in ", " and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one for one in found if one]


def _seconds_us(text: str | None, otherwise: int) -> int:
    return (int(text) if text and text.isdecimal() else otherwise) * SECOND_US


def _parse(
    argv: Sequence[str], values: Mapping[str, str], flags: Mapping[str, str]
) -> tuple[dict[str, str], list[str], str]:
    """The options, the command's words, and the first option that is not known here."""
    options: dict[str, str] = {}
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in flags:
            options[flags[name]] = ""
        elif word[:2] in flags:
            options[flags[word[:2]]] = ""
            rest.insert(0, f"-{word[2:]}")
        elif name in values:
            options[values[name]] = value if equals else (rest.pop(0) if rest else "")
        elif word[:2] in values and not word.startswith("--"):
            options[values[word[:2]]] = word[2:]
        else:
            return options, rest, word
    return options, rest, ""
