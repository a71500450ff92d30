"""Records that take several lines: what was wrapped is joined, what follows is looked up ahead.

The driver prints some records on several lines, each with ``NVRM:`` in front; terminals, mails and
serial consoles break lines in the middle. Lines of others may stand between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gputui.logs.grammar import Message, is_drivers_text, parse_continuation, parse_message
from gputui.logs.prefix import split_prefix

MOST_AHEAD = 12
"""How many lines after the first may belong to a record, others between them counted."""

_MOST_TRIED = 4

_BEGINS = re.compile(
    r"(?:NVRM:|nvidia_dev_xid:)\s*(?:Xi?|Xid\s*(?:\([^)]{0,60}(?:\)\s*:?\s*)?)?)?$"
)
_CODE_LAST = re.compile(r"\)\s*:?\s*\d{1,3}$")
_COMMA_LAST = re.compile(r",\s*(?:p|pi|pid|pid=|n|na|nam|name|name=)?$")
_PID_LAST = re.compile(r",\s*pid=(?:'?<?u?\w*>?'?|\d+)$")
_NAME_LAST = re.compile(r",\s*name=[^,]*$")
_UNKNOWN_LAST = re.compile(r"=['\"]?<(?:u|un|unk|unkn|unkno|unknow|unknown)?$")
_CUT = (_CODE_LAST, _COMMA_LAST, _PID_LAST, _NAME_LAST)

_VERSION = re.compile(r"version\s+(\d+(?:\.\d+)+)")
_XID = re.compile(r"NVRM:|Xid \(")
_REST_OF_PID = re.compile(r"\d{0,6}(?:,|$)")


def begins_xid(message: str) -> bool:
    """Whether a message is the beginning of an Xid line that was broken before its code."""
    return _BEGINS.match(message) is not None


def is_cut(message: str) -> bool:
    """Whether an Xid line ends where few do: after its code, a comma, a pid or a name."""
    return any(cut.search(message) for cut in _CUT)


def joined(
    message: str, parsed: Message | None, ahead: Iterable[str], *, bare: bool
) -> tuple[str, Message | None]:
    """A wrapped Xid line put together, and what it says; as it was if no line ahead fits.

    ``bare`` says that the line has no stamp, so that it cannot be told from what follows by one.
    """
    whole = message
    for position, line in enumerate(ahead):
        stamp, piece = split_prefix(line, 0.0)
        if position >= _MOST_TRIED or _XID.search(piece):
            break
        wrapped = stamp.bare and not bare
        if not piece or not (wrapped or _goes_on(whole, piece)):
            continue
        halved = wrapped and _is_halved(whole, piece)
        betweens = ("",) if halved or whole.endswith("=") else ("", " ")
        fits = _with(whole, piece, None if halved else parsed, betweens)
        if fits is not None:
            whole, parsed = fits
        elif parsed is None and wrapped:
            whole += piece
        if parsed is not None and not is_cut(whole):
            break
    return (message, None) if parsed is None else (whole, parsed)


def _is_halved(whole: str, piece: str) -> bool:
    """Whether a break fell into a number, or into ``<unknown>``: the halves are one word."""
    if piece[0].isdigit() and (_CODE_LAST.search(whole) or _PID_LAST.search(whole)):
        return True
    return _UNKNOWN_LAST.search(whole) is not None


def _goes_on(whole: str, piece: str) -> bool:
    """Whether a line that might be one of its own is what an unfinished one goes on with."""
    if _CODE_LAST.search(whole):
        return False
    if _NAME_LAST.search(whole) and not whole.endswith("name="):
        return piece.startswith(",")
    if _PID_LAST.search(whole):
        return _REST_OF_PID.match(piece) is not None
    return piece.startswith(("pid=", "name=")) or is_drivers_text(piece)


def _with(
    whole: str, piece: str, before: Message | None, betweens: Iterable[str]
) -> tuple[str, Message] | None:
    """The line with one more piece, if that makes more sense than without.

    ``betweens`` are what may have stood at the break.
    """
    best: tuple[int, str, Message] | None = None
    for between in betweens:
        text = f"{whole}{between}{piece}"
        parsed = parse_message(text)
        if parsed is None or parsed.kind != "xid":
            continue
        worth = _worth(parsed)
        if best is None or worth > best[0]:
            best = (worth, text, parsed)
    if best is None or (before is not None and best[0] <= _worth(before)):
        return None
    return best[1], best[2]


def _worth(parsed: Message) -> int:
    """How much was understood of a line."""
    return (
        2 * (parsed.pid is not None)
        + 2 * (parsed.process is not None)
        + bool(parsed.detail)
        - ("pid=" in parsed.detail or "name=" in parsed.detail)
    )


def what_of_it(ahead: Iterable[str]) -> str | None:
    """What the lines after ``The NVIDIA GPU ...`` say of it: the kind of event, or None."""
    for position, line in enumerate(ahead):
        if position >= MOST_AHEAD:
            break
        _, message = split_prefix(line, 0.0)
        if "fallen off the bus" in message and parse_continuation(message):
            return "gpu_lost"
        if message.startswith("NVRM: installed in this system is not supported"):
            return "probe_failed"
    return None


_VERSIONS = "client "


def has_versions(parsed: Message) -> bool:
    """Whether a mismatch has both of its versions."""
    return parsed.detail.startswith(_VERSIONS)


def with_versions(parsed: Message, message: str, ahead: Iterable[str]) -> Message:
    """A mismatch of versions with both of them: the client's, and the kernel module's."""
    texts = [message]
    for position, line in enumerate(ahead):
        if position >= MOST_AHEAD:
            break
        _, further = split_prefix(line, 0.0)
        if parse_continuation(further) == "mismatch_continued":
            texts.append(further.removeprefix("NVRM: "))
        elif further.startswith("NVRM: API mismatch"):
            break
    versions = _VERSION.findall(" ".join(texts))
    if len(versions) < 2:
        return replace(parsed, detail=parsed.detail.strip())
    return replace(parsed, detail=f"{_VERSIONS}{versions[0]}, kernel module {versions[1]}")
