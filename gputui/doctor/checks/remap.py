"""Spare rows of memory, and pages that were retired."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, unread, untold, warning
from gputui.doctor.site import Site
from gputui.incidents.advice import STOP_HOLDERS
from gputui.model import GpuSample

MOST_ROWS = 512
"""Rows remapped for uncorrectable errors: DCGM and Azure's health checks fail from here on."""

MOST_PAGES = 63
"""Pages retired before Ampere, of both causes: DCGM fails from here on."""


@check("remap")
def remap(site: Site) -> Iterator[Result]:
    """Every repair of memory is in force, and spare rows are left."""
    told = [
        gpu
        for gpu in site.gpus
        if gpu.remap_pending is not None or gpu.retired_pages_pending is not None
    ]
    if not told:
        yield from untold(
            site,
            ("remap_pending", "retired_pages_pending"),
            "its spare memory",
            "no GPU here tells of remapped rows or retired pages",
        )
        return
    found = [result for gpu in told for result in (*_rows(gpu), *_pages(gpu))]
    found += unread(site.gpus, "remap_pending", "its remapped rows")
    yield from found
    if not found:
        yield good(f"nothing pending, nothing failed on {len(told)} of {len(site.gpus)} GPUs")


def _rows(gpu: GpuSample) -> Iterator[Result]:
    reset = f"drain the node, then: {STOP_HOLDERS}; nvidia-smi -i {gpu.index} -r"
    exchange = f"gputui bundle --gpu {gpu.index}; have the board exchanged"
    if gpu.remap_failed:
        yield critical(f"GPU {gpu.index}: a row could not be remapped", fix=exchange)
    if gpu.remap_pending:
        yield critical(f"GPU {gpu.index}: a remapped row waits for a reset", fix=reset)
    if (gpu.remapped_rows_uncorrectable or 0) >= MOST_ROWS:
        rows = gpu.remapped_rows_uncorrectable
        yield critical(f"GPU {gpu.index}: {rows} rows are remapped", fix=exchange)
    elif gpu.remap_banks_none:
        yield warning(
            f"GPU {gpu.index}: {gpu.remap_banks_none} banks have no spare row left",
            fix=exchange,
        )


def _pages(gpu: GpuSample) -> Iterator[Result]:
    if gpu.retired_pages_pending:
        yield critical(
            f"GPU {gpu.index}: a retired page waits for the driver to be loaded anew",
            fix="drain the node, then: systemctl reboot",
        )
    pages = (gpu.retired_pages_single_bit or 0) + (gpu.retired_pages_double_bit or 0)
    if pages >= MOST_PAGES:
        yield critical(
            f"GPU {gpu.index}: {pages} pages are retired",
            fix=f"gputui bundle --gpu {gpu.index}; have the board exchanged",
        )
