"""Where gputui's files lie. As plain text: this is asked before anything else is imported."""

# ruff: noqa: PTH111
from __future__ import annotations

import os
from collections.abc import Mapping

SYSTEM_CONFIG = "/etc/gputui/config.toml"


def user_config(environment: Mapping[str, str] = os.environ) -> str:
    """The user's own settings, which are stronger than the site's."""
    home = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return f"{home}/gputui/config.toml"


def state_folder(environment: Mapping[str, str] = os.environ) -> str:
    """What is remembered of nodes."""
    home = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return f"{home}/gputui"
