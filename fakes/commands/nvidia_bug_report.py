"""``nvidia-bug-report.sh``: evidence for the vendor, as a file where the caller stands.

What it has is the world's: versions, the PCI bus, the kernel log, processes. The file is a real
gzip file, the same at every run; nothing of the machine that this runs on is in it.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.lspci.lines import Style, described
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.written_files import Spawn, write_file
from fakes.node import Node
from fakes.pci.tree import pci_devices
from fakes.system.uptime import uptime_s
from fakes.world import World

_DEFAULT = "nvidia-bug-report.log"
_MOST_LINES = 5_000
_FLAGS = ("--safe-mode", "--extra-system-data", "--query")
_RULE = "____________________________________________\n\n"


def _latency_us(argv: Sequence[str]) -> int:
    """Safe mode leaves out what may hang, and takes less."""
    return 20_000_000 if "--safe-mode" in argv else 60_000_000


@command("nvidia-bug-report.sh", latency_us=_latency_us)
def main(
    argv: Sequence[str],
    node: Node,
    world: World,
    out: TextIO,
    err: TextIO,
    spawn: Spawn,
    is_privileged: bool,
) -> int:
    """Write the file."""
    words = list(argv)
    name = _DEFAULT
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        if option in ("--output-file", "-o"):
            name = value if equals else (words.pop(0) if words else "")
        elif word in ("-h", "--help"):
            out.write("nvidia-bug-report.sh [--safe-mode] [--output-file FILE]\n")
            return 0
        elif word not in _FLAGS:
            err.write(f"nvidia-bug-report.sh: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    if not is_privileged:
        out.write("ERROR: Please run nvidia-bug-report.sh as root.\n")
        return 1
    path = name if name.endswith(".gz") else f"{name}.gz"
    out.write(
        "\nnvidia-bug-report.sh will now collect information about your\n"
        f"system and create the file '{path}' in the current\n"
        "directory.  It may take several seconds to run.\n\nRunning nvidia-bug-report.sh..."
    )
    text = "".join(_report(node, world.now_us, safe="--safe-mode" in argv))
    if not write_file(spawn, path, gzip.compress(text.encode(), mtime=0)):
        out.write(f"\n\nERROR: Unable to write to '{path}'\n")
        return 1
    out.write(f" complete.\n\nThe file '{path}' was created.\n")
    return 0


def _report(node: Node, at_us: int, *, safe: bool) -> Iterator[str]:
    moment = time.asctime(time.gmtime(node.epoch.unix_us(at_us) / 1e6))
    yield f"{_RULE}Start of NVIDIA bug report log file.\n\nDate: {moment}\nuname: {node.name}\n"
    yield f"{_RULE}*** /proc/driver/nvidia/version\nNVRM version: {node.driver.version}\n"
    yield f"{_RULE}uptime: {uptime_s(node, at_us):.0f} s\n"
    yield f"{_RULE}/usr/bin/lspci\n"
    yield from (f"{described(device, Style(2))}\n" for device in pci_devices(node))
    yield f"{_RULE}GPUs\n"
    for gpu in node.gpus:
        state = "lost" if gpu.lost else "reset required" if gpu.reset_required else "ok"
        yield f"{gpu.bus_id}.0 {gpu.profile.name} {gpu.uuid} {gpu.serial}: {state}\n"
    if safe:
        yield f"{_RULE}Skipped: what asks the driver (--safe-mode)\n"
    yield f"{_RULE}Processes\n"
    for pid, process in sorted(node.processes.items()):
        yield f"{pid} {process.spec.user} {' '.join(process.spec.command)}\n"
    yield f"{_RULE}/usr/bin/dmesg\n"
    lines = list(node.kernel_log.lines)[-_MOST_LINES:]
    yield from (f"[{uptime_s(node, line.at_us):12.6f}] {line.text}\n" for line in lines)
    yield f"{_RULE}End of NVIDIA bug report log file.\n"
