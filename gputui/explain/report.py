"""An explanation, written for people and for machines."""

from __future__ import annotations

import json
import textwrap

from gputui.explain.explanation import Explanation

_WIDTH = 96


def text(found: Explanation) -> str:
    """What it means and what to do first; then who says what, and where it is from."""
    lines = [found.title, *_wrapped("", found.meaning[:1].upper() + found.meaning[1:])]
    if found.cause:
        lines += _wrapped("cause   ", found.cause)
    if found.severity is not None:
        lines.append(f"grave   {found.severity.word}")
    lines += _wrapped("do      ", found.action_text)
    lines += [f"        $ {step}" for step in found.next_steps]
    for detail in found.details:
        lines += _wrapped("  - ", detail)
    if found.verdicts:
        lines.append("who says what, and they differ:" if found.disputed else "who says what:")
        width = max(len(one.vendor) for one in found.verdicts)
        lines += [
            f"  {one.vendor.ljust(width)}  {one.word:<28} {one.meaning}" for one in found.verdicts
        ]
    lines += _wrapped("source  ", found.source)
    return "\n".join(lines) + "\n"


def as_json(question: str, found: Explanation) -> str:
    """One object."""
    shown = {
        "question": question,
        "about": found.about,
        "title": found.title,
        "meaning": found.meaning,
        "cause": found.cause,
        "severity": None if found.severity is None else found.severity.word,
        "action": found.action.value,
        "action_text": found.action_text,
        "next": list(found.next_steps),
        "details": list(found.details),
        "disputed": found.disputed,
        "verdicts": [
            {
                "vendor": one.vendor,
                "says": one.word,
                "meaning": one.meaning,
                "severity": None if one.gravity is None else one.gravity.word,
                "source": one.source,
            }
            for one in found.verdicts
        ],
        "source": found.source,
    }
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _wrapped(head: str, words: str) -> list[str]:
    return textwrap.wrap(words, _WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [
        head.rstrip()
    ]
