"""What gputui says of faults of PCIe, NVLink, switches and the fabric, and how soon."""

from __future__ import annotations

import pytest

from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Run
from chaos.virtual.watching import Watching
from gputui.model import Action, Severity

THRESHOLD_S = 3
"""A threshold opens its incident within three samples after it holds."""


def roots(run):
    return [(one.kind, one.subject, one.cause) for one in run.incidents if one.parent is None]


def grave(run):
    return [one.kind for one in run.incidents if one.severity > Severity.INFO]


def test_counters_that_were_high_before_the_start_are_no_news():
    """Replays, checksums and recoveries of the last months say nothing about today."""
    fleet = Fleet()
    world = build_world(Given(fleet, (training(fleet),)))
    for gpu in world.gpus():
        gpu.pcie.replays = 123_456
        for link in gpu.nvlinks:
            link.crc, link.replays, link.recoveries = 10**9, 77, 12
    with Watching(Run(world)) as watching:
        watching.until(120_000_000)
        assert watching.incidents == ()


@pytest.mark.parametrize("model", ["h100-sxm", "a100-sxm", "l4"])
@pytest.mark.parametrize("idle", [False, True])
def test_sound_links_are_no_incident(watched, model, idle):
    """Under load, idle, with and without links: nothing for ten minutes."""
    assert watched(model=model, gpus=4, idle=idle).run(600).told == []


class TestPcie:
    def test_fewer_lanes_under_load(self, watched):
        """One GPU on half of its lanes is its link; healing clears it."""
        run = watched().run(10)
        fault = run.inject("pcie", gpu=3, width=8)
        told = run.run(5).the("PcieDegraded")
        assert (told.incident.gpu, told.incident.cause) == (3, "link")
        assert "x8 of x16" in told.incident.cause_text
        assert told.incident.action is Action.CHECK_LINK
        assert f"lspci -vv -s {run.gpu(3).bus_id}" in told.incident.action_text
        assert told.took_s <= THRESHOLD_S
        assert run.kinds() == ["PcieDegraded"]
        run.heal(fault.id)
        assert run.run(90).incidents == ()

    def test_fewer_lanes_of_all_are_the_boards_setting(self, watched):
        """All GPUs alike is one incident of the node."""
        run = watched().run(10)
        run.inject("pcie", gpu="n0/*", width=8)
        run.run(5)
        assert roots(run) == [("PcieDegraded", "node:n0", "configuration")]

    def test_a_lower_generation_counts_after_half_a_minute_of_work(self, watched):
        """And only because the others have a higher one."""
        run = watched().run(40)
        run.inject("pcie", gpu=2, generation=3)
        told = run.run(10).the("PcieDegraded")
        assert (told.incident.gpu, told.incident.cause) == (2, "link")
        assert "generation 3 of 5" in told.incident.cause_text
        assert told.took_s <= THRESHOLD_S

    def test_an_idle_link_sleeps(self, watched):
        """Idle cards run at generation 1, and lanes do not matter to who does nothing."""
        run = watched(model="l4", gpus=2, idle=True).run(60)
        run.inject("pcie", gpu=0, width=8)
        assert run.run(60).incidents == ()

    def test_a_job_that_starts_finds_its_links_slow_at_first(self, watched):
        """The generation rises with the load; nothing is said of it."""
        run = watched(model="l4", gpus=2, idle=True).run(60)
        run.inject("job", start="later", gpus="n0/*", memory="10GiB")
        assert "PcieDegraded" not in [one.kind for one in run.run(90).incidents]

    def test_replays_at_a_rate(self, watched):
        """Twenty a minute are too many: an incident within the minute that shows it."""
        run = watched().run(10)
        fault = run.inject("pcie", gpu=1, replays_per_minute=60)
        told = run.run(30).the("PcieErrors")
        assert (told.incident.gpu, told.incident.cause) == (1, "link")
        assert told.took_s <= 9 + THRESHOLD_S
        assert told.incident.severity is Severity.WARNING
        run.heal(fault.id)
        assert run.run(60 + 620).incidents == ()

    def test_few_replays_are_normal(self, watched):
        """Six a minute are what a sound link may need."""
        run = watched().run(10)
        run.inject("pcie", gpu=1, replays_per_minute=6)
        assert run.run(300).incidents == ()

    @pytest.mark.parametrize(
        ("severity", "times", "wanted"),
        [
            ("corrected", 1, Severity.INFO),
            ("corrected", 20, Severity.WARNING),
            ("nonfatal", 1, Severity.WARNING),
        ],
    )
    def test_the_kernels_word_on_errors(self, watched, severity, times, wanted):
        """A corrected error is information, many are a warning; the first line tells it."""
        run = watched().run(10)
        run.inject("pcie", gpu=4, aer=severity, times=times)
        told = run.run(30).the("PcieErrors")
        assert (told.incident.gpu, told.incident.cause) == (4, "link")
        assert told.incident.severity is wanted
        assert told.took_s <= 1
        assert told.incident.count == times

    def test_a_fatal_error_hangs_under_the_gpu_that_it_cost(self, watched):
        """The GPU is lost: one top incident."""
        run = watched().run(10)
        run.inject("pcie", gpu=4, aer="fatal")
        assert run.run(5).kinds() == ["GpuLost"]
        assert run.the("PcieErrors").incident.parent == run.the("GpuLost").incident.id


class TestNvlink:
    def test_one_link_names_both_ends(self, watched):
        """The GPU's number of the link, and the switch it leads to; Xid and SXid hang under it."""
        run = watched().run(40)
        fault = run.inject("nvlink", gpu=2, down=5)
        told = run.run(5).the("NvlinkDown")
        assert told.took_s <= 1
        assert (told.incident.gpu, told.incident.cause) == (2, "link")
        assert "link 5 to switch 0000:06:00" in told.incident.cause_text
        assert "nvidia-smi nvlink -s -i 2" in told.incident.action_text
        assert run.kinds() == ["NvlinkDown"]
        assert {one.kind for one in run.incidents} == {"NvlinkDown", "GpuXid", "NvswitchError"}
        run.heal(fault.id)
        run.run(120)
        assert "NvlinkDown" not in run.kinds()

    def test_a_link_that_goes_in_silence_shows_in_the_readings(self, watched):
        """Without a word of the kernel's: within three samples."""
        run = watched().run(40)
        run.inject("nvlink", gpu=7, down="0..1", silent="true")
        told = run.run(5).the("NvlinkDown")
        assert told.incident.gpu == 7
        assert told.incident.cause_text == (
            "link 0 to switch 0000:05:00, link 1 to switch 0000:06:00 are down"
        )
        assert told.took_s <= THRESHOLD_S

    def test_a_dead_switch_is_one_incident(self, watched):
        """Forty links of eight GPUs, forty Xids, forty SXids: one switch."""
        run = watched().run(40)
        fault = run.inject("nvswitch", node="n0", dead=2)
        run.run(5)
        assert roots(run) == [("NvlinkDown", "node:n0", "switch")]
        assert "0000:07:00" in run.incidents[0].cause_text
        run.heal(fault.id)
        assert "NvlinkDown" not in run.run(120).kinds()

    def test_a_dead_switch_in_silence_is_one_as_well(self, watched):
        """From the readings alone."""
        run = watched().run(40)
        run.inject("nvswitch", node="n0", dead=0, silent="true")
        run.run(5)
        assert roots(run) == [("NvlinkDown", "node:n0", "switch")]

    def test_all_links_of_all_gpus_are_the_fabric(self, watched):
        """Nothing is left: the fabric manager, or the switches."""
        run = watched().run(40)
        run.inject("nvlink", gpu="n0/*", down="all", silent="true")
        assert [cause for _, _, cause in roots(run.run(5))] == ["switch"]

    def test_links_that_sleep_are_information(self, watched):
        """On a node without work."""
        run = watched(idle=True).run(120)
        fault = run.inject("nvlink", gpu=1, down=3, silent="true")
        assert grave(run.run(30)) == []
        run.heal(fault.id)
        assert run.run(90).incidents == ()

    @pytest.mark.parametrize(
        ("errors", "per_minute", "wanted"),
        [
            ("crc", 12_000, Severity.CRITICAL),
            ("crc", 600, None),
            ("replay", 60, Severity.WARNING),
            ("recovery", 10, Severity.WARNING),
        ],
    )
    def test_errors_of_links(self, watched, errors, per_minute, wanted):
        """Checksums count by their rate, replays and recoveries from the first one on."""
        run = watched().run(40)
        run.inject("nvlink", gpu=6, errors=errors, per_minute=per_minute)
        run.run(60)
        if wanted is None:
            assert run.incidents == ()
            return
        told = run.the("NvlinkErrors")
        assert (told.incident.gpu, told.incident.cause) == (6, "link")
        assert told.incident.severity is wanted
        assert told.took_s <= max(1, 60 / per_minute) + THRESHOLD_S


class TestSwitchAndFabric:
    @pytest.mark.parametrize(
        ("code", "wanted", "action"),
        [
            (20034, Severity.CRITICAL, Action.RESET_GPU),
            (19084, Severity.CRITICAL, Action.DRAIN_AND_RESET),
            (20009, Severity.WARNING, Action.CHECK_LINK),
            (22013, Severity.INFO, Action.IGNORE),
        ],
    )
    def test_an_sxid_by_its_class(self, watched, code, wanted, action):
        """The driver's word first, then the vendors' class of the code."""
        run = watched().run(10)
        run.inject("nvswitch", node="n0", sxid=code, switch=1, port=30)
        told = run.run(5).the("NvswitchError")
        assert told.took_s <= 1
        assert told.incident.subject == "node:n0"
        assert (told.incident.severity, told.incident.action) == (wanted, action)
        assert "0000:06:00, link 30" in told.incident.cause_text

    def test_a_burst_is_one_incident_as_bad_as_its_worst(self, watched):
        """Harmless ones after a fatal one do not make it harmless."""
        run = watched().run(10)
        run.inject("nvswitch", node="n0", sxid=20034, times=30)
        run.inject("nvswitch", node="n0", sxid=22013, times=30)
        told = run.run(60).the("NvswitchError")
        assert told.incident.count == 60
        assert told.incident.severity is Severity.CRITICAL

    def test_a_node_without_its_fabric_manager(self, watched):
        """All GPUs wait: one incident of the node; healing clears it."""
        run = watched().run(10)
        fault = run.inject("fabric", node="n0", manager="stopped")
        told = run.run(5).the("FabricNotReady")
        assert told.took_s <= THRESHOLD_S
        assert roots(run) == [("FabricNotReady", "node:n0", "fabric-manager")]
        assert "systemctl restart nvidia-fabricmanager" in told.incident.action_text
        run.heal(fault.id)
        assert run.run(10).incidents == ()

    def test_a_manager_of_another_version(self, watched):
        """Its own words in the log name both versions."""
        run = watched().run(10)
        run.inject("fabric", node="n0", version="565.57.01")
        told = run.run(5).the("FabricNotReady")
        assert told.incident.cause == "version-mismatch"
        assert told.incident.cause_text == "fabric manager 565.57.01, driver 570.124.06"

    def test_one_gpu_that_has_not_joined(self, watched):
        """It alone."""
        run = watched().run(10)
        run.inject("fabric", gpu=5, state="not-started")
        told = run.run(5).the("FabricNotReady")
        assert (told.incident.gpu, told.incident.cause) == (5, "fabric-manager")

    @pytest.mark.parametrize(
        ("health", "cause"),
        [("degraded-bandwidth", "link"), ("incorrect-configuration", "configuration")],
    )
    def test_one_gpu_that_is_not_well_in_it(self, watched, health, cause):
        """A trouble in the health mask."""
        run = watched().run(10)
        run.inject("fabric", gpu=5, health=health)
        told = run.run(5).the("FabricNotReady")
        assert (told.incident.gpu, told.incident.cause) == (5, cause)
        assert told.incident.severity is Severity.WARNING


class TestWithAJob:
    def test_a_links_death_is_one_incident_with_the_jobs(self, watched):
        """Xid 74, the link in the readings, and what NCCL says when it dies: one top incident."""
        run = watched().run(40)
        run.inject("nvlink", gpu=2, down=5)
        run.run(3)
        words = (
            "[rank2]:[E ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation "
            "timeout: WorkNCCL(SeqNum=731, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
            "Timeout(ms)=600000) ran for 600031 milliseconds before timing out."
        )
        run.inject("log", node="n0", source="train", line=words)
        run.run(10)
        assert run.kinds() == ["NvlinkDown"]
        assert {"GpuXid", "NvswitchError", "NcclTimeout"} <= {one.kind for one in run.incidents}
