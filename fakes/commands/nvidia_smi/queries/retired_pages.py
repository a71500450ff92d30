"""``--query-retired-pages``: a line for each page of memory that was taken out of use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.field import field
from fakes.commands.nvidia_smi.queries.columns import of_its_gpu
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.nvml.codes import Code

_CAUSES = ("Single Bit ECC", "Double Bit ECC")


@dataclass(frozen=True, slots=True)
class Page:
    """A retired page. Where a GPU does not tell, one line a cause stands for it, without values."""

    gpu: Gpu
    cause: str
    address: int | None = None
    retired_s: int | None = None

    @property
    def address_text(self) -> str:
        """Its address."""
        if self.address is None:
            raise Missing(Code.NOT_SUPPORTED)
        return f"0x{self.address:016x}"

    @property
    def retired_text(self) -> str:
        """When it was retired."""
        if self.retired_s is None:
            raise Missing(Code.NOT_SUPPORTED)
        return time.asctime(time.gmtime(self.retired_s))


def _rows(gpu: Gpu) -> Iterator[Page]:
    for number, cause in enumerate(_CAUSES):
        try:
            pages = gpu.get("nvmlDeviceGetRetiredPages_v2", number)
        except Missing:
            yield Page(gpu, cause)
            continue
        for page in pages:
            yield Page(gpu, cause, page["address"], page["timestamp"])


QUERY: Query[Page] = Query(
    "Retired pages of memory.",
    (
        *of_its_gpu(Page),
        field("retired_pages.address", read=lambda page: page.address_text, about="Its address."),
        field(
            "retired_pages.timestamp",
            read=lambda page: page.retired_text,
            about="When it was retired.",
        ),
        field(
            "retired_pages.cause",
            read=lambda page: page.cause,
            about="Why: Single Bit ECC (many correctable errors) or Double Bit ECC.",
        ),
    ),
    _rows,
)
