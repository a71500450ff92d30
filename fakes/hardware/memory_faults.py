"""What a memory error comes to: its counters, the driver's lines for it, and what it then wants.

The texts are data (``memory_texts.csv``, each with its source). The order of the lines is that of
NVIDIA's A100 memory error management: the error, the row marked for it, then what it came to.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import cache
from pathlib import Path

from fakes.csv_rows import csv_rows
from fakes.driver.events import EventType
from fakes.driver.xid import print_xid
from fakes.hardware.ecc import MOST_PAGES, Place
from fakes.hardware.gpu import Gpu
from fakes.node import Node

_TEXTS = Path(__file__).with_name("memory_texts.csv")
_DRAIN_AND_RESET = 4
_DISABLED_FROM_PER_S = 10


class Uncorrectable(Enum):
    """An error that could not be corrected: where it was, or what became of it.

    ``contained`` and ``uncontained`` are what Ampere and later make of one in HBM, and in the L2
    cache: the application that met it ends, or the GPU must be reset.
    """

    DRAM = "dram"
    SRAM = "sram"
    CONTAINED = "contained"
    UNCONTAINED = "uncontained"


@cache
def _texts() -> dict[str, tuple[int, str]]:
    return {row["name"]: (int(row["code"]), row["text"]) for row in csv_rows(_TEXTS)}


def tell(node: Node, gpu: Gpu, name: str, at_us: int) -> None:
    """Print one of the texts as an Xid, and announce it."""
    code, text = _texts()[name]
    print_xid(node, gpu, code, text, at_us)
    node.driver_events.announce(at_us, gpu.index, EventType.XID, code)


def strike(node: Node, gpu: Gpu, error: Uncorrectable, at_us: int) -> None:
    """Let one error happen."""
    of_chip = error in (Uncorrectable.SRAM, Uncorrectable.UNCONTAINED)
    gpu.memory_errors.count_uncorrected(Place.SRAM if of_chip else Place.DRAM)
    node.driver_events.announce(at_us, gpu.index, EventType.DOUBLE_BIT_ECC)
    if error in (Uncorrectable.DRAM, Uncorrectable.SRAM):
        tell(node, gpu, error.value, at_us)
    if not of_chip:
        mark_bad(node, gpu, at_us)
    if error in (Uncorrectable.CONTAINED, Uncorrectable.UNCONTAINED):
        tell(node, gpu, error.value, at_us)
    if error is Uncorrectable.CONTAINED:
        tell(node, gpu, "drain_asked", at_us)
        gpu.recovery_action = _DRAIN_AND_RESET
        for process in node.processes_on(gpu)[:1]:
            node.end_process(process.pid, at_us)
    elif not gpu.reset_required:
        tell(node, gpu, "reset_asked", at_us)
        gpu.reset_required = True


def mark_bad(node: Node, gpu: Gpu, at_us: int) -> None:
    """Mark the row of an uncorrectable error for replacement, or its page for retirement."""
    if gpu.profile.remaps_rows:
        rows = gpu.remapped_rows
        rows.uncorrectable += 1
        rows.pending = True
        tell(node, gpu, "row_marked", at_us)
    else:
        retire(node, gpu, at_us, by_single_bits=False)


def retire(node: Node, gpu: Gpu, at_us: int, *, by_single_bits: bool) -> None:
    """Retire one page, as long as the list has room."""
    pages = gpu.retired_pages
    if pages.count >= MOST_PAGES:
        tell(node, gpu, "page_failed", at_us)
        return
    if by_single_bits:
        pages.single_bit_us += (at_us,)
    else:
        pages.double_bit_us += (at_us,)
    pages.pending = True
    tell(node, gpu, "page_retired", at_us)


def fail_to_remap(node: Node, gpu: Gpu, at_us: int) -> None:
    """An error in a bank that has no spare row left."""
    rows = gpu.remapped_rows
    gpu.remapped_rows = replace(rows, failed=True, banks_none=max(1, rows.banks_none))
    tell(node, gpu, "row_failed", at_us)


def correct(node: Node, gpu: Gpu, per_s: int, at_us: int) -> None:
    """Let so many errors a second be corrected; of very many the driver no longer wants to hear."""
    gpu.memory_errors = gpu.memory_errors.coming(per_s, at_us)
    if per_s >= _DISABLED_FROM_PER_S:
        tell(node, gpu, "storm", at_us)
