"""``sensors`` (lm-sensors): temperatures of the processors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system import machine

_IDLE_C, _RISE_C = 41, 17
_HIGH_C, _CRITICAL_C = 95.0, 105.0
_KNOWN = ("-j", "-A", "-u", "--no-adapter")


@command("sensors", latency_us=50_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Print them; ``-j`` as JSON, ``-u`` raw."""
    if {"-v", "--version"} & set(argv):
        out.write("sensors version 3.6.0 with libsensors version 3.6.0\n")
        return 0
    if unknown := [word for word in argv if word not in _KNOWN]:
        err.write(f"sensors: {unknown[0]}: this is not known here\n")
        return NOT_UNDERSTOOD
    busy = any(gpu.conditions.load > 0 for gpu in node.gpus)
    temperatures = [
        float(_IDLE_C + socket + (_RISE_C if busy else 0)) for socket in range(machine.NUMA_NODES)
    ]
    if "-j" in argv:
        told = {
            f"coretemp-isa-{at:04d}": {
                "Adapter": "ISA adapter",
                f"Package id {at}": {"temp1_input": value, "temp1_max": _HIGH_C},
            }
            for at, value in enumerate(temperatures)
        }
        out.write(json.dumps(told, indent=3) + "\n")
        return 0
    adapter = "" if {"-A", "--no-adapter"} & set(argv) else "Adapter: ISA adapter\n"
    for at, value in enumerate(temperatures):
        out.write(f"coretemp-isa-{at:04d}\n{adapter}Package id {at}:")
        if "-u" in argv:
            out.write(f"\n  temp1_input: {value:.3f}\n  temp1_max: {_HIGH_C:.3f}\n\n")
        else:
            limits = f"high = {_HIGH_C:+.1f}°C, crit = {_CRITICAL_C:+.1f}°C"
            out.write(f"  {value:+.1f}°C  ({limits})\n\n")
    return 0
