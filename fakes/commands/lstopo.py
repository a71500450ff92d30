"""``lstopo-no-graphics`` (hwloc): the machine as a tree: packages, their memory, their devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.pci.tree import pci_devices
from fakes.system import machine

_IGNORED = (
    "--no-io", "--no-caches", "--whole-io", "-v", "--verbose", "-p", "--physical", "-l",
    "--logical", "--no-bridges", "--no-smt", "-", "--of=console", "--of=ascii", "--of=txt",
)  # fmt: skip
_KIB_IN_GIB = 1024 * 1024
_KINDS = {0x0302: "3D", 0x0207: "InfiniBand", 0x0200: "Ethernet", 0x0108: "NVMExp", 0x0300: "VGA"}
_HOST_BRIDGE = 0x0600


@command("lstopo-no-graphics", "lstopo", "hwloc-ls", latency_us=200_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Draw it as text."""
    words = list(argv)
    while words:
        word = words.pop(0)
        if word in ("--of", "--output-format") and words:
            word = f"--of={words.pop(0)}"
        if word == "--version":
            out.write("lstopo 2.7.0\n")
            return 0
        if word not in _IGNORED:
            err.write(f"lstopo-no-graphics: {word}: this is not known here\n")
            return NOT_UNDERSTOOD
    out.write(f"Machine ({machine.MEMORY_KIB // _KIB_IN_GIB}GB total)\n")
    for package in range(machine.NUMA_NODES):
        lines = _package(node, package, devices="--no-io" not in argv)
        out.writelines(f"{line}\n" for line in lines)
    return 0


def _package(node: Node, package: int, *, devices: bool) -> Iterator[str]:
    memory_gib = machine.memory_kib_of(package) // _KIB_IN_GIB
    yield f"  Package L#{package}"
    yield f"    NUMANode L#{package} (P#{package} {memory_gib}GB)"
    yield f"    L3 L#{package} ({machine.L3_KIB_PER_SOCKET // 1024}MB)"
    first, second = machine.cpus_of(package)
    for cpu, sibling in zip(first, second, strict=True):
        l1 = f"L1d L#{cpu} ({machine.L1D_KIB_PER_CORE}KB) + L1i L#{cpu}"
        l1 += f" ({machine.L1I_KIB_PER_CORE}KB)"
        yield f"      L2 L#{cpu} ({machine.L2_KIB_PER_CORE}KB) + {l1} + Core L#{cpu}"
        yield f"        PU L#{2 * cpu} (P#{cpu})"
        yield f"        PU L#{2 * cpu + 1} (P#{sibling})"
    for device in pci_devices(node) if devices else ():
        leaf = device.below is None and device.kind != _HOST_BRIDGE
        if leaf and device.numa_node == package:
            kind = _KINDS.get(device.kind, "Other")
            yield f"    HostBridge\n      PCI {device.address[5:]} ({kind})"
