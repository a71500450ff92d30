"""What is known of the texts that jobs print: ``facts/texts.tsv`` and ``facts/cuda_errors.tsv``.

Each row is one text: how it is recognised, whom it blames, what to do about it, and where it comes
from. Which of a job's texts decides, and what the numbers in it say, is for the rules to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from gputui.model import Action

_FOLDER = Path(__file__).parents[1] / "facts"


class Where(Enum):
    """Where in a statement a text may begin (``gputui/logs/texts.py``)."""

    START = "start"
    """At its start, or after the name of an exception."""
    RAISED = "raised"
    """After the name of an exception, or where the logger calls it grave."""
    NCCL = "nccl"
    """After NCCL WARN, or at the start: a program repeats NCCL's last error."""
    INFO = "info"
    """As NCCL, and after NCCL INFO."""
    NVLS = "nvls"
    """After NCCL WARN, from the file of NCCL that uses NVLink's multicast."""
    CUDA = "cuda"
    """After the announcement of a CUDA error."""
    CUDNN = "cudnn"
    """After the announcement of a cuDNN error, or of an exception."""
    CHAIN = "chain"
    """In a chain of a container runtime's errors: ``failed to ...: OCI ...: ...``."""


class Role(Enum):
    """What a text is worth for the question why a job failed."""

    CAUSE = "cause"
    SYMPTOM = "symptom"
    """It follows from something else, and is believed only where nothing else is known."""
    HINT = "hint"
    """Nothing has failed; it explains what is slow, or what may fail later."""
    CONTEXT = "context"
    """It means nothing by itself, but is looked up when something else does."""


@dataclass(frozen=True, slots=True)
class TextFact:
    """One text.

    ``regex`` matches from where the text begins (:func:`compiled`); ``needles`` are pieces of which
    every match has one. ``family`` is the class of the text (``oom``, ``nccl-net`` ...); ``kind``
    and ``cause`` are those of the incident that it makes, empty where it makes none. ``meaning``
    and ``advice`` may name parts of the text in braces. ``code`` is the number of a CUDA error,
    ``names`` the names that the runtime and the driver have for it, ``text`` its words.
    """

    id: str
    family: str
    kind: str
    cause: str
    action: Action
    role: Role
    meaning: str
    advice: str
    source: str
    where: Where = Where.CUDA
    regex: str = ""
    needles: tuple[str, ...] = ()
    example: str = ""
    code: int | None = None
    names: tuple[str, ...] = ()
    text: str = ""


@cache
def text_facts() -> Mapping[str, TextFact]:
    """The texts that are told by a pattern, by their ids, in the order in which they are tried."""
    return {fact.id: fact for fact in map(_text_fact, _rows("texts.tsv"))}


@cache
def cuda_facts() -> Mapping[int, TextFact]:
    """The errors of the CUDA runtime, by their codes."""
    facts = (
        TextFact(
            id=row["id"],
            family=row["class"],
            kind=row["kind"],
            cause=row["cause"],
            action=Action(row["action"]),
            role=Role.CAUSE,
            meaning=row["meaning"],
            advice=row["advice"],
            source=row["source"],
            code=int(row["code"]),
            names=tuple(name for name in (row["name"], row["driver_name"]) if name),
            text=row["text"],
        )
        for row in _rows("cuda_errors.tsv")
    )
    return {fact.code: fact for fact in facts if fact.code is not None}


@cache
def _by_id() -> Mapping[str, TextFact]:
    return {**{fact.id: fact for fact in cuda_facts().values()}, **text_facts()}


@cache
def compiled(regex: str) -> re.Pattern[str]:
    """A row's expression, compiled when it is first needed: most never are."""
    return re.compile(regex)


def text_fact(pattern: str) -> TextFact | None:
    """What is known of a text, by its id; None for one that these facts do not have."""
    return _by_id().get(pattern)


def _text_fact(row: Mapping[str, str]) -> TextFact:
    return TextFact(
        id=row["id"],
        family=row["class"],
        kind=row["kind"],
        cause=row["cause"],
        action=Action(row["action"]),
        role=Role(row["role"]),
        meaning=row["meaning"],
        advice=row["advice"],
        source=row["source"],
        where=Where(row["where"]),
        regex=row["regex"],
        needles=tuple(row["needles"].split("|")),
        example=row["example"],
    )


def _rows(name: str) -> Iterator[Mapping[str, str]]:
    """The rows of a file of tab-separated values, in which nothing is quoted."""
    with (_FOLDER / name).open(encoding="utf-8", newline="\n") as lines:
        names = next(lines).rstrip("\n").split("\t")
        for line in lines:
            yield dict(zip(names, line.rstrip("\n").split("\t"), strict=True))
