"""``hostnamectl``: the machine's name, and what it is (systemd 249)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system import machine
from fakes.system.kernel import RELEASE
from fakes.system.uptime import boot_id

_NAME_ALONE = (["hostname"], ["--static"], ["hostname", "--static"], ["--static", "hostname"])


@command("hostnamectl", latency_us=20_000)
def main(
    argv: Sequence[str], node: Node, read_file: Callable[[str], str], out: TextIO, err: TextIO
) -> int:
    """All of it, or the name alone; nothing can be changed."""
    if list(argv) in _NAME_ALONE:
        out.write(f"{node.name}\n")
        return 0
    if list(argv) not in ([], ["status"]):
        err.write(f"hostnamectl: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    rows = (
        ("Static hostname", node.name),
        ("Icon name", "computer-server"),
        ("Chassis", "server"),
        ("Machine ID", _text("/etc/machine-id", read_file)),
        ("Boot ID", boot_id(node).hex),
        ("Operating System", "Ubuntu 22.04.5 LTS"),
        ("Kernel", f"Linux {RELEASE}"),
        ("Architecture", "x86-64"),
        ("Hardware Vendor", machine.MANUFACTURER),
        ("Hardware Model", machine.PRODUCT),
    )
    out.writelines(f"{label:>16}: {value}\n" for label, value in rows)
    return 0


def _text(path: str, read_file: Callable[[str], str]) -> str:
    try:
        return read_file(path).strip()
    except OSError:
        return "n/a"
