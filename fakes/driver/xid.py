"""Xids: what the driver prints for a code, and what the code does to the GPU.

Texts are data (``kernel_texts.csv``), effects are data (``xid_effects.csv``); each row names its
source. The line's grammar is the driver's (kernel_rc.c of open-gpu-kernel-modules 595). What a code
*means* to an operator is not written here: that is the monitor's business, from its own sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from fakes.csv_rows import csv_rows
from fakes.driver.events import EventType
from fakes.hardware.ecc import Place
from fakes.hardware.gpu import Gpu, Identity, Lookup, Lost
from fakes.jobs.texts import say_cuda_error
from fakes.node import Node

_HERE = Path(__file__).parent


class Effect(Enum):
    """What becomes of a GPU after an Xid."""

    NONE = "none"
    LOST = "lost"
    RESET_REQUIRED = "reset_required"
    ENDS_PROCESS = "ends_process"


class Remap(Enum):
    """What becomes of a bad row of HBM."""

    PENDING = "pending"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Effects:
    """All that a code does: to the GPU, to its error counters, to its rows."""

    gpu: Effect = Effect.NONE
    uncorrected: Place | None = None
    remap: Remap | None = None


@cache
def _kernel_texts() -> dict[int, str]:
    return {int(row["code"]): row["text"] for row in csv_rows(_HERE / "kernel_texts.csv")}


@cache
def _effects() -> dict[int, Effects]:
    return {
        int(row["code"]): Effects(
            Effect(row["effect"]),
            Place(row["uncorrected"]) if row["uncorrected"] else None,
            Remap(row["remap"]) if row["remap"] else None,
        )
        for row in csv_rows(_HERE / "xid_effects.csv")
    }


def kernel_text(code: int) -> str:
    """What the driver prints after the code; a bare register dump for a code without a row."""
    return _kernel_texts().get(code, "Ch 00000000")


def effects_of(code: int) -> Effects:
    """What a code does to its GPU; nothing if it has no row."""
    return _effects().get(code, Effects())


def write_xid_line(node: Node, gpu: Gpu, code: int, at_us: int) -> None:
    """Print the line of an Xid into the kernel log, and nothing more."""
    print_xid(node, gpu, code, kernel_text(code), at_us)


def print_xid(node: Node, gpu: Gpu, code: int, text: str, at_us: int) -> None:
    """Print the line of an Xid, with ``text`` after its code, into the kernel log."""
    owners = node.processes_on(gpu)
    blame = f"pid={owners[0].pid}, name={owners[0].name}, " if owners else ""
    node.kernel_log.write(at_us, f"NVRM: Xid (PCI:{gpu.bus_id}): {code}, {blame}{text}")


def raise_xid(
    node: Node,
    gpu: Gpu,
    code: int,
    at_us: int,
    *,
    lookup: Lookup = Lookup.UNKNOWN,
    identity: Identity = Identity.FAILS,
) -> None:
    """Raise an Xid on a GPU: its line in the kernel log, its event, and its effects.

    ``lookup`` and ``identity`` say how a GPU that is lost by it shows (``gpu.Lost``).
    """
    effects = effects_of(code)
    falls_off = effects.gpu is Effect.LOST and gpu.lost is None
    _count(node, gpu, effects, at_us)
    if falls_off:
        node.kernel_log.write(at_us, f"NVRM: GPU at PCI:{gpu.bus_id}: {gpu.uuid}")
        node.kernel_log.write(at_us, f"NVRM: GPU Board Serial Number: {gpu.serial}")
    write_xid_line(node, gpu, code, at_us)
    node.driver_events.announce(at_us, gpu.index, EventType.XID, code)
    say_cuda_error(node, gpu, code, at_us)
    if falls_off:
        node.kernel_log.write(at_us, f"NVRM: GPU {gpu.bus_id}.0: GPU has fallen off the bus.")
        gpu.lost = Lost(at_us, lookup, identity)
    elif effects.gpu is Effect.RESET_REQUIRED:
        gpu.reset_required = True
    elif effects.gpu is Effect.ENDS_PROCESS:
        for process in node.processes_on(gpu)[:1]:
            node.end_process(process.pid, at_us)


def _count(node: Node, gpu: Gpu, effects: Effects, at_us: int) -> None:
    """Bring the GPU's counters in line with what is about to be printed."""
    if effects.uncorrected is not None:
        gpu.memory_errors.count_uncorrected(effects.uncorrected)
        node.driver_events.announce(at_us, gpu.index, EventType.DOUBLE_BIT_ECC)
    if effects.remap is Remap.PENDING:
        gpu.remapped_rows.uncorrectable += 1
        gpu.remapped_rows.pending = True
    elif effects.remap is Remap.FAILED:
        gpu.remapped_rows.failed = True
