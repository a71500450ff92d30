"""Numbers: Xids, SXids and errors of CUDA, and the names that NVIDIA has for them."""

from __future__ import annotations

import re

from gputui.explain.explanation import Explanation, advice, next_steps
from gputui.explain.topics.endings import of_exit_code
from gputui.facts.compat import Version
from gputui.facts.sxid import SxidFact, sxid_fact, sxid_table
from gputui.facts.xid import XidFact, xid_fact, xid_table
from gputui.incidents.verdict import RECOVERY_ACTION_CHANGED
from gputui.logs.text_facts import TextFact, cuda_facts
from gputui.model import Action

KNOWN = "an Xid (79), an SXid (SXid 20009), a CUDA error (CUDA error 802), or NVIDIA's name of one"

_NUMBER = re.compile(
    r"(?:(?P<what>s?xid|cuda(?: runtime)?(?: error)?|error)\s*[:#(]?\s*)?"
    r"(?P<code>0x[0-9a-f]{1,8}|\d{1,9})\)?"
    r"(?:\s*,?\s*(?P<word>(?:link )?fatal|non-?fatal|correctable)\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Behind an SXid's number the driver says how bad it is."""

_BY_SIGNAL = 128
"""Exit codes above it name a signal."""

_LEAST_SXID = 10_000
_MOST_XID = 999


def explain(question: str, driver: Version | None) -> Explanation | None:
    """A bare number is an Xid if it is one, else an SXid or an error of CUDA."""
    found = _NUMBER.fullmatch(question.strip())
    if found is None:
        return _by_name(question.strip())
    digits, what = found["code"].lower(), (found["what"] or "").lower()
    code = int(digits, 16 if digits.startswith("0x") else 10)
    what = what or ("sxid" if found["word"] else "")
    if not what and digits.startswith("0x") and (code & (code - 1) == 0 or code > _MOST_XID):
        return None  # a single bit is a reason of clocks
    if what == "xid":
        return of_xid(xid_fact(code))
    if what == "sxid":
        return of_sxid(sxid_fact(code))
    cuda = cuda_facts().get(code)
    if what:
        return of_text(cuda) if cuda is not None else None
    if xid_fact(code).known:
        also = [] if cuda is None else [f"CUDA error {code} is another thing: {cuda.text}"]
        if code > _BY_SIGNAL and (ending := of_exit_code(code)):
            meaning = f"{ending.meaning[0].lower()}{ending.meaning[1:]}"
            also.append(f"exit code {code} is another thing ({ending.title}): {meaning}")
        return of_xid(xid_fact(code), tuple(also))
    if code >= _LEAST_SXID:
        return of_sxid(sxid_fact(code))
    return of_text(cuda) if cuda is not None else of_xid(xid_fact(code))


def of_xid(fact: XidFact, details: tuple[str, ...] = ()) -> Explanation:
    """An Xid as the tables have it."""
    if not fact.known:
        details = (
            *details,
            "No catalogue has this code, so nothing is guessed: go by what the line itself says, "
            "by an Xid 154 after it, and by the recovery action of nvidia-smi -q.",
        )
    if fact.code == RECOVERY_ACTION_CHANGED:
        return _recovery_action(fact, details)
    return Explanation(
        about="xid",
        title=f"Xid {fact.code}  {fact.name}".rstrip(),
        meaning=fact.meaning,
        cause=fact.cause + (f" ({fact.at_fault})" if fact.at_fault else ""),
        severity=fact.severity,
        action=fact.action,
        action_text=advice(fact.action),
        details=details,
        verdicts=fact.verdicts,
        disputed=fact.disputed,
        source=fact.source or "no source: the code is unknown",
        next_steps=next_steps(fact.action),
    )


def _recovery_action(fact: XidFact, details: tuple[str, ...]) -> Explanation:
    """Of itself it asks for nothing: what is to be done stands in its line."""
    return Explanation(
        about="xid",
        title=f"Xid {fact.code}  {fact.name}".rstrip(),
        meaning=fact.meaning,
        cause=fact.cause,
        severity=fact.severity,
        action=Action.IGNORE,
        action_text="do what the line names as the new action",
        details=details,
        verdicts=fact.verdicts,
        disputed=fact.disputed,
        source=fact.source,
        next_steps=("nvidia-smi -q -i N | grep -i -A1 recovery",),
    )


def of_sxid(fact: SxidFact, details: tuple[str, ...] = ()) -> Explanation:
    """An SXid as the tables have it."""
    if not fact.known:
        details = (*details, "The driver's table does not have this code: nothing is guessed.")
    return Explanation(
        about="sxid",
        title=f"SXid {fact.code}  {fact.name}".rstrip(),
        meaning=fact.meaning,
        cause=fact.cause,
        severity=fact.severity,
        action=fact.action,
        action_text=advice(fact.action),
        details=details,
        verdicts=fact.verdicts,
        disputed=fact.disputed,
        source=fact.source or "no source: the code is unknown",
        next_steps=next_steps(fact.action),
    )


def of_text(fact: TextFact, details: tuple[str, ...] = ()) -> Explanation:
    """A text of a job's log as the tables have it."""
    names = f"  {', '.join(fact.names)}" if fact.names else ""
    title = f"CUDA error {fact.code}{names}" if fact.code is not None else fact.id
    return Explanation(
        about="text",
        title=title,
        meaning=_without_fields(fact.meaning),
        cause=f"{fact.kind} {fact.cause}".strip(),
        action=fact.action,
        action_text=_without_fields(fact.advice) or advice(fact.action),
        details=details,
        source=fact.source,
        next_steps=next_steps(fact.action),
    )


def _without_fields(text: str) -> str:
    """A text that would name parts of a line, without a line."""
    return re.sub(r"\{(\w+)\}", r"<\1>", text)


def _by_name(name: str) -> Explanation | None:
    wanted = name.lower()
    if not wanted:  # some codes have no name
        return None
    for cuda in cuda_facts().values():
        if wanted in [one.lower() for one in cuda.names]:
            return of_text(cuda)
    for xid in xid_table().facts.values():
        if wanted in [one.strip().lower() for one in xid.name.split("/")]:
            return of_xid(xid)
    for sxid in sxid_table().facts.values():
        if wanted == sxid.name.lower():
            return of_sxid(sxid)
    return None
