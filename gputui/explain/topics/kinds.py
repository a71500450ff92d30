"""Kinds of incidents: what each means, which causes it may have, and how it is noticed."""

from __future__ import annotations

import inspect

from gputui.explain.explanation import Explanation, advice, next_steps
from gputui.facts.compat import Version
from gputui.facts.words import kind_table

KNOWN = "a kind of incident (GpuLost)"


def explain(question: str, driver: Version | None) -> Explanation | None:
    """A kind by its name, in any case of letters."""
    wanted = question.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    for fact in kind_table().facts.values():
        if fact.kind.lower() == wanted:
            return of_kind(fact.kind)
    return None


def of_kind(kind: str) -> Explanation | None:
    """What is known of a kind, with the words of the rule that notices it."""
    fact = next((one for one in kind_table().facts.values() if one.kind == kind), None)
    if fact is None:
        return None
    return Explanation(
        about="incident",
        title=fact.kind,
        meaning=fact.meaning,
        cause=" | ".join(fact.causes),
        action=fact.action,
        action_text=advice(fact.action),
        details=_noticed(fact.kind),
        source=fact.source,
        next_steps=next_steps(fact.action),
    )


def _noticed(kind: str) -> tuple[str, ...]:
    from gputui.incidents.rules import all_rules

    found = []
    for rule in all_rules():
        if rule.kind != kind:
            continue
        for look in (rule.on_sample, rule.on_log, rule.on_job):
            words = inspect.getdoc(look) if look is not None else None
            if words:
                found.append(f"noticed: {' '.join(words.split())}")
    return tuple(dict.fromkeys(found))
