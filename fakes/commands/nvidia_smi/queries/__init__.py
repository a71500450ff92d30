"""Selective queries, one a file: what each can tell, and of what its lines are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.commands.nvidia_smi.csv import Query
from fakes.commands.nvidia_smi.queries import (
    accounted_apps,
    compute_apps,
    gpu,
    remapped_rows,
    retired_pages,
    supported_clocks,
)

QUERIES: Mapping[str, Query[Any]] = {
    "query-gpu": gpu.QUERY,
    "query-supported-clocks": supported_clocks.QUERY,
    "query-compute-apps": compute_apps.QUERY,
    "query-accounted-apps": accounted_apps.QUERY,
    "query-retired-pages": retired_pages.QUERY,
    "query-remapped-rows": remapped_rows.QUERY,
}
"""By the option's long name."""
