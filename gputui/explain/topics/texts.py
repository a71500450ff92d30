"""Texts that jobs print: PyTorch, NCCL, CUDA, TensorFlow, containers."""

from __future__ import annotations

from dataclasses import replace

from gputui.explain.explanation import Explanation
from gputui.explain.topics.codes import of_text
from gputui.facts.compat import Version
from gputui.logs.statement import statement_of
from gputui.logs.text_facts import TextFact, cuda_facts, text_facts
from gputui.logs.texts import Match, match
from gputui.text import decoded

KNOWN = 'the text of an error, as a job printed it ("CUDA out of memory. Tried to ...")'

_LEAST_LETTERS = 8


def explain(question: str, driver: Version | None) -> Explanation | None:
    """The first line with a known text; else a known text that has these words in it."""
    for line in question.splitlines():
        statement = statement_of(decoded(line.encode()))
        known = match(statement) if statement is not None else None
        if known is not None:
            return _of_match(known)
    fact = _with_words(question)
    return None if fact is None else of_text(fact, ("these words are part of this text",))


def _of_match(known: Match) -> Explanation:
    found = of_text(known.fact)
    details = tuple(f"{name}: {value}" for name, value in known.fields if value)
    values = dict(known.fields)
    return replace(
        found,
        details=details,
        meaning=_filled(found.meaning, values),
        action_text=_filled(found.action_text, values),
    )


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text


def _with_words(question: str) -> TextFact | None:
    wanted = " ".join(question.lower().split())
    if len(wanted) < _LEAST_LETTERS:
        return None
    facts = [*text_facts().values(), *cuda_facts().values()]
    for fact in facts:
        if wanted in fact.text.lower() or (fact.text and fact.text.lower() in wanted):
            return fact
    return next((fact for fact in facts if wanted in fact.example.lower()), None)
