"""The machine around a fake node's GPUs, as gputui would read it from the node's own files."""

from __future__ import annotations

from fakes.node import Node
from gputui.model import HostSample


def host_of(node: Node) -> HostSample:
    """What the world knows of it: the air that comes in."""
    return HostSample(inlet_c=round(node.inlet_c, 1))
