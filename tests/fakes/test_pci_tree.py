"""The PCI devices of a node."""

from __future__ import annotations

from fakes.hardware.gpu import Lost
from fakes.node import Node
from fakes.pci.tree import pci_devices
from fakes.profile import load_profile
from fakes.system.machine import cpu_list, identity, numa_node_of


def test_every_gpu_hangs_on_a_port_of_its_own():
    """The bus behind the port is the GPU's; addresses are each used once."""
    node = Node("n0", load_profile("h100-sxm"), 8)
    devices = pci_devices(node)
    by_address = {device.address: device for device in devices}
    assert len(by_address) == len(devices)
    for gpu in node.gpus:
        assert by_address[f"{gpu.port_bus_id}.0"].below == gpu.pci_bus
        assert by_address[f"{gpu.bus_id}.0"].gpu is gpu
    assert sum(device.kind == 0x0680 for device in devices) == 4
    assert sum(device.kind == 0x0207 for device in devices) == 8


def test_a_lost_gpu_is_in_the_tree_and_answers_nothing():
    """The kernel does not take it out by itself."""
    node = Node("n0", load_profile("a100-sxm"), 2)
    node.gpus[1].lost = Lost(0)
    gone = [device for device in pci_devices(node) if device.gone]
    assert [(device.gpu, device.revision) for device in gone] == [(node.gpus[1], 0xFF)]


def test_a_server_has_numbers_of_its_own():
    """The same at every run; four GPUs share a socket and its processors."""
    assert identity("n0") == identity("n0") != identity("n1")
    assert [numa_node_of(gpu) for gpu in range(8)] == [0] * 4 + [1] * 4
    assert cpu_list(0) == "0-55,112-167"
