"""Words on screens and in nvidia-smi: reasons of clocks, states of GPUs, recovery actions."""

from __future__ import annotations

from gputui.explain.explanation import Explanation, advice, next_steps
from gputui.facts.compat import Version
from gputui.facts.words import WordFact, word_table

KNOWN = "a reason of clocks, a state or a recovery action (sw_power_cap, LOST, Drain and Reset)"


def explain(question: str, driver: Version | None) -> Explanation | None:
    """A word, as any program writes it."""
    wanted = _plain(question)
    for fact in word_table().facts.values():
        if wanted in {_plain(word) for word in (fact.word, *fact.also)}:
            return _of_word(fact)
    return None


def _plain(word: str) -> str:
    last = word.strip().lower().rpartition(".")[2] if "clocks_" in word else word.strip().lower()
    return last.replace("_", " ").replace("-", " ")


def _of_word(fact: WordFact) -> Explanation:
    return Explanation(
        about=fact.group,
        title=fact.word,
        meaning=fact.meaning,
        action=fact.action,
        action_text=advice(fact.action),
        source=fact.source,
        next_steps=next_steps(fact.action),
    )
