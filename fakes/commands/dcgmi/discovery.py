"""``dcgmi discovery``: the GPUs and switches that there are."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.hardware.links import switches_of

_FLAGS = {"-l": "list", "--list": "list", "-h": "help", "--help": "help", "-c": "compute-hierarchy"}


def run(argv: Sequence[str], engine: Engine) -> int:
    """List them."""
    options = read("discovery", argv, _FLAGS, {"--host": "host"})
    if "help" in options or not set(options) - {"host"}:
        engine.out.write("dcgmi discovery -l [--host HOST]\n")
        return 0
    if "list" not in options:
        raise NotImitated("discovery " + " ".join(argv))
    gpus = engine.node.gpus
    table = Table(8, 70)
    table.rule()
    table.row("GPU ID", "Device Information")
    table.rule()
    for gpu in gpus:
        address = f"{gpu.pci_domain:08X}:{gpu.pci_bus:02X}:00.0"
        table.row(str(gpu.index), f"Name: {gpu.profile.name}")
        table.row("", f"PCI Bus ID: {address}")
        table.row("", f"Device UUID: {gpu.uuid}")
        table.rule()
    out = engine.out
    out.write(f"{len(gpus)} GPU{'' if len(gpus) == 1 else 's'} found.\n{joined(table.lines)}")
    switches = switches_of(engine.node) if gpus else ()
    out.write(f"{len(switches)} NvSwitches found.\n+-----------+\n| Switch ID |\n+-----------+\n")
    out.writelines(f"| {len(gpus) + switch.index:<9} |\n" for switch in switches)
    if switches:
        out.write("+-----------+\n")
    rule = f"+--------+{'-' * 70}+"
    out.write(f"0 CPUs found.\n{rule}\n| CPU ID | {'Device Information':<69}|\n{rule}\n{rule}\n")
    return 0
