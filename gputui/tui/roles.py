"""What a piece of text on the screen is. A theme says how each looks."""

from __future__ import annotations

from enum import IntEnum, auto

from gputui.model import GpuState, Severity


class Role(IntEnum):
    """The part a run of text plays.

    Colour is only the third way in which severity is told, after the glyph and the word, so nothing
    is lost when two roles look alike.
    """

    TEXT = 0
    DIM = auto()
    TITLE = auto()
    STRONG = auto()
    OK = auto()
    INFO = auto()
    WARNING = auto()
    CRITICAL = auto()
    ADVICE = auto()
    BAR = auto()
    MEMORY_BAR = auto()
    WARNING_BAR = auto()
    HISTORY = auto()
    CURSOR = auto()
    KEY = auto()
    HEADER = auto()
    HEADER_STRONG = auto()
    HEADER_OK = auto()
    HEADER_WARNING = auto()
    HEADER_CRITICAL = auto()


SEVERITY_ROLES: dict[Severity, Role] = {
    Severity.INFO: Role.INFO,
    Severity.WARNING: Role.WARNING,
    Severity.CRITICAL: Role.CRITICAL,
}
"""How each severity is written."""

STATE_SEVERITY: dict[GpuState, Severity] = {
    GpuState.LOST: Severity.CRITICAL,
    GpuState.HUNG: Severity.CRITICAL,
    GpuState.RESET_NEEDED: Severity.CRITICAL,
    GpuState.HIDDEN: Severity.INFO,
    GpuState.UNSUPPORTED: Severity.INFO,
    GpuState.STALE: Severity.WARNING,
    GpuState.DEGRADED: Severity.WARNING,
    GpuState.THROTTLED: Severity.WARNING,
    GpuState.OK: Severity.INFO,
}
"""How loudly each state of a GPU speaks."""


def state_role(state: GpuState) -> Role:
    """How a GPU's state is written."""
    return Role.OK if state is GpuState.OK else SEVERITY_ROLES[STATE_SEVERITY[state]]
