"""What ``gputui --once`` says of a fake node in trouble: as much as whoever watches for longer."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("FabricNotReady", ("fabric", "node=n0", "manager=stopped")),
        ("NvlinkDown", ("nvlink", "gpu=1", "down=3", "silent=true")),
        ("RowRemapFailure", ("remap", "gpu=1", "failed=1")),
        ("PcieDegraded", ("pcie", "gpu=1", "width=8")),
    ],
)
def test_what_is_read_between_samples_is_in_one_reading_too(fake_node, kind, fault):
    """Links, fabric and memory tell of health as well: nothing is called healthy unread."""
    node = fake_node("h100-sxm")
    node.inject(*fault)
    reading = node.reading()
    assert kind in [one["kind"] for one in reading["incidents"]]
    unread = [gpu["index"] for gpu in reading["gpus"] if "not measured" in str(gpu["missing"])]
    assert unread == []
