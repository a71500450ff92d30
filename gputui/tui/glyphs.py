"""The characters that are drawn, in Unicode and in ASCII alone."""

from __future__ import annotations

from dataclasses import dataclass

from gputui.model import GpuState, Severity
from gputui.tui.roles import STATE_SEVERITY


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of characters.

    ``blocks`` fill a bar's last cell, from one eighth to whole; ``dots`` draw a history, by the
    heights (0..4) of its two samples, or ``levels`` one sample a cell where there is no braille.
    ``branch``, ``last_branch`` and ``trunk``, of one width, draw a tree.
    """

    critical: str
    warning: str
    info: str
    cursor: str
    ellipsis: str
    degree: str
    descending: str
    ascending: str
    separator: str
    branch: str
    last_branch: str
    trunk: str
    blocks: str
    track: str
    braille: bool
    levels: str
    ascii_only: bool

    def severity(self, severity: Severity) -> str:
        """The glyph that stands before a severity's word."""
        return (self.info, self.warning, self.critical)[severity]

    def state(self, state: GpuState) -> str:
        """The glyph that stands before a GPU's state; none while all is well."""
        if state is GpuState.OK:
            return " "
        return (self.info, self.warning, self.critical)[STATE_SEVERITY[state]]


UNICODE = Glyphs(
    critical="✖",
    warning="▲",
    info="•",
    cursor="▌",
    ellipsis="…",
    degree="°",
    descending="▼",
    ascending="▲",
    separator="·",
    branch="├ ",
    last_branch="└ ",
    trunk="│ ",
    blocks="▏▎▍▌▋▊▉█",
    track=" ",
    braille=True,
    levels="",
    ascii_only=False,
)

ASCII = Glyphs(
    critical="X",
    warning="!",
    info="-",
    cursor=">",
    ellipsis="~",
    degree="",
    descending="v",
    ascending="^",
    separator="-",
    branch="|- ",
    last_branch="`- ",
    trunk="|  ",
    blocks="#",
    track=".",
    braille=False,
    levels="_.-=#",
    ascii_only=True,
)
