"""Words on screens and in logs: reasons of clocks, states, causes, results of NVML and NCCL."""

from __future__ import annotations

from gputui.explain.explanation import Explanation, advice, next_steps
from gputui.facts.compat import Version
from gputui.facts.words import WordFact, kind_table, word_table

KNOWN = (
    "a reason of clocks, a state, a recovery action, a cause, or a result of NVML or NCCL "
    "(sw_power_cap, LOST, Drain and Reset, hosts-loopback, NVML_ERROR_GPU_IS_LOST)"
)


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
    kinds = [one.kind for one in kind_table().facts.values() if fact.word in one.causes]
    return Explanation(
        about=fact.group,
        title=fact.word,
        meaning=fact.meaning,
        action=fact.action,
        action_text=advice(fact.action),
        source=fact.source,
        cause=f"of {', '.join(kinds)}" if kinds and fact.group == "cause" else "",
        next_steps=next_steps(fact.action),
    )
