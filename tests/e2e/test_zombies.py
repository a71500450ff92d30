"""A process that ends without being taken note of, on a node with real processes."""

from __future__ import annotations


def test_a_zombie_stands_in_proc_and_holds_its_memory_until_it_is_healed(fake_node):
    """It is listed with what it holds, and that it has ended; others are reaped as ever."""
    node = fake_node("h100-sxm", "--gpus", "2")
    fault = node.inject("process", "gpu=1", "zombie=true")
    other = node.inject("process", "gpu=0", "end=true")
    processes = node.reading()["processes"]
    assert [(one["gpu"], one["unreachable"]) for one in processes] == [(1, "it has ended")]
    assert processes[0]["memory_bytes"] == 60 << 30
    for healed in (fault, other):
        assert node.gpuchaos("heal", healed).returncode == 0
    assert node.reading()["processes"] == []
