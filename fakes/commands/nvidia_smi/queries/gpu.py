"""``--query-gpu``: a line for each GPU."""

from __future__ import annotations

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.fields import FIELDS
from fakes.commands.nvidia_smi.reading import Gpu

QUERY: Query[Gpu] = Query("Properties of GPUs.", FIELDS, lambda gpu: (gpu,))
