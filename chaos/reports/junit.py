"""For continuous integration: JUnit's XML. A scenario is a suite, an expectation a case.

A case that failed is a ``failure``; a scenario of which nobody knows has an ``error``.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from chaos.reports import Reported, seconds
from chaos.verdict import Judged, Verdict
from fakes.clock import SECOND_US


def write(results: Sequence[Reported]) -> str:
    """The document."""
    suites = ElementTree.Element("testsuites", name="gpuchaos")
    for one in results:
        _suite(suites, one)
    ElementTree.indent(suites)
    text: str = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(suites: ElementTree.Element, reported: Reported) -> None:
    result = reported.result
    others = [
        *(f"false page: {page.kind} on {page.subject}" for page in result.false_pages),
        *(f"not steady: {text}" for text in result.unsteady),
    ]
    failures = sum(not one.outcome.ok for one in result.judged) + len(others)
    unknown = result.verdict is Verdict.UNKNOWN
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        name=result.scenario,
        tests=str(len(result.judged) + len(others) + unknown),
        failures=str(failures),
        errors=str(int(unknown)),
        time=f"{reported.real_s:.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("seed", str(result.seed)), ("again", reported.again)):
        ElementTree.SubElement(properties, "property", name=name, value=value)
    for judged in result.judged:
        _case(suite, reported, judged)
    for text in others:
        case = _named(suite, reported, text)
        ElementTree.SubElement(case, "failure", message=_clean(text))
    if reported.findings:
        said = "\n".join(f"line {one.line}: {one.slug}: {one.text}" for one in reported.findings)
        ElementTree.SubElement(suite, "system-out").text = _clean(said)
    if unknown:
        case = _named(suite, reported, "verdict")
        why = _clean("; ".join(result.unknown))
        ElementTree.SubElement(case, "error", message=f"unknown: {why}")


def _case(suite: ElementTree.Element, reported: Reported, judged: Judged) -> None:
    expectation, outcome = judged.expectation, judged.outcome
    case = _named(suite, reported, f"{expectation.position}: {expectation.text}")
    case.set("file", expectation.place.file)
    case.set("line", str(expectation.place.line))
    if outcome.measured_us is not None:
        case.set("time", f"{outcome.measured_us / SECOND_US:.3f}")
    if not outcome.ok:
        failure = ElementTree.SubElement(case, "failure", message=_clean(outcome.why))
        failure.text = _clean(
            f"{expectation.place}: {outcome.why}; measured {seconds(outcome.measured_us)}; "
            f"journal lines {list(outcome.lines)}; again: {reported.again}"
        )


def _named(suite: ElementTree.Element, reported: Reported, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=reported.result.scenario, name=_clean(name)
    )


def _clean(text: str) -> str:
    """Without characters that XML does not know."""
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
