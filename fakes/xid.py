"""Xids: what the driver prints for a code, and what the code does to the GPU.

Texts are data (``kernel_texts.csv``), effects are data (``xid_effects.csv``); each row names its
source. The line's grammar is the driver's (kernel_rc.c of open-gpu-kernel-modules 595). What a code
*means* to an operator is not written here: that is the monitor's business, from its own sources.
"""

from __future__ import annotations

import csv
from enum import Enum
from functools import cache
from pathlib import Path

from fakes.gpu import Gpu, Identity, Lookup, Lost
from fakes.node import Node

_HERE = Path(__file__).parent


class Effect(Enum):
    """What becomes of a GPU after an Xid."""

    NONE = "none"
    LOST = "lost"
    RESET_REQUIRED = "reset_required"
    ENDS_PROCESS = "ends_process"


@cache
def _column(file: str, column: str) -> dict[int, str]:
    with (_HERE / file).open(encoding="utf-8", newline="") as rows:
        return {int(row["code"]): row[column] for row in csv.DictReader(rows)}


def kernel_text(code: int) -> str:
    """What the driver prints after the code; a bare register dump for a code without a row."""
    return _column("kernel_texts.csv", "text").get(code, "Ch 00000000")


def effect_of(code: int) -> Effect:
    """What a code does to its GPU."""
    return Effect(_column("xid_effects.csv", "effect").get(code, "none"))


def write_xid_line(node: Node, gpu: Gpu, code: int, at_us: int) -> None:
    """Print the line of an Xid into the kernel log, and nothing more."""
    owners = node.processes_on(gpu)
    blame = f"pid={owners[0].pid}, name={owners[0].name}, " if owners else ""
    node.kernel_log.write(
        at_us, f"NVRM: Xid (PCI:{gpu.bus_id}): {code}, {blame}{kernel_text(code)}"
    )


def raise_xid(
    node: Node,
    gpu: Gpu,
    code: int,
    at_us: int,
    *,
    lookup: Lookup = Lookup.UNKNOWN,
    identity: Identity = Identity.FAILS,
) -> None:
    """Raise an Xid on a GPU: its line in the kernel log, and its effect.

    ``lookup`` and ``identity`` say how a GPU that is lost by it shows (:class:`fakes.gpu.Lost`).
    """
    effect = effect_of(code)
    if effect is Effect.LOST and gpu.lost is None:
        node.kernel_log.write(at_us, f"NVRM: GPU at PCI:{gpu.bus_id}: {gpu.uuid}")
        node.kernel_log.write(at_us, f"NVRM: GPU Board Serial Number: {gpu.serial}")
    write_xid_line(node, gpu, code, at_us)
    if effect is Effect.LOST and gpu.lost is None:
        node.kernel_log.write(at_us, f"NVRM: GPU {gpu.bus_id}.0: GPU has fallen off the bus.")
        gpu.lost = Lost(at_us, lookup, identity)
    elif effect is Effect.RESET_REQUIRED:
        gpu.reset_required = True
    elif effect is Effect.ENDS_PROCESS:
        for process in node.processes_on(gpu)[:1]:
            node.end_process(process.pid, at_us)
