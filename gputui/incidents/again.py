"""What a case that is told of again keeps of what was known before."""

from __future__ import annotations

from collections.abc import Mapping

from gputui.incidents.case import Case, CaseKey
from gputui.incidents.rule import Finding, Rule
from gputui.revision import reviser

_revised = reviser(Finding)


def told_again(cases: Mapping[CaseKey, Case], rule: Rule, finding: Finding) -> tuple[Finding, int]:
    """A finding with what is known of its case already, and how often that happened before as
    incidents of its own which it is the first to cover.
    """
    known = cases.get((rule.kind, finding.subject.name, finding.key))
    earlier = _counted_apart(cases, rule, finding, known) if finding.covers else 0
    return _with_known_causes(finding, known), earlier


def _with_known_causes(finding: Finding, known: Case | None) -> Finding:
    """A finding with the causes that its open case was told with: they brought it about, whether or
    not they are told each time that it happens again.
    """
    if known is None or not known.is_open:
        return finding
    if known.finding.under == finding.under:
        return finding
    under = dict.fromkeys((*known.finding.under, *finding.under))
    return _revised(finding, under=tuple(under))


def _counted_apart(
    cases: Mapping[CaseKey, Case], rule: Rule, finding: Finding, known: Case | None
) -> int:
    """How often that happened, as incidents of its own, which a finding is the first to cover."""
    before = known.finding.covers if known is not None and known.is_open else ()
    keys = ((rule.kind, name, finding.key) for name in finding.covers if name not in before)
    apart = (cases.get(key) for key in keys)
    return sum(
        case.incident.count
        for case in apart
        if case is not None and case is not known and case.is_open and case.incident is not None
    )
