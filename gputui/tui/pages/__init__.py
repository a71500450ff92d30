"""Pages that are opened and read: one incident, one GPU, one process, the node, the keys.

Each is a function from what is known to lines of a given width, to be scrolled.
"""

from __future__ import annotations

from gputui.tui.pages.gpu import gpu_page
from gputui.tui.pages.incident import incident_page
from gputui.tui.pages.process import process_page
from gputui.tui.pages.writer import PageSource
from gputui.tui.view import Key, Panel


def page_of(panel: Panel, key: Key) -> PageSource:
    """The page of one row of a list."""
    pages = {
        Panel.GPUS: gpu_page,
        Panel.INCIDENTS: incident_page,
        Panel.PROCESSES: process_page,
    }
    return pages[panel](key)
