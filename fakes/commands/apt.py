"""``apt`` and ``apt-cache``: what is installed. Nothing can be fetched: there is no network."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.packages import packages

_NO_INTERFACE = (
    "\nWARNING: apt does not have a stable CLI interface. Use with caution in scripts.\n\n"
)


@command("apt", "apt-cache", latency_us=300_000)
def main(argv: Sequence[str], node: Node, program: str, out: TextIO, err: TextIO) -> int:
    """``list --installed``, and ``policy`` of packages."""
    words = [word for word in argv if not word.startswith("-")]
    flags = {word for word in argv if word.startswith("-")} - {"-q", "-qq"}
    if program == "apt":
        err.write(_NO_INTERFACE)
        if words[:1] == ["list"] and flags == {"--installed"}:
            out.write("Listing...\n")
            for one in packages(node):
                if not words[1:] or any(fnmatchcase(one.name, each) for each in words[1:]):
                    out.write(
                        f"{one.name}/now {one.version} {one.architecture} [installed,local]\n"
                    )
            return 0
    elif words[:1] == ["policy"] and not flags:
        known = {one.name: one for one in packages(node)}
        for each in words[1:]:
            if each in known:
                version = known[each].version
                out.write(
                    f"{each}:\n  Installed: {version}\n  Candidate: {version}\n  Version table:\n"
                    f" *** {version} 100\n        100 /var/lib/dpkg/status\n"
                )
        return 0
    err.write(f"{program}: {' '.join(argv)}: this is not known here\n")
    return NOT_UNDERSTOOD
