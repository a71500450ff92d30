"""What a runbook did, call by call, as the journal has it.

The journal notes the calls of look-alikes alone: what a script does with its shell's own means
leaves no line, and is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from chaos.journal import Record
from fakes.clock import SECOND_US

WRAPPERS = frozenset({"sudo", "timeout", "nohup", "nice", "env", "chroot", "nsenter", "setsid"})
"""Commands that start another, which is named in their arguments."""

_WITH_VALUE = frozenset({"-u", "-g", "-n", "-k", "-s", "-t", "--signal", "--kill-after"})
"""Their options that take a value as a word of its own."""


@dataclass(slots=True)
class Call:
    """A call of a command: its line, its words, its end (None: it never returned), and the
    actions that came of it.
    """

    record: Record
    words: tuple[str, ...]
    returned: Record | None = None
    actions: list[Record] = field(default_factory=list)

    @property
    def node(self) -> str:
        """The node that it was called on."""
        return str(self.record.facts["node"])

    @property
    def line(self) -> int:
        """The line of the journal that tells of it."""
        return self.record.number

    @property
    def status(self) -> int | None:
        """Its exit status."""
        return None if self.returned is None else self.returned.facts.get("exit")

    @property
    def program(self) -> str:
        """The base name of what is called, behind ``sudo``, ``timeout`` and the like."""
        return base_name(self.command[0])

    @property
    def command(self) -> tuple[str, ...]:
        """The words without those that only start the others."""
        return unwrapped(self.words)

    @property
    def text(self) -> str:
        """It in one line, as a person would type it."""
        return " ".join([base_name(self.words[0]), *self.words[1:]])

    @property
    def took_s(self) -> float:
        """How long it took, of the run's time."""
        if self.returned is None:
            return 0.0
        return (self.returned.at_us - self.record.at_us) / SECOND_US


@dataclass(slots=True)
class ScriptRun:
    """One run of the runbook: its start, its end, if it came, and its calls in order."""

    started: Record
    ended: Record | None = None
    calls: list[Call] = field(default_factory=list)

    @property
    def status(self) -> int | None:
        """What it ended with."""
        return None if self.ended is None else self.ended.facts.get("exit")

    @property
    def actions(self) -> list[Record]:
        """All that its calls did, in order, as far as it was not refused."""
        deeds = [action for call in self.calls for action in call.actions]
        return sorted(
            (one for one in deeds if one.facts.get("ok", True)), key=lambda one: one.number
        )


def script_runs(records: Iterable[Record]) -> tuple[ScriptRun, ...]:
    """The runs of the runbook, one after another."""
    runs: list[ScriptRun] = []
    under_way: list[Call] = []
    for record in records:
        if record.event == "runbook":
            if "exit" not in record.facts:
                runs.append(ScriptRun(record))
            elif runs and runs[-1].ended is None:
                runs[-1].ended = record
            under_way = []
        elif not runs or runs[-1].ended is not None:
            continue
        elif record.event == "call":
            call = Call(record, tuple(str(word) for word in record.facts["argv"]))
            runs[-1].calls.append(call)
            under_way.append(call)
        elif record.event == "return":
            _returned(record, under_way)
        elif record.event == "action" and under_way:
            under_way[-1].actions.append(record)
    return tuple(runs)


def _returned(record: Record, under_way: list[Call]) -> None:
    """Note the end of the first call of these words that is under way."""
    words, node = tuple(str(word) for word in record.facts["argv"]), record.facts["node"]
    for call in under_way:
        if call.words == words and call.record.facts["node"] == node:
            call.returned = record
            under_way.remove(call)
            return


def base_name(word: str) -> str:
    """A program's name without its folder."""
    return word.rpartition("/")[2]


def unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command without the ``sudo -n``, ``timeout 30`` or ``env A=1`` before it.

    >>> unwrapped(("sudo", "-n", "timeout", "-k", "5", "30s", "nvidia-smi", "-L"))
    ('nvidia-smi', '-L')
    """
    rest = list(words)
    while len(rest) > 1 and base_name(rest[0]) in WRAPPERS:
        wrapper = base_name(rest.pop(0))
        while rest and (rest[0].startswith("-") or "=" in rest[0]):
            option = rest.pop(0)
            takes_value = option in _WITH_VALUE and not (wrapper == "sudo" and option == "-n")
            if takes_value and rest:
                rest.pop(0)
        if wrapper in ("timeout", "chroot") and len(rest) > 1:
            rest.pop(0)
    return tuple(rest) or words
