"""What the fake driver prints is what the monitor understands: two sources, one subject."""

from __future__ import annotations

import pytest

from fakes.driver.faults import tell_mismatch
from fakes.driver.texts import sxid_texts
from fakes.hardware.fabric import manager_line
from fakes.hardware.link_faults import tell_broken_link, write_sxid
from fakes.hardware.links import Switch
from fakes.hardware.pcie import AerError, aer_lines, dpc_lines
from fakes.node import Node
from fakes.profile import load_profile
from gputui.facts.sxid import sxid_fact
from gputui.logs.kernel import KernelParser


@pytest.fixture
def node() -> Node:
    """Two GPUs with switches."""
    return Node("n0", load_profile("h100-sxm"), 2)


def events(node: Node) -> list[tuple[str, str | None, int | None]]:
    """What the monitor's parser makes of the node's kernel log."""
    parser = KernelParser()
    found = (parser.parse(line.text, 0.0) for line in node.kernel_log.lines)
    return [(one.kind, one.bus_id, one.code) for one in found if one is not None]


@pytest.mark.parametrize("code", sxid_texts())
def test_every_sxid_is_known_and_is_one_event(node, code):
    """Three lines of the driver's, one event, and the monitor has a meaning for its code."""
    write_sxid(node, Switch(3), code, 17, 0)
    assert events(node) == [("sxid", "0000:08:00", code)]
    assert sxid_fact(code).known


def test_both_ends_of_a_broken_link_are_events(node):
    """The GPU's Xid and the switch's SXid."""
    tell_broken_link(node, node.gpus[1], 6, 0)
    assert events(node) == [("xid", node.gpus[1].bus_id, 74), ("sxid", "0000:07:00", 20034)]


@pytest.mark.parametrize("error", list(AerError))
def test_pcie_errors_are_events_of_the_gpu(node, error):
    """Each names the GPU, but for the port's own."""
    gpu = node.gpus[0]
    for line in aer_lines(gpu.port_bus_id, gpu.bus_id, gpu.profile.pci_device_id, error):
        node.kernel_log.write(0, line)
    assert {(kind, bus_id) for kind, bus_id, _ in events(node)} == {("aer", gpu.bus_id)}
    for line in dpc_lines(gpu.port_bus_id):
        node.kernel_log.write(0, line)
    assert ("dpc", gpu.port_bus_id, None) in events(node)


def test_a_mismatch_and_the_fabric_managers_words_are_events(node):
    """With the versions in them."""
    tell_mismatch(node, "575.51.03", "dcgm-exporter", 7, 0)
    assert [kind for kind, _, _ in events(node)] == ["version_mismatch", "mismatch_versions"]
    parsed = KernelParser().parse(manager_line("565.57.01", "570.124.06"), 0.0)
    assert parsed is not None
    assert parsed.kind == "fabric_manager"
