"""Which lines of a block may be about a GPU or what it hangs on.

Most lines of a log are about something else: they are never decoded, nor even cut out. Each needle
is one search over the whole block; only where one is found the line's ends are looked up.
"""

from __future__ import annotations

from gputui.scan.search import finder

NEEDLES = (
    b"NVRM:", b"nvidia", b"pcieport ", b"NVSwitch pci bus id", b" in libnccl",
    b" available PCIe ",
    b"fabric manager NVIDIA GPU",
)  # fmt: skip
"""Every message in :mod:`gputui.logs.grammar` has one of these."""

_PREFIXES = {
    b"nvidia": (
        b"nvidia ", b"nvidia:", b"nvidia-nvswitch", b"nvidia-peermem", b"nvidia_dev_xid:",
    ),
}  # fmt: skip
"""What must stand where a needle was found, for those that other messages are full of."""


_OFTEN = 32
"""So many finds in a block make a search that takes less for each the better one."""


def candidates(block: bytes) -> list[tuple[int, int]]:
    """Where the lines worth a closer look begin and end in a block, in order, each once."""
    found: dict[int, int] = {}
    rare = finder(block)
    for needle in NEEDLES:
        prefixes = _PREFIXES.get(needle)
        find, misses = rare, 0
        at = find(needle, 0)
        while at >= 0:
            if prefixes is not None and not block.startswith(prefixes, at):
                misses += 1
                if misses == _OFTEN:
                    find = block.find
                at = find(needle, at + 1)
                continue
            end = block.find(b"\n", at)
            if end < 0:
                end = len(block)
            found[block.rfind(b"\n", 0, at) + 1] = end
            at = find(needle, end)
    return sorted(found.items())
