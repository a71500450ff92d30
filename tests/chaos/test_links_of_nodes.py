"""A node's network in virtual time and in its files is the same to gputui."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaos.fault import parse_fault
from chaos.real_time.host_view import links_of
from chaos.undo import Layers, Undo
from fakes.files.kept import KeptFiles
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World
from gputui.sources.network import LinkReader

SECOND_US = 1_000_000
FAULTS = (
    ("nic", {"nic": "ib1", "down": "true"}),
    ("nic", {"nic": "mlx5_0", "rate_gbps": "200"}),
    ("nic", {"nic": "eth0", "drops_per_s": "30"}),
    ("nic", {"nic": "ib0", "errors_per_s": "7"}),
    ("nic", {"nic": "all", "down": "true"}),
)


@pytest.fixture
def world() -> World:
    return World([Node("n0", load_profile("h100-sxm"), 2)])


def without_rates(links):
    """What both tell: the one measures traffic, the other has the counters of this very moment."""
    told = {}
    for link in links:
        missing = {name: why for name, why in link.missing.items() if "bytes" not in name}
        missing.pop("growth_s", None)
        missing.pop("carrier_changes", None)
        told[link.name] = replace(
            link,
            rx_bytes_per_s=None,
            tx_bytes_per_s=None,
            growth={},
            growth_s=None,
            missing=missing,
        )
    return told


@pytest.mark.parametrize("broken", range(len(FAULTS) + 1))
def test_gputui_reads_the_files_as_what_it_is_told_in_virtual_time(world, tmp_path, broken):
    """Whatever is broken, its own reader of /sys makes of the files what a run is told."""
    undo = Undo(Layers())
    for family, arguments in FAULTS[:broken]:
        parse_fault(family, {"node": "n0", **arguments}).apply(world, undo)
    world.advance(20 * SECOND_US)
    KeptFiles(tmp_path, world.nodes["n0"], world).refresh()
    read = LinkReader(tmp_path).read(0.0)
    assert without_rates(read) == without_rates(links_of(world.nodes["n0"], world.now_us))
    assert len(read) == 3


def test_an_interface_that_was_put_down_is_nobodys_trouble(world, tmp_path):
    """Neither tells of it."""
    world.nodes["n0"].network.interface("eth0").is_up = False
    KeptFiles(tmp_path, world.nodes["n0"], world).refresh()
    names = {link.name for link in LinkReader(tmp_path).read(0.0)}
    assert names == {"mlx5_0/1", "mlx5_1/1"}
    assert names == {link.name for link in links_of(world.nodes["n0"], 0)}


def test_healing_puts_every_link_back(world):
    """Faults that overlap end one after the other, and nothing of them stays but counts."""
    node = world.nodes["n0"]
    before = without_rates(links_of(node, 0))
    undos, layers = [], Layers()
    for family, arguments in FAULTS:
        undo = Undo(layers)
        parse_fault(family, {"node": "n0", **arguments}).apply(world, undo)
        undos.append(undo)
    for undo in (undos[0], *undos[:0:-1]):
        assert undo.run() == ()
    after = without_rates(links_of(node, 0))
    for name, link in after.items():
        kept = replace(link, counters={}, carrier_changes=before[name].carrier_changes)
        assert kept == replace(before[name], counters={})
