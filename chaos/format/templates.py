"""The templates that a runbook's arguments are: ``{node}`` and ``{gpu}``, and nothing else.

Whatever else has braces, JSON or a shell's ``${name}``, stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

PLACES = ("node", "gpu")
"""What a template may name."""

_NAMED = re.compile(r"(?<![{$])\{([A-Za-z_]+)\}(?!\})")


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its places filled.

    >>> filled('{"gpu": {gpu}}', {"node": "n0", "gpu": "3"})
    '{"gpu": 3}'
    """
    return re.sub(
        r"(?<!\$)\{(node|gpu)\}",
        lambda found: values[found[1]],
        template,
    )


def unknown_places(template: str) -> Iterator[str]:
    """Names in braces that no template may name."""
    for found in _NAMED.finditer(template):
        if found[1] not in PLACES:
            yield found[1]
