"""The numbers of a start that failed: ``RmInitAdapter failed! (0x22:0x56:894)``."""

from __future__ import annotations

import re
from dataclasses import replace

from gputui.explain.explanation import Explanation
from gputui.explain.topics import kinds
from gputui.facts.compat import Version
from gputui.incidents.init_failure import init_failure
from gputui.logs.kernel import KernelEvent

KNOWN = 'the numbers of a start that failed ("RmInitAdapter failed! (0x22:0x56:894)")'

_FAILED = re.compile(
    r"(?:RmInitAdapter|rm_init_adapter)\S* failed\S*(?: \([\w:]+\))?", re.IGNORECASE
)


def explain(question: str, driver: Version | None) -> Explanation | None:
    """Whom the first of the numbers blames."""
    said = _FAILED.search(question)
    found = kinds.of_kind("DriverNotLoaded") if said else None
    if said is None or found is None:
        return None
    event = KernelEvent("init_failed", 0.0, said[0], detail=said[0])
    failure = init_failure([event])
    details = (failure.text, f"to blame: {failure.cause}") if failure is not None else ()
    return replace(found, details=(*details, *found.details))
