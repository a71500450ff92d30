"""A fake node's own air, as gputui on it reads it."""

from __future__ import annotations


def test_warm_air_on_a_fake_node_is_that_nodes(fake_node):
    """As designed at first; what is injected is read at once, and healed again."""
    node = fake_node("h100-sxm", "--gpus", "2")
    assert node.reading()["host_readings"]["inlet_c"] == 22.0
    fault = node.inject("thermal", "node=n0", "inlet=35C")
    assert node.reading()["host_readings"]["inlet_c"] == 35.0
    node.gpuchaos("heal", fault)
    assert node.reading()["host_readings"]["inlet_c"] == 22.0
