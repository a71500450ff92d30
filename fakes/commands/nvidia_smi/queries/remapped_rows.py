"""``--query-remapped-rows``: a line for each GPU."""

from __future__ import annotations

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.fields.ecc import ROWS_IN_NUMBERS
from fakes.commands.nvidia_smi.queries.columns import OF_GPU
from fakes.commands.nvidia_smi.reading import Gpu

QUERY: Query[Gpu] = Query(
    "Remapped rows of memory.", (*OF_GPU, *ROWS_IN_NUMBERS), lambda gpu: (gpu,)
)
