"""What rules go by, and a site may change in its config: numbers, and who may use the GPUs.

Each stands where its reason is told: in the rule that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What rules go by. Shares are from 0 to 1."""

    memory_full_share: float = 0.95
    """More used than this leaves no room for a workspace or a fragmented allocator."""

    memory_brim_share: float = 0.99
    """More used than this leaves no room for anything."""

    memory_growing_share: float = 0.75
    """Growth below this is a job that loads its model."""

    memory_foreseen_s: float = 300.0
    """How far ahead full memory is foreseen."""

    memory_held_bytes: int = 1 << 30
    """Memory without an owner below this is a driver's own, or a reading's slip."""

    memory_held_share: float = 0.02
    """The same, as a share of the GPU's memory: the larger of the two counts."""

    idle_s: float = 900.0
    """For how long a GPU may be held without being used."""

    starved_share: float = 0.6
    """A GPU that is used for less of the time waits for something."""

    pressure_share: float = 0.2
    """The share of time in which tasks of the host wait for CPU or I/O that explains it."""

    repeats: int = 3
    """So many failures of one GPU within ``repeats_within_s`` are no coincidence."""

    repeats_within_s: float = 30 * 86_400.0
    """How far back a GPU's failures count."""

    allowed_users: tuple[str, ...] = ()
    """Who may use the GPUs: patterns of user names; anybody, if there are none."""

    allowed_commands: tuple[str, ...] = ()
    """What may run on the GPUs: patterns of command lines; anything, if there are none."""

    ecc_corrected_per_minute: int = 600
    """Corrected memory errors of one GPU beyond which they say something."""

    power_supply_w: float | None = None
    """What the node's supply can give to its GPUs; nobody knows, if it is not told."""

    capped_clock_share: float = 0.7
    """A clock below this share of its peers' tells that a power cap costs work."""

    inlet_low_c: float = 16.0
    """Air colder than this lets water condense."""

    inlet_high_c: float = 27.0
    """Air warmer than this is beyond what ASHRAE recommends for servers."""
