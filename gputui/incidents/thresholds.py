"""The numbers that rules go by, and that a site may change in its config.

Each stands where its reason is told: in the rule that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What rules go by. Shares are from 0 to 1."""

    memory_full_share: float = 0.95
    """More used than this leaves no room for a workspace or a fragmented allocator."""

    memory_growing_share: float = 0.75
    """Growth below this is a job that loads its model."""

    memory_foreseen_s: float = 300.0
    """How far ahead full memory is foreseen."""
