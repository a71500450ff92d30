"""A fake node in virtual time that is played by hand: what the fixture ``gpu_node`` talks to.

It lives in a process of its own, so that nothing of ours is imported into the tests' process, and
reads requests as JSON lines:

=======================================================  =========================================
request                                                  what it does
=======================================================  =========================================
``{"do": "inject", "fault", "arguments", "for"?}``       breaks something; replies its ``id``
``{"do": "heal", "id": "xid-1"}``, or ``"all"``          takes it back; replies ``healed``
``{"do": "run", "argv", "folder", "on"?, "within"?}``    a program on the node, until it ends;
                                                         replies ``exit`` (null: it was ended) and
                                                         ``output``
``{"do": "advance", "for", "incident"?}``                lets time pass; until an incident of a kind
                                                         is open, if one is named; replies
                                                         ``opened``
=======================================================  =========================================

Every reply has ``now_s``, the journal's new ``records``, and ``unknown``: sentences on what cannot
be judged. A mistake is answered by ``{"error": "one sentence"}``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos.errors import UsageError, did_you_mean, quoted
from chaos.fault import ArgumentError, FaultError, check_selections, parse_fault
from chaos.fleet import Fleet, Given, training
from chaos.format.runbook_file import PLAYBOOKS, PLAYER, found_beside, what_is_wrong
from chaos.format.values import BadValueError, Duration, convert
from chaos.journal import Journal
from chaos.judging.matching import incident_kinds
from chaos.run import UnknownFaultError
from chaos.scenario import Scenario
from chaos.terms import Runbook
from chaos.virtual.rehearsal import Rehearsal
from chaos.virtual.under_test import Started, UnderTest, environment, words_of
from chaos.virtual.watching import Watching
from fakes.profile import models
from gputui.model import Incident

_LONGEST = "1h"
"""How long, on the run's clock, a program may take if nothing else is said."""


class ByHand(Rehearsal):
    """A run without a timeline. Programs are started by request, and not by incidents."""

    def __init__(self, given: Given, seed: int, folder: Path) -> None:
        path = folder / "by-hand.yaml"
        scenario = Scenario("by-hand", "A node that is played by hand.", path, given, seed=seed)
        super().__init__(scenario, Journal(), Runbook(("sh",), folder, on=given.fleet.names[0]))
        self._watching: Watching | None = None

    @contextmanager
    def session(self) -> Iterator[None]:
        """While it is open, requests can be answered."""
        with self._stack:
            self._notes.start(self.scenario)
            grounds = self._grounds
            with self._notes.taken(), Watching(self._run) as self._watching, grounds.selector:
                grounds.register()
                try:
                    yield
                finally:
                    self._end_runbook()
                    self._end_what_was_left()
                    grounds.unregister()
            self._watching = None

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a request asks."""
        noted = len(self.journal.records)
        try:
            reply = self._obey(request)
        except (UsageError, ArgumentError, BadValueError, UnknownFaultError) as error:
            return {"error": str(error)}
        except FaultError as error:
            return {"error": f"{error}."}
        return {
            **reply,
            "now_s": self.world.now_us / 1e6,
            "unknown": list(self._run.problems),
            "records": [
                {"t": one.at_us / 1e6, "event": one.event, **one.facts}
                for one in self.journal.records[noted:]
            ],
        }

    def _obey(self, request: Mapping[str, Any]) -> dict[str, Any]:
        do = request.get("do")
        if do == "inject":
            return {"id": self._inject(request)}
        if do == "heal":
            return {"healed": self._heal(str(request.get("id")))}
        if do == "run":
            return self._run_program(request)
        if do == "advance":
            return self._let_pass(request)
        raise UsageError(f"unknown request {quoted(str(do))}.")

    def _inject(self, request: Mapping[str, Any]) -> str:
        words = {str(name): str(value) for name, value in request["arguments"].items()}
        fault = parse_fault(str(request["fault"]), words)
        check_selections(fault, self.scenario.inventory)
        duration = request.get("for")
        for_us = None if duration is None else convert(str(duration), Duration).us
        active = self._run.inject(fault, for_us=for_us)
        self._happened()
        return active.id

    def _heal(self, fault_id: str) -> list[str]:
        if fault_id == "all":
            healed = list(self._run.heal_all())
        else:
            self._run.heal(fault_id)
            healed = [fault_id]
        self._happened()
        return healed

    def _happened(self) -> None:
        """The world was changed: everybody sees it."""
        self._watched.happened()
        self._grounds.show(happened=True)
        self._note_incidents(self._watched)

    @property
    def _watched(self) -> Watching:
        if self._watching is None:
            raise RuntimeError("the session is not open")
        return self._watching

    def _let_pass(self, request: Mapping[str, Any]) -> dict[str, Any]:
        kind = request.get("incident")
        if kind is not None and kind not in incident_kinds():
            hint = did_you_mean(str(kind), incident_kinds(), "Known kinds")
            raise UsageError(f"unknown kind of incident {quoted(str(kind))}{hint}")
        end_us = self.world.now_us + convert(str(request["for"]), Duration).us
        while self.world.now_us < end_us and not self._is_open(kind):
            self._settle()
            self._jump(self._watched, end_us)
        return {"opened": self._is_open(kind)}

    def _is_open(self, kind: object) -> bool:
        return any(one.kind == kind for one in self._watched.incidents)

    def _run_program(self, request: Mapping[str, Any]) -> dict[str, Any]:
        argv, folder = [str(word) for word in request["argv"]], Path(str(request["folder"]))
        node = str(request.get("on") or self.scenario.given.fleet.names[0])
        if node not in self._grounds:
            raise UsageError(
                f"there is no node {quoted(node)}{did_you_mean(node, self._names, 'Nodes')}"
            )
        if not self._stage.outcome.contained:
            raise UsageError(
                f"the program is not started: it would be {self._stage.outcome.sentence()}."
            )
        if not argv:
            raise UsageError("there is no program to run.")
        if wrong := what_is_wrong(tuple(argv), folder):
            raise UsageError(wrong)
        end_us = self.world.now_us + convert(str(request.get("within") or _LONGEST), Duration).us
        words = (found_beside(argv[0], folder), *argv[1:])
        if len(words) == 1 and words[0].endswith(PLAYBOOKS):
            words = (PLAYER, "-i", "localhost,", "-c", "local", words[0])
        program = self._begin(words, node, folder)
        while self._under_test is not None and self.world.now_us < end_us:
            self._settle()
            if self._is_given_up:
                break
            if self._under_test is not None:
                self._jump(self._watched, end_us)
        self._end_runbook()
        self._jump(self._watched, self.world.now_us)
        ended = self.journal.records[-1::-1]
        status = next(one.facts["exit"] for one in ended if one.event == "runbook")
        return {"exit": status, "output": program.output.decode(errors="replace")}

    def _begin(self, words: tuple[str, ...], node: str, folder: Path) -> UnderTest:
        facts = {"node": node, "argv": words_of(words, folder), "incident": None}
        self.journal.write(self.world.now_us, "runbook", facts)
        entrance, variables = self._stage.entrance(node, words, environment(os.environ, {}))
        self._grounds.refresh_files(node)
        program = self._under_test = UnderTest(
            Started("", node, words), entrance, variables, folder, self._grounds.selector
        )
        self._grounds.wake()
        return program

    def _incident_told(self, incident: Incident) -> None:
        """Nothing is started by it."""


def _given(spec: Mapping[str, Any]) -> Given:
    model = str(spec.get("model", "h100-sxm"))
    if model not in models():
        raise UsageError(
            f"unknown model {quoted(model)}{did_you_mean(model, models(), 'Known models')}"
        )
    fleet = Fleet(
        nodes=int(spec.get("nodes", 1)),
        gpus=int(spec.get("gpus", 8)),
        model=model,
        scheduler=spec.get("scheduler", "slurm"),
    )
    return Given(fleet, () if spec.get("idle") else (training(fleet),))


def main() -> int:
    """Answer requests from standard input until its end."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints meanwhile does not print between two replies

    def reply(message: Mapping[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    spec = json.loads(sys.argv[1])
    try:
        played = ByHand(_given(spec), int(spec.get("seed", 0)), Path.cwd())
    except UsageError as error:
        reply({"error": str(error)})
        return 254
    with played.session():
        reply({"now_s": 0.0, "records": [], "unknown": []})
        for line in sys.stdin:
            reply(played.answer(json.loads(line)))
    return 0
