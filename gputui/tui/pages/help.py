"""Keys, states, and the short words in the columns."""

from __future__ import annotations

from gputui.tui.pages.writer import Page, Writer
from gputui.tui.scene import Scene
from gputui.tui.text import width_of

_KEYS = (
    ("Up Down j k", "choose a row"),
    ("PgUp PgDn", "a page of rows"),
    ("Home End", "first, last row"),
    ("Tab", "next list: GPUs, incidents, processes"),
    ("Enter", "open what is chosen"),
    ("r", "what to do about the chosen incident, or about the GPU of the chosen row"),
    ("a", "acknowledge the chosen incident: somebody has seen it"),
    ("z Z", "let nobody be called for it for an hour, for eight; again: call again"),
    ("g", "graphs and all readings of the GPU of the chosen row"),
    ("n", "the node: host, links, connections"),
    ("/ (F4)", "filter the processes by text; Esc clears it"),
    ("s (F6) . ,", "sort the processes by the next column, by the one before"),
    ("t (F5)", "the processes as a tree, below those that started them, or in one list"),
    ("+ -", "sort upwards, downwards"),
    (
        "o and a letter",
        "sort by: n PID, u user, p GPU, g GPU memory, s SM, c CPU, m host memory, t time",
    ),
    ("T K I (F9)", "ask a process to end: SIGTERM, SIGKILL, SIGINT"),
    ("Space", "hold the picture still, or let it go on; nothing is lost meanwhile"),
    ("[ ] (Left Right)", "a reading back in time, and forward; ten minutes are kept"),
    ("{ }", "a minute back, and forward; the whole of a recording"),
    ("< >", "play a recording (--source replay=FILE) at half, or twice, its speed"),
    ("Ctrl-L", "draw the whole screen anew"),
    ("Esc", "back"),
    ("? h (F1)", "this page"),
    ("q (F10, Ctrl-C)", "quit"),
    ("Ctrl-Z", "back to the shell; fg brings the screen back"),
)  # fmt: skip

_STATES = (
    ("LOST", "NVML counts it, and it does not answer"),
    ("HUNG", "a call to the driver has not returned"),
    ("RESET NEEDED", "it works again only after a reset"),
    ("HIDDEN", "not visible in this container"),
    ("UNSUPPORTED", "it gives no readings"),
    ("STALE", "the readings are old; their age stands beside it"),
    ("DEGRADED", "some readings fail, or an incident is open on it"),
    ("THROTTLED", "clocks are lowered by heat or by the power brake"),
    ("ok", "all is well; a software power cap alone is ok"),
)

_BESIDE = (
    ("ack", "somebody has seen it: it calls nobody"),
    ("snoozed 54m, snz", "it calls nobody for so long, unless it gets worse"),
    ("maint", "it falls into a window of maintenance that the config names"),
)

_WORDS = (
    ("n/s", "not supported by this GPU, or by this driver"),
    ("none", "NVML has no value"),
    ("perm", "needs more permission"),
    ("wait", "not measured yet"),
    ("late", "the call timed out"),
    ("bad", "garbage instead of a number"),
    ("err  lost  ?", "the call failed: open the GPU to see how"),
    ("89C!", "near, or at, the slowdown temperature"),
)


def help_page(scene: Scene, width: int) -> Page:
    """The page of help."""
    writer = Writer(width)
    for title, entries in (
        ("KEYS", _KEYS),
        ("STATES", _STATES),
        ("BESIDE AN INCIDENT", _BESIDE),
        ("IN PLACE OF A READING", _WORDS),
    ):
        writer.heading(title)
        for name, meaning in entries:
            cells = 17 if width >= 60 else width_of(name) + 1
            writer.described(f" {name:{cells}}", meaning)
    return writer.page
