"""Which lines of a block may be about a GPU or what it hangs on.

Most lines of a log are about something else: they are never decoded, nor even cut out. Each needle
is one search over the whole block; only where one is found the line's ends are looked up.
"""

from __future__ import annotations

from gputui.logs.host_lines import ANSWER_NEEDLES, TROUBLE_NEEDLES
from gputui.scan.search import finder

NEEDLES = (
    b"NVRM:", b"nvidia ", b"nvidia:", b"nvidia-nvswitch", b"nvidia-peermem", b"nvidia_dev_xid:",
    b"pcieport ", b"NVSwitch pci bus id", b"]: segfault at ", b" available PCIe ",
    b"fabric manager NVIDIA GPU", *TROUBLE_NEEDLES,
)  # fmt: skip
"""Every message in :mod:`gputui.logs.grammar`, and of trouble in :mod:`gputui.logs.host_lines`, has
one of these. A search for what many other
messages have too (the name alone) would cost more than several for what follows it."""


def candidates(block: bytes, *, with_answers: bool) -> list[tuple[int, int]]:
    """Where the lines worth a closer look begin and end in a block, in order, each once.

    ``with_answers``: also those that tell that storage answers.
    """
    found: dict[int, int] = {}
    find = finder(block)
    for needle in (*NEEDLES, *ANSWER_NEEDLES) if with_answers else NEEDLES:
        at = find(needle, 0)
        while at >= 0:
            end = block.find(b"\n", at)
            if end < 0:
                end = len(block)
            found[block.rfind(b"\n", 0, at) + 1] = end
            at = find(needle, end)
    return sorted(found.items())
