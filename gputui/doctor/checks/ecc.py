"""Memory errors that were counted."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, unread, untold, warning
from gputui.doctor.site import Site
from gputui.incidents.advice import STOP_HOLDERS
from gputui.model import GpuSample

MOST_SRAM_ERRORS = 4
"""Uncorrected SRAM errors over a GPU's life: beyond it vendors exchange the board."""


@check("ecc")
def ecc(site: Site) -> Iterator[Result]:
    """ECC is on, and no error was left uncorrected since the driver was loaded."""
    told = [gpu for gpu in site.gpus if gpu.ecc_enabled is not None]
    if not told:
        yield from untold(site, ("ecc_enabled",), "its ECC mode", "no GPU here tells of ECC")
        return
    found = [result for gpu in told for result in _of(gpu)]
    found += unread(site.gpus, "ecc_enabled", "its ECC mode")
    found += unread(told, "ecc_uncorrected_volatile", "its ECC errors")
    yield from found
    if not found:
        yield good(f"on, no uncorrected error on {len(told)} of {len(site.gpus)} GPUs")


def _of(gpu: GpuSample) -> Iterator[Result]:
    if gpu.ecc_enabled is False:
        yield warning(
            f"GPU {gpu.index}: ECC is off: errors of memory go unnoticed",
            fix=f"nvidia-smi -i {gpu.index} -e 1; it is on after the next reset",
        )
    if gpu.ecc_uncorrected_volatile:
        yield critical(
            f"GPU {gpu.index}: {gpu.ecc_uncorrected_volatile} uncorrected errors since the driver "
            "was loaded",
            fix=f"drain the node, then: {STOP_HOLDERS}; nvidia-smi -i {gpu.index} -r; "
            "dcgmi diag -r 3",
        )
    sram = gpu.ecc_sram_uncorrected_aggregate or 0
    if sram > MOST_SRAM_ERRORS:
        yield critical(
            f"GPU {gpu.index}: {sram} uncorrected SRAM errors in its life",
            fix=f"gputui bundle --gpu {gpu.index}; have the board exchanged",
        )
