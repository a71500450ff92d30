"""``--once --json``: one object, with the names and units of the capture format."""

from __future__ import annotations

import json

from gputui.model import Snapshot
from gputui.recording import incident_object, node_object


def write(snapshot: Snapshot) -> str:
    """The node, its GPUs with their states, its processes, its open and recent incidents."""
    shown = {
        **node_object(snapshot.sample, snapshot.statuses),
        "incidents": [incident_object(incident) for incident in snapshot.incidents],
        "recent": [incident_object(incident) for incident in snapshot.recent],
        "notices": list(snapshot.notices),
    }
    return json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
