"""Faults of PCIe, NVLink, switches and the fabric: what they do to the world, and that it heals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaos.fault import ArgumentError, FaultError, parse_fault
from chaos.run import Run
from fakes.hardware.fabric import FabricState, FabricTrouble
from fakes.hardware.pcie import AerError
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World


def ups(run, index):
    return [link.up for link in run.gpu(index).nvlinks]


class TestPcie:
    def test_fewer_lanes_carry_less(self, virtual_run):
        """A link of one lane at the lowest generation carries a quarter of a gigabyte a second."""
        run = virtual_run().at(10)
        before = run.gpu(0).pcie_kib_per_s(run.now_us, received=True)
        width = run.inject("pcie", gpu=0, width=1)
        generation = run.inject("pcie", gpu=0, generation=1)
        link = run.gpu(0)
        assert (link.pcie_width, link.pcie_generation) == (1, 1)
        assert link.pcie_kib_per_s(run.now_us, received=True) < 250_000 < before
        run.run.heal(width.id)
        assert (link.pcie_width, link.pcie_generation) == (16, 1)
        run.run.heal(generation.id)
        assert (link.pcie_width, link.pcie_generation) == (16, 5)

    def test_two_narrowings_end_only_with_the_last(self, virtual_run):
        """Overlapping faults: the newest in force holds."""
        run = virtual_run()
        first = run.inject("pcie", gpu=0, width=8)
        second = run.inject("pcie", gpu=0, width=4)
        run.run.heal(first.id)
        assert run.gpu(0).pcie_width == 4
        run.run.heal(second.id)
        assert run.gpu(0).pcie_width == 16

    @pytest.mark.parametrize("per_minute", [1, 7, 60, 1000])
    def test_replays_come_at_their_rate_and_stay_counted(self, virtual_run, per_minute):
        """In ten minutes ten times the rate; after healing, no more."""
        run = virtual_run()
        fault = run.inject("pcie", gpu=1, replays_per_minute=per_minute)
        run.at(600)
        assert abs(run.gpu(1).pcie.replays - 10 * per_minute) <= max(1, per_minute // 60)
        run.run.heal(fault.id)
        counted = run.gpu(1).pcie.replays
        assert run.at(1200).gpu(1).pcie.replays == counted
        assert run.gpu(0).pcie.replays == 0

    def test_a_corrected_error_is_printed_and_counted(self, virtual_run):
        """Three errors: three records of the port, which name the GPU."""
        run = virtual_run()
        run.inject("pcie", gpu=0, aer="corrected", times=3)
        run.at(10)
        bus_id = run.gpu(0).bus_id
        assert run.kernel_lines(f"error message received from {bus_id}.0") == [0, 1, 2]
        assert run.gpu(0).pcie.errors[AerError.CORRECTED] == 3
        assert run.gpu(0).lost is None

    def test_a_fatal_error_cuts_the_gpu_off(self, virtual_run):
        """The port contains it, and the GPU is lost until that is healed."""
        run = virtual_run()
        fault = run.inject("pcie", gpu=0, aer="fatal")
        assert len(run.kernel_lines("DPC: containment event")) == 1
        assert run.gpu(0).lost is not None
        run.run.heal(fault.id)
        assert run.gpu(0).lost is None


class TestNvlink:
    def test_both_ends_tell_of_a_link_that_broke(self, virtual_run):
        """The GPU prints an Xid 74 with its number, the switch an SXid with its own."""
        run = virtual_run()
        fault = run.inject("nvlink", gpu=1, down=5)
        assert [number for number, up in enumerate(ups(run, 1)) if not up] == [5]
        assert all(ups(run, 0))
        assert len(run.kernel_lines("74, pid=4002, name=python3, NVLink: fatal error")) == 1
        assert len(run.kernel_lines("on link 5(")) == 1
        assert len(run.kernel_lines("20034, Fatal, Link")) == 1
        run.run.heal(fault.id)
        assert all(ups(run, 1))

    def test_several_links_may_go_in_silence(self, virtual_run):
        """A range, or all; ``silent`` spares the log its lines."""
        run = virtual_run()
        run.inject("nvlink", gpu=0, down="2..4", silent="true")
        assert [number for number, up in enumerate(ups(run, 0)) if not up] == [2, 3, 4]
        run.inject("nvlink", gpu=1, down="all", silent="true")
        assert not any(ups(run, 1))
        assert run.kernel_lines("NVLink") == []

    def test_errors_count_at_their_rate(self, virtual_run):
        """Only the link that is meant counts, and only for as long as the fault is in force."""
        run = virtual_run()
        fault = run.inject("nvlink", gpu=0, errors="crc", per_minute=6000, link=3)
        run.at(60)
        assert [link.crc for link in run.gpu(0).nvlinks] == [0] * 3 + [6000] + [0] * 14
        run.run.heal(fault.id)
        assert run.at(120).gpu(0).nvlinks[3].crc == 6000

    def test_what_is_not_there_is_refused(self, virtual_run):
        """A link, or a switch, that the model does not have."""
        run = virtual_run()
        with pytest.raises(FaultError, match=r"n0/0 has no link 18, only 0 to 17"):
            run.inject("nvlink", gpu=0, down=18)
        with pytest.raises(FaultError, match=r"n0 has 4 NVSwitches, counted from 0; not 4"):
            run.inject("nvswitch", node="n0", dead=4)
        with pytest.raises(ArgumentError, match=r"down: '3\.\.1' is not a number counted from 0"):
            parse_fault("nvlink", {"gpu": "0", "down": "3..1"})


class TestPairs:
    def test_a_link_between_two_cards_breaks_at_both_ends(self):
        """Where there are no switches a link leads to the neighbour, which shows it as well."""
        profile = load_profile("h100-sxm")
        profile = replace(profile, nvlink=replace(profile.nvlink, switches=0, links=4))
        node = Node("n0", profile, 4)
        run = Run(World([node]))
        down = run.inject(parse_fault("nvlink", {"gpu": "2", "down": "1"}))
        assert [[link.up for link in gpu.nvlinks].count(False) for gpu in node.gpus] == [0, 0, 1, 1]
        assert not node.gpus[3].nvlinks[1].up
        assert [line.text.count("): 74, ") for line in node.kernel_log.lines] == [1, 1]
        run.heal(down.id)
        assert all(link.up for gpu in node.gpus for link in gpu.nvlinks)
        words = {"gpu": "3", "errors": "crc", "per_minute": "60", "link": "0"}
        run.inject(parse_fault("nvlink", words))
        run.advance(60_000_000)
        assert [gpu.nvlinks[0].crc for gpu in node.gpus] == [0, 0, 60, 60]


class TestSwitch:
    def test_a_dead_switch_takes_its_share_of_every_gpus_links(self, virtual_run):
        """Every fourth link of each GPU leads to it."""
        run = virtual_run(gpus=4)
        fault = run.inject("nvswitch", node="n0", dead=1)
        down = [[number for number, up in enumerate(ups(run, gpu)) if not up] for gpu in range(4)]
        assert down == [[1, 5, 9, 13, 17]] * 4
        assert len(run.kernel_lines("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, F")) == 20
        run.run.heal(fault.id)
        assert all(all(ups(run, gpu)) for gpu in range(4))

    def test_an_sxid_is_a_record_of_three_lines(self, virtual_run):
        """In the driver's words, with its own severity."""
        run = virtual_run()
        run.inject("nvswitch", node="n0", sxid=22013, switch=2, port=44)
        lines = [line.text for line in run.node.kernel_log.lines]
        head = "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 22013, "
        assert lines[0] == f"{head}Non-fatal, Link 44 Minion Link DLREQ interrupt (First)"
        assert lines[1] == f"{head}Severity 0 Engine instance 44 Sub-engine instance 00"
        assert lines[2].startswith(f"{head}Data {{0x0000002c, ")


class TestFabric:
    def test_a_gpu_may_wait_or_be_unwell(self, virtual_run):
        """State and health are a GPU's own, and heal."""
        run = virtual_run()
        state = run.inject("fabric", gpu=0, state="not-started")
        health = run.inject("fabric", gpu=1, health="degraded-bandwidth")
        assert run.gpu(0).fabric.state is FabricState.NOT_STARTED
        assert run.gpu(1).fabric.trouble is FabricTrouble.DEGRADED_BANDWIDTH
        run.run.heal(state.id)
        run.run.heal(health.id)
        assert run.gpu(0).fabric.state is FabricState.COMPLETED
        assert run.gpu(1).fabric.trouble is None

    def test_without_a_manager_all_gpus_wait(self, virtual_run):
        """Also where it does not run because it is of another version, which it says."""
        run = virtual_run()
        stopped = run.inject("fabric", node="n0", manager="stopped")
        assert {gpu.fabric.state for gpu in run.node.gpus} == {FabricState.IN_PROGRESS}
        run.run.heal(stopped.id)
        run.inject("fabric", node="n0", version="565.57.01")
        assert {gpu.fabric.state for gpu in run.node.gpus} == {FabricState.IN_PROGRESS}
        (line,) = (line.text for line in run.node.kernel_log.lines if "fabric" in line.text)
        assert "565.57.01" in line
        assert run.node.driver.version in line
