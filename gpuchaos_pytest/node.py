"""A fake node for tests in Python: faults in, programs on it, and what became of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType
from typing import Any

from gpuchaos_pytest.program import own_program

_MOST_TOLD = 60

Record = Mapping[str, Any]
"""A line of the journal: ``t``, ``event``, and what belongs to the event."""


class GpuNodeError(Exception):
    """The node could not do what was asked. One sentence."""


@dataclass(frozen=True, slots=True)
class Done:
    """A program that ran on the node. ``exit`` is None if it had to be ended; ``unknown`` are
    sentences on what it did and nobody can judge: a command that no look-alike understands, say.
    """

    argv: tuple[str, ...]
    exit: int | None
    output: str
    unknown: tuple[str, ...] = ()

    def check(self) -> Done:
        """Itself, if it ended with 0 and everything it did was understood."""
        text = " ".join(self.argv)
        if self.unknown:
            raise AssertionError(f"'{text}' cannot be judged: {'; '.join(self.unknown)}")
        if self.exit != 0:
            how = "did not end in time" if self.exit is None else f"ended with {self.exit}"
            raise AssertionError(f"'{text}' {how}; it printed:\n{self.output}")
        return self


class GpuNode:
    """A fake node, in virtual time: no second of it passes by itself.

    It has a training job on every GPU unless it is ``idle``, and Slurm, unless ``scheduler`` is
    None. A number as ``gpu`` means that GPU of node n0.
    """

    def __init__(
        self,
        *,
        model: str = "h100-sxm",
        gpus: int = 8,
        nodes: int = 1,
        idle: bool = False,
        scheduler: str | None = "slurm",
        seed: int = 0,
    ) -> None:
        spec = {
            "model": model,
            "gpus": gpus,
            "nodes": nodes,
            "idle": idle,
            "scheduler": scheduler,
            "seed": seed,
        }
        self.journal: list[Record] = []
        self.now_s = 0.0
        self._unknown: list[str] = []
        self._process = subprocess.Popen(
            own_program("chaos.virtual.by_hand", json.dumps(spec)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for pytest, which then closes it
        )
        try:
            self._take(self._reply())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> GpuNode:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it, and all that runs on it."""
        self.close()

    def close(self) -> None:
        """End it, and all that runs on it."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    # --- what can be done -------------------------------------------------------------------------

    def inject(self, fault: str, *, for_: str | None = None, **arguments: object) -> str:
        """Break something, for a while or until it is healed; the fault's id."""
        words = {name.rstrip("_"): _words(value) for name, value in arguments.items()}
        request: dict[str, Any] = {"do": "inject", "fault": fault, "arguments": words}
        if for_ is not None:
            request["for"] = for_
        return str(self._ask(request)["id"])

    def heal(self, fault_id: str = "all") -> list[str]:
        """Take a fault back, or all; the ids of what was healed."""
        return list(self._ask({"do": "heal", "id": fault_id})["healed"])

    def run(
        self,
        *argv: str | Path,
        on: str = "n0",
        within: str = "1h",
        folder: str | Path | None = None,
    ) -> Done:
        """Run a program on a node, until it ends, or is ended after a time on the run's clock.

        Its directory is the current one, or ``folder``; a file there comes before a program on
        PATH.
        """
        words = [str(word) for word in argv]
        reply = self._ask(
            {
                "do": "run",
                "argv": words,
                "folder": str(Path(folder or Path.cwd()).resolve()),
                "on": on,
                "within": within,
            }
        )
        return Done(tuple(words), reply["exit"], reply["output"], tuple(self._unknown))

    def advance(self, duration: str | float) -> None:
        """Let time pass: ``"2m"``, or seconds."""
        self._ask({"do": "advance", "for": _duration(duration)})

    def wait(self, incident: str, *, within: str | float = "5m") -> Record:
        """Let time pass until an incident of a kind is open; the incident."""
        reply = self._ask({"do": "advance", "for": _duration(within), "incident": incident})
        if not reply["opened"]:
            kinds = ", ".join(sorted({one["kind"] for one in self.incidents()})) or "none"
            raise AssertionError(f"no {incident} opened within {within}; there were: {kinds}")
        return self.incidents(incident)[-1]

    # --- what came of it --------------------------------------------------------------------------

    def actions(self, action: str | None = None, **where: object) -> list[Record]:
        """What was done, by whatever command: ``actions("drain", node="n0")``. What was refused is
        not among them.
        """
        return [
            one
            for one in self.journal
            if one["event"] == "action"
            and one.get("ok", True)
            and action in (None, one["action"])
            and all(one.get(name) == value for name, value in where.items())
        ]

    def incidents(self, kind: str | None = None) -> list[Record]:
        """The incidents that opened, each as it is now; those of a kind."""
        latest: dict[str, Record] = {}
        for one in self.journal:
            if one["event"] == "incident":
                latest[one["incident"]["id"]] = one["incident"]
        return [one for one in latest.values() if kind in (None, one["kind"])]

    def calls(self, pattern: str = "*") -> list[str]:
        """The calls of look-alike commands, by the program's base name; ``*`` is anything."""
        lines = [_line(one) for one in self.journal if one["event"] == "call"]
        return [line for line in lines if fnmatchcase(line.lower(), pattern.lower())]

    def told(self) -> str:
        """The last lines of the journal, for a report."""
        shown = [one for one in self.journal if one["event"] != "reading"][-_MOST_TOLD:]
        return "\n".join(
            f"{one['t']:10.2f} s  {one['event']:9}{_facts(one)}"[:300] for one in shown
        )

    # --- the process ------------------------------------------------------------------------------

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._process.stdin is None or self._process.stdin.closed:
            raise GpuNodeError("the fake node has been closed.")
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise GpuNodeError("the fake node has ended.") from error
        reply = self._reply()
        self._take(reply)
        return reply

    def _reply(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise GpuNodeError("the fake node has ended; what it said is on standard error.")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise GpuNodeError(str(reply["error"]))
        return reply

    def _take(self, reply: Mapping[str, Any]) -> None:
        self.now_s = float(reply["now_s"])
        self.journal += reply["records"]
        self._unknown = list(reply["unknown"])


def _words(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _duration(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value * 1000)}ms"


def _line(record: Record) -> str:
    name, *arguments = record["argv"]
    return " ".join([str(name).rpartition("/")[2], *map(str, arguments)])


def _facts(record: Record) -> str:
    if record["event"] == "incident":
        incident = record["incident"]
        return f"{incident['kind']} {incident['subject']} {incident['cause']}"
    if record["event"] in ("call", "return", "runbook"):
        return _line(record) + (f" -> {record['exit']}" if "exit" in record else "")
    facts = {name: value for name, value in record.items() if name not in ("t", "event")}
    return " ".join(f"{name}={value}" for name, value in facts.items())
