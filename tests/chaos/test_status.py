from __future__ import annotations

import re


def test_status_says_how_long_a_fault_has_been_there_and_will_be(fake_node):
    """Since when and until when, as spans of time; JSON has the moments."""
    node = fake_node("h100-sxm", "--gpus", "2")
    node.inject("lost", "gpu=1", "--for", "300s")
    node.inject("xid", "gpu=0", "code=13", "log_only=true")

    lines = node.gpuchaos("status").stdout.splitlines()

    lost, xid = (line for line in lines if re.match(r"  (lost|xid)-1: ", line))
    assert re.search(r"gpu=n0/1 .*\(for \d{1,2} s, heals in (300|2\d\d) s\)$", lost)
    assert re.search(r"code=13 .*\(for \d{1,2} s, until healed\)$", xid)
