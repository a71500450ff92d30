"""What ssh, pdsh, clush and srun have in common: a command line that runs on another node.

On the caller's own node it simply runs. On another one its look-alikes answer for that node; a
command line that needs anything else of that node is refused, and the run takes note of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fakes.commands.registry import commands
from fakes.network.remote import ON_NODE, what_is_local
from fakes.node import Node

Spawn = Callable[[Sequence[str], "int | None"], "int | None"]

_BY_ITS_OWN = frozenset(
    {
        "ps", "pgrep", "pkill", "pidof", "killall", "killall5", "fuser", "lsof", "mount", "umount",
        "df", "findmnt", "chroot", "nsenter", "scp", "rsync", "slurmstepd", "getent",
    }
)  # fmt: skip
"""Look-alikes whose answer is in the processes or the files of the node that they run on."""


class NotThereError(Exception):
    """A command line that cannot be run on another node here. One clause."""


def words_on(there: Node, here: Node, line: str, env: Mapping[str, str] | None = None) -> list[str]:
    """The words that run a shell's command line on a node. Raises :class:`NotThereError`."""
    assigned = [f"{name}={value}" for name, value in (env or {}).items()]
    if there is not here:
        local = what_is_local(line, _answered_for_others())
        if local:
            raise NotThereError(
                f"{local!r} of {there.name} is not to be had on {here.name}: "
                "only commands with a look-alike, and filters, run on another node"
            )
        assigned += [f"{ON_NODE}={there.name}", f"HOSTNAME={there.name}"]
    shell = ["/bin/sh", "-c", line]
    return ["/usr/bin/env", *assigned, *shell] if assigned else shell


@dataclass(frozen=True, slots=True)
class Task:
    """One of several programs that run at a time.

    ``prefix`` stands before each of its lines. ``failed`` is what is said of an exit status that
    is not 0, with ``$s`` for it; ``killed`` what is said of one above 128, if that is another.
    """

    words: Sequence[str]
    prefix: str = ""
    failed: str = ""
    killed: str = ""


def together(tasks: Sequence[Task]) -> list[str]:
    """The words that run tasks at a time, and show the output of each, in order, when all are over.

    Their exit status is the highest.
    """
    lines = ["d=$(mktemp -d) || exit 1; trap 'rm -rf \"$d\"' EXIT; top=0"]
    for at, task in enumerate(tasks):
        run = shlex.join(task.words)
        streams = f"</dev/null >$d/{at}.out 2>$d/{at}.err"
        # A shell that ends by itself: of one that is killed, this one would tell.
        lines.append(f"({run} {streams}; exit $?) 2>/dev/null & p{at}=$!")
    for at, task in enumerate(tasks):
        lines.append(f"wait $p{at}; s=$?")
        prefix = shlex.quote(f"s/^/{_escaped(task.prefix)}/")
        lines.append(f"sed {prefix} $d/{at}.out; sed {prefix} $d/{at}.err >&2")
        said = f'echo "{task.failed}" >&2' if task.failed else ":"
        if task.killed:
            said = f'if [ $s -gt 128 ]; then echo "{task.killed}" >&2; else {said}; fi'
        lines.append(f"if [ $s -ne 0 ]; then {said}; fi; [ $s -gt $top ] && top=$s")
    return ["/bin/bash", "-c", "\n".join([*lines, "exit $top"])]


def gathered(tasks: Sequence[Task], *, errors: bool = False) -> list[str]:
    """The words that run tasks at a time, and show what is the same of several nodes once.

    That is how ``clush -b`` shows them: the blocks are clubak's, with ``errors`` also of what goes
    to standard error; then a line for each exit status that is not 0. A task's prefix is its
    node's name and a colon; the exit status is the highest.
    """
    lines = ["d=$(mktemp -d) || exit 1; trap 'rm -rf \"$d\"' EXIT; top=0; failed=()"]
    for at, task in enumerate(tasks):
        run = shlex.join(task.words)
        streams = f"</dev/null >$d/{at}.out " + ("2>&1" if errors else f"2>$d/{at}.err")
        lines.append(f"({run} {streams}; exit $?) 2>/dev/null & p{at}=$!")
    for at, task in enumerate(tasks):
        prefix = shlex.quote(f"s/^/{_escaped(task.prefix)}/")
        name = shlex.quote(task.prefix.partition(":")[0])
        lines.append(f"wait $p{at}; s=$?; sed {prefix} $d/{at}.out >>$d/out")
        if not errors:
            lines.append(f"sed {prefix} $d/{at}.err >&2")
        lines.append(f"[ $s -ne 0 ] && failed[s]+=' '{name}; [ $s -gt $top ] && top=$s")
    lines.append("clubak -b <$d/out")
    said = '"clush: $(nodeset -f ${failed[s]}): exited with exit code $s"'
    lines.append(f'for s in "${{!failed[@]}}"; do echo {said} >&2; done')
    return ["/bin/bash", "-c", "\n".join([*lines, "exit $top"])]


def unreached(said: str, after_us: int) -> list[str]:
    """The words that wait as long as a node is tried, and say why it is not reached."""
    waits = f"sleep {after_us / 1e6:g}; " if after_us else ""
    return ["/bin/sh", "-c", f"{waits}printf %s {shlex.quote(said)} >&2; exit 255"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("/", "\\/").replace("&", "\\&")


def _answered_for_others() -> frozenset[str]:
    """The look-alikes that are answered from the world alone, or pass on what they run."""
    return frozenset(commands()) - _BY_ITS_OWN
