"""What a kernel line says of an NVLink: Xid 74, and NVLink5's Xids 144 to 150."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gputui.logs.kernel import KernelEvent

NVLINK_ERROR = 74
_NVLINK5_ERRORS = range(144, 151)
LINK_XIDS = frozenset({NVLINK_ERROR, *_NVLINK5_ERRORS})

_LINK = re.compile(r"\blink (?P<link>\d+)", re.I)


@dataclass(frozen=True, slots=True)
class LinkWords:
    """A link that is said to have failed, if the line names one, and whose end is to blame."""

    link: int | None
    blames_peer: bool = False


def said_of_link(event: KernelEvent) -> LinkWords | None:
    """What a line says; None where it is no fatal error of a link.

    Errors that NVLink5 calls non-fatal are counted as Xids, and no more.
    """
    if event.kind != "xid" or event.code is None:
        return None
    if event.code == NVLINK_ERROR:
        named = _LINK.search(event.detail)
        return LinkWords(int(named["link"]) if named else None)
    if event.code in _NVLINK5_ERRORS:
        from gputui.facts.nvlink5 import decode  # most logs need none of it

        error = decode(event.code, event.detail)
        if error is not None and error.is_fatal and not error.injected:
            return LinkWords(error.link, error.blames_peer)
    return None
