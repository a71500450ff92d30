"""What of a scenario makes no sense together, though each part of it reads.

Two expectations of which one must fail, what would come after the run has ended, and, of a test,
what nobody is there to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from chaos.errors import Mistakes, Place, ScenarioError, quoted
from chaos.expectation import Expectation
from chaos.expectations.action import ActionExpected
from chaos.expectations.call import CallExpected
from chaos.expectations.exit import ExitExpected
from chaos.expectations.incident import IncidentExpected
from chaos.expectations.never import NeverExpected
from chaos.format.values import Duration
from chaos.judging.matching import ActionMatch, CallMatch, IncidentMatch, Where
from chaos.scenario import Entry, Heal, Scenario
from chaos.selection import Inventory
from chaos.terms import Terms


def check_together(
    timeline: Sequence[Entry], terms: Terms, inventory: Inventory, mistakes: Mistakes
) -> None:
    """Note what contradicts something else, or comes too late."""
    for one in terms.expectations:
        if one.position:
            _check_time(one, timeline, terms, mistakes)
    after_us = terms.stop.after_us
    for entry in timeline:
        if after_us is not None and entry.at_us >= after_us:
            mistakes.add(
                entry.place,
                f"it would come at {Duration(entry.at_us)}, and the run stops after "
                f"{Duration(after_us)}.",
            )
    _check_heals(timeline, mistakes)
    for first, second in combinations(terms.expectations, 2):
        # What a runbook's exit says has no line of its own: it stands at the end.
        earlier, later = (first, second) if second.position else (second, first)
        problem = _contradiction(first, second, inventory)
        if problem:
            mistakes.add(later.place, f"{problem} (line {earlier.place.line}).")


def _check_heals(timeline: Sequence[Entry], mistakes: Mistakes) -> None:
    """Note what is healed before it breaks, twice, or was never broken."""
    by_id = {entry.id: entry for entry in timeline if entry.id is not None}
    healed: dict[str, Entry] = {}
    for entry in timeline:
        broken = by_id.get(entry.what.id) if isinstance(entry.what, Heal) else None
        if broken is None or broken.id is None:
            continue
        name = quoted(broken.id)
        if isinstance(broken.what, Heal):
            problem = f"{name} is itself a heal: there is nothing to take back."
        elif broken.id in healed:
            problem = f"{name} is healed already (line {healed[broken.id].place.line})."
        elif entry.at_us < broken.at_us:
            problem = f"{name} comes only at {Duration(broken.at_us)}: heal it after that."
        else:
            healed[broken.id] = entry
            continue
        mistakes.add(entry.place, f"heal: {problem}")


def _check_time(
    one: Expectation, timeline: Sequence[Entry], terms: Terms, mistakes: Mistakes
) -> None:
    after_us = terms.stop.after_us
    if after_us is None or one.within_us is None or not timeline:
        return
    starts_us = {entry.id: entry.at_us for entry in timeline if entry.id is not None}
    begins_us = min(entry.at_us for entry in timeline)
    from_us = begins_us if one.since is None else starts_us.get(one.since, begins_us)
    decided_us = from_us + one.within_us + one.hold_us
    if decided_us > after_us:
        mistakes.add(
            one.place,
            f"it has until {Duration(decided_us)} on the run's clock, and the run stops after "
            f"{Duration(after_us)}.",
        )


def _contradiction(first: Expectation, second: Expectation, inventory: Inventory) -> str:
    """Why two cannot both be met, or are one; empty if they get along."""
    if first.position and second.position and first.text == second.text:
        return "the same is expected twice"
    for never, other in ((first, second), (second, first)):
        if _forbids(never, other, inventory):
            return "it cannot come and never happen"
    one, two = first.expected, second.expected
    if isinstance(one, ExitExpected) and isinstance(two, ExitExpected):
        same = one.exit == two.exit
        return "" if same else "the runbook cannot end with two statuses"
    return ""


def _forbids(never: Expectation, other: Expectation, inventory: Inventory) -> bool:
    """Whether one forbids, at any time, all that would meet the other."""
    deed = never.expected
    if not isinstance(deed, NeverExpected) or deed.until or deed.except_ or never.since:
        return False
    if never.within_us is not None:
        return False
    forbidden, wanted = deed.never.match(inventory), _match(other, inventory)
    if isinstance(forbidden, ActionMatch) and isinstance(wanted, ActionMatch):
        return forbidden.action is wanted.action and _includes(forbidden.where, wanted.where)
    if isinstance(forbidden, IncidentMatch) and isinstance(wanted, IncidentMatch):
        return (
            forbidden.kind == wanted.kind
            and forbidden.cause in (None, wanted.cause)
            and _includes(forbidden.where, wanted.where)
        )
    if isinstance(forbidden, CallMatch) and isinstance(wanted, CallMatch):
        same = forbidden.call.text == wanted.call.text
        return same and _includes(forbidden.where, wanted.where)
    return False


def _match(
    one: Expectation, inventory: Inventory
) -> ActionMatch | CallMatch | IncidentMatch | None:
    expected = one.expected
    if isinstance(expected, IncidentExpected):
        return expected.match(inventory)
    if isinstance(expected, ActionExpected | CallExpected):
        return expected.match(inventory)
    return None


def _includes(wide: Where, narrow: Where) -> bool:
    """Whether all that is meant by one is meant by the other."""
    gpus = wide.gpus is None or (narrow.gpus is not None and narrow.gpus <= wide.gpus)
    narrow_nodes = narrow.nodes
    if narrow_nodes is None and narrow.gpus is not None:
        narrow_nodes = frozenset(node for node, _ in narrow.gpus)
    nodes = wide.nodes is None or (narrow_nodes is not None and narrow_nodes <= wide.nodes)
    return gpus and nodes and wide.job in (None, narrow.job)


def check_somebody_acts(scenario: Scenario) -> None:
    """Refuse a test in which nobody could do what is expected. In a game people can."""
    if scenario.terms.runbook is None:
        for place, what in _deeds(scenario.terms.expectations):
            problem = f"{what} is expected, and there is no runbook: nobody can do it in a test."
            raise ScenarioError(place, problem)


def _deeds(expectations: Sequence[Expectation]) -> Iterator[tuple[Place, str]]:
    for one in expectations:
        if isinstance(one.expected, ActionExpected):
            yield one.place, "an action"
        elif isinstance(one.expected, CallExpected):
            yield one.place, "a call"
        elif isinstance(one.expected, ExitExpected):
            yield one.place, "an end of the runbook"
