"""What is wrong with the rows that a site has added, in all tables together."""

from __future__ import annotations

from pathlib import Path

from gputui.facts.compat import compat_table
from gputui.facts.nvlink5 import nvlink5_table
from gputui.facts.sxid import sxid_table
from gputui.facts.table import site_folders
from gputui.facts.words import kind_table, word_table
from gputui.facts.xid import xid_table


def site_problems() -> tuple[str, ...]:
    """Lines for people, each beginning with ``FILE:LINE:``; none where a site has added nothing."""
    if not any(_is_there(folder) for folder in site_folders()):
        return ()
    tables = (
        xid_table(),
        sxid_table(),
        nvlink5_table(),
        compat_table(),
        word_table(),
        kind_table(),
    )
    return tuple(problem for table in tables for problem in table.problems)


def _is_there(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False
