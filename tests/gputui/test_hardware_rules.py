"""Rules of memory errors, power, heat and boots, on readings and lines of the log alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gputui.assess import Assessor
from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.incidents.thresholds import Thresholds
from gputui.model import Action, ClockReasons, HostSample, Severity
from gputui.state import NodeState

SW_HEAT = int(ClockReasons.SW_THERMAL_SLOWDOWN)
HW_HEAT = int(ClockReasons.HW_THERMAL_SLOWDOWN | ClockReasons.HW_SLOWDOWN)
BRAKE = int(ClockReasons.HW_POWER_BRAKE_SLOWDOWN | ClockReasons.HW_SLOWDOWN)


class Node:
    """An engine with all rules, given a node second by second."""

    def __init__(self, make, thresholds):
        self.make = make
        self.engine = Engine(all_rules(), interval_s=1.0, thresholds=thresholds)
        self.time_s = 0.0

    def sees(self, *changed, seconds=1, host=None, count=8):
        for _ in range(seconds):
            sample = self.make.node(self.time_s, *changed, count=count)
            self.engine.sample(replace(sample, host_readings=host))
            self.time_s += 1
        return self

    def hears(self, gpu, code, detail=""):
        self.engine.log(self.make.xid(self.time_s, gpu, code, detail))
        return self

    @property
    def roots(self):
        return [one for one in self.engine.incidents if one.parent is None]

    @property
    def one(self):
        (root,) = self.roots
        return root


@pytest.fixture
def new_node(make):
    def new(**thresholds):
        return Node(make, Thresholds(**thresholds)).sees(seconds=3)

    return new


@pytest.fixture
def node(new_node):
    return new_node()


# --- memory ---------------------------------------------------------------------------------------


def test_a_counter_that_grows_is_told_and_one_that_was_high_is_not(node, make):
    """What it stood at when it was first read is nobody's news."""
    node.sees(make.gpu(2, ecc_uncorrected_volatile=12), seconds=60)
    assert not node.roots
    node.sees(make.gpu(2, ecc_uncorrected_volatile=14))
    incident = node.one
    assert (incident.kind, incident.gpu) == ("EccUncorrectable", 2)
    assert "2 uncorrectable ECC errors" in incident.evidence[-1]


def test_where_an_error_was_is_told_by_its_own_counter(node, make):
    """SRAM and DRAM have counters of their own, which may be read later."""
    zero = {"ecc_uncorrected_volatile": 0, "ecc_sram_uncorrected_volatile": 0}
    node.sees(make.gpu(2, **zero))
    node.sees(make.gpu(2, ecc_uncorrected_volatile=1, ecc_sram_uncorrected_volatile=0))
    node.sees(make.gpu(2, ecc_uncorrected_volatile=1, ecc_sram_uncorrected_volatile=1))
    assert node.one.cause == "sram"


def test_a_reset_ends_it(node, make):
    """The counters are set back and the GPU answers again: all of it is over at once."""
    node.sees(make.gpu(2, ecc_uncorrected_volatile=0))
    node.hears(2, 95, "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No")
    node.sees(make.gpu(2, return_code=16), seconds=5)
    assert node.one.kind == "EccUncorrectable"
    assert {one.kind for one in node.engine.incidents} == {
        "EccUncorrectable", "GpuResetRequired", "GpuXid",
    }  # fmt: skip
    node.sees(make.gpu(2, ecc_uncorrected_volatile=0), seconds=5)
    assert not node.engine.incidents


def test_the_order_of_the_lines_does_not_matter_for_what_is_on_top(node):
    """A100s tell the double-bit error, the row, and that it was contained: one incident."""
    dbe = "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"
    node.hears(2, 48, dbe)
    node.hears(
        2, 63, "Row Remapper: New row (0x18f31d80) marked for remapping, reset gpu to activate."
    )
    node.hears(2, 94, "Contained: CE User Channel (0x9). RST: No, D-RST: No")
    node.hears(2, 154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)")
    incident = node.one
    assert (incident.kind, incident.cause) == ("EccUncorrectable", "contained")
    node.sees()
    assert node.one.action is Action.DRAIN_AND_RESET


@pytest.mark.parametrize(
    ("recovery", "action"),
    [
        (1, Action.RESET_GPU),
        (2, Action.REBOOT_NODE),
        (4, Action.DRAIN_AND_RESET),
        (7, Action.REBOOT_NODE),
        (0, Action.RESTART_APP),
        (99, Action.RESTART_APP),
    ],
)
def test_the_drivers_reading_outranks_the_code(node, make, recovery, action):
    """A contained error restarts its application, unless the recovery action asks for more."""
    node.hears(2, 94, "Contained: SM (0x1)")
    node.sees(make.gpu(2, recovery_action=recovery, ecc_uncorrected_volatile=1))
    assert node.one.action is action


def test_too_many_errors_of_the_chip_ask_for_another_board(node, make):
    """More than four over its life, where the driver's own flag is not told."""
    before = {"ecc_uncorrected_volatile": 0, "ecc_sram_uncorrected_volatile": 0}
    node.sees(make.gpu(2, **before, ecc_sram_uncorrected_aggregate=5))
    after = {"ecc_uncorrected_volatile": 1, "ecc_sram_uncorrected_volatile": 1}
    node.sees(make.gpu(2, **after, ecc_sram_uncorrected_aggregate=6), seconds=2)
    assert (node.one.action, node.one.cause) == (Action.REPLACE_GPU, "sram")


def test_rows_that_are_spent_fast_are_foreseen(node, make):
    """Eight new rows in an hour are 512 within days."""
    for rows in range(9):
        node.sees(make.gpu(2, remapped_rows_uncorrectable=100 + rows, remap_failed=False))
        node.time_s += 450
    incident = node.one
    assert (incident.kind, incident.severity) == ("RowRemapFailure", Severity.WARNING)
    assert "will be spent in" in incident.cause_text


@pytest.mark.parametrize(
    ("rows", "banks_low", "banks_none", "severity"),
    [(512, 0, 0, Severity.WARNING), (3, 1, 0, Severity.INFO), (3, 0, 1, Severity.WARNING)],
)
def test_spare_rows_that_run_out(node, make, rows, banks_low, banks_none, severity):
    """Rows in all, banks with few, banks with none."""
    readings = {"remap_banks_low": banks_low, "remap_banks_none": banks_none}
    node.sees(make.gpu(2, remapped_rows_uncorrectable=rows, **readings), seconds=2)
    assert (node.one.kind, node.one.severity) == ("RowRemapFailure", severity)


@pytest.mark.parametrize(
    ("single", "double", "pending", "action", "severity"),
    [
        (40, 23, False, Action.REPLACE_GPU, Severity.CRITICAL),
        (0, 2, True, Action.RELOAD_DRIVER, Severity.WARNING),
        (10, 0, False, Action.IGNORE, Severity.INFO),
    ],
)
def test_retired_pages(node, make, single, double, pending, action, severity):
    """63 in all, some that wait, ten that are merely there."""
    pages = {"retired_pages_single_bit": single, "retired_pages_double_bit": double}
    node.sees(make.gpu(2, **pages, retired_pages_pending=pending), seconds=2)
    incident = node.one
    assert (incident.kind, incident.cause) == ("RetiredPages", "dram")
    assert (incident.action, incident.severity) == (action, severity)


def test_many_pages_by_double_bit_errors_are_told_with_the_next(node, make):
    """Sixteen old ones are no news; a new one among them is."""
    node.sees(make.gpu(2, retired_pages_double_bit=9), seconds=5)
    assert not node.roots
    for pages in (16, 17):
        node.sees(make.gpu(2, retired_pages_double_bit=pages))
    assert (node.one.action, node.one.severity) == (Action.REPLACE_GPU, Severity.CRITICAL)


def test_pages_in_the_log_are_no_rows(node):
    """The words of dynamic page retirement, in both of its Xids."""
    node.hears(2, 63, "Dynamic Page Retirement: New retired page, reload the driver to activate.")
    assert (node.one.kind, node.one.action) == ("RetiredPages", Action.RELOAD_DRIVER)
    node.hears(2, 64, "Dynamic Page Retirement: Fatal error, unable to retire page (0x1)")
    assert (node.one.kind, node.one.action) == ("RetiredPages", Action.REPLACE_GPU)


def test_a_bare_code_is_told_as_what_the_gpu_has(node, make):
    """NVML tells no words: a GPU that retires pages retired one, any other marked a row."""
    node.sees(make.gpu(2, retired_pages_pending=False))
    node.hears(2, 63).hears(3, 63)
    assert {(one.kind, one.gpu) for one in node.roots} == {
        ("RetiredPages", 2), ("RowRemapPending", 3),
    }  # fmt: skip


def test_corrections_are_judged_by_their_rate(node, make):
    """The counter is read every ten seconds; 20 a second are a storm, two are not."""
    for step in range(6):
        slow = make.gpu(3, ecc_corrected_volatile=1000 + 20 * step)
        node.sees(make.gpu(2, ecc_corrected_volatile=1000 + 200 * step), slow, seconds=10)
    assert (node.one.kind, node.one.gpu) == ("EccStorm", 2)
    assert "1200 errors a minute" in node.one.cause_text


def test_a_recalled_error_outlives_the_monitor(make):
    """After a restart the counter is old, and the incident is still open; a reset ends it."""
    assessor = Assessor(interval_s=1.0)
    host = HostSample(boot_id="a", uptime_s=100.0)

    def sample(time_s, *gpus):
        return replace(make.node(time_s, *gpus), host_readings=host)

    first = sample(0, make.gpu(2, ecc_uncorrected_volatile=0))
    assessor.recall(NodeState(), first)
    assessor.sample(first)
    assessor.sample(sample(1, make.gpu(2, ecc_uncorrected_volatile=1)))
    assert [one.kind for one in assessor.changes()] == ["EccUncorrectable"]

    again = Assessor(interval_s=1.0)
    first = sample(1000, make.gpu(2, ecc_uncorrected_volatile=1))
    again.recall(assessor.state, first)
    snapshot = again.sample(first)
    assert [one.kind for one in snapshot.incidents] == ["EccUncorrectable"]
    snapshot = again.sample(sample(1001, make.gpu(2, ecc_uncorrected_volatile=0)))
    assert not snapshot.incidents


# --- power ----------------------------------------------------------------------------------------


def test_a_brake_that_flickers_counts_in_two_of_three_samples(node, make):
    """On, off, on: that is no change of clocks."""
    braked = make.gpu(3, clock_reasons=BRAKE)
    node.sees(braked).sees()
    assert not node.roots
    node.sees(braked)
    assert (node.one.kind, node.one.gpu, node.one.cause) == ("GpuPowerBrake", 3, "supply")


def test_a_single_sample_of_the_brake_is_none(node, make):
    """One in a while happens when clocks change."""
    for _ in range(10):
        node.sees(make.gpu(3, clock_reasons=BRAKE)).sees(seconds=4)
    assert not node.engine.cleared
    assert not node.roots


def test_a_rack_takes_over_from_the_first_gpu_that_was_braked(node, make):
    """When all are, none of them is its own."""
    node.sees(make.gpu(3, clock_reasons=BRAKE), seconds=3)
    node.sees(*[make.gpu(index, clock_reasons=BRAKE) for index in range(8)], seconds=3)
    assert (node.one.subject, node.one.cause) == ("node:n0", "rack")


def test_a_rack_stays_the_cause_while_a_brake_flickers(node, make):
    """Seven of eight for a moment are not seven loose cables."""
    every = [make.gpu(index, clock_reasons=BRAKE) for index in range(8)]
    node.sees(*every, seconds=3)
    node.sees(*every[1:], seconds=4)
    assert [one.subject for one in node.roots] == ["node:n0"]
    assert node.one.cause_text == "power brake on 7 of 8 GPUs"


@pytest.mark.parametrize(
    ("supply_w", "severity"),
    [(None, None), (7000.0, None), (6500.0, Severity.INFO), (5000.0, Severity.WARNING)],
)
def test_limits_are_held_against_the_supply(new_node, make, supply_w, severity):
    """8 x 700 W are 5.6 kW, and 6.72 kW with a fifth in reserve."""
    node = new_node(power_supply_w=supply_w)
    node.sees(*[make.gpu(index, power_limit_mw=700_000) for index in range(8)], seconds=5)
    found = [(one.kind, one.severity) for one in node.roots]
    assert found == ([] if severity is None else [("PowerHeadroom", severity)])


# --- heat -----------------------------------------------------------------------------------------


def test_a_slowdown_by_software_far_from_the_limit_has_to_last_a_minute(node, make):
    """It may be the memory's heat, or pass; near the limit, three samples are enough."""
    cool = make.gpu(3, clock_reasons=SW_HEAT, temperature_c=60, temperature_slowdown_c=89)
    node.sees(cool, seconds=50)
    assert not node.roots
    node.sees(cool, seconds=15)
    assert node.one.kind == "GpuThermalThrottle"
    hot = make.gpu(5, clock_reasons=SW_HEAT, temperature_c=87, temperature_slowdown_c=89)
    node.sees(cool, hot, seconds=3)
    assert [one.gpu for one in node.roots] == [5, 3]


def test_heat_in_three_of_five_samples_is_heat(node, make):
    """The hardware's bit that comes and goes."""
    hot = make.gpu(3, clock_reasons=HW_HEAT, temperature_c=89)
    node.sees(hot).sees().sees(hot).sees().sees(hot)
    assert node.one.kind == "GpuThermalThrottle"


def test_heat_between_two_samples_is_in_its_counter(node, make):
    """The bit is never seen; the counter grew for seven of ten seconds."""
    for step in range(4):
        held_ns = 7_000_000_000 * step
        node.sees(make.gpu(3, violation_hw_thermal_ns=held_ns, temperature_c=89), seconds=10)
    assert (node.one.kind, node.one.gpu) == ("GpuThermalThrottle", 3)


def test_a_sensor_that_alone_tells_nothing_is_at_fault(node, make):
    """Its neighbours do, and it works: power is told."""
    silent = make.gpu(3, temperature_c=None, missing={"temperature_c": "unknown error"})
    node.sees(silent, seconds=3)
    assert (node.one.kind, node.one.gpu) == ("ThermalSensorFault", 3)


def test_gpus_that_never_tell_a_temperature_are_not_at_fault(node, make):
    """None of them does: that is the driver's way."""
    node.sees(*[make.gpu(index, temperature_c=None) for index in range(8)], seconds=30)
    assert not node.roots


def test_a_job_that_starts_is_no_jump(node, make):
    """Twenty degrees in the first seconds."""
    for degrees in (35, 48, 55, 60, 63):
        node.sees(*[make.gpu(index, temperature_c=degrees) for index in range(8)])
    assert not node.roots


@pytest.mark.parametrize(("inlet_c", "found"), [(22.0, 0), (27.0, 0), (31.0, 1), (9.0, 1)])
def test_air_is_held_against_the_band(node, inlet_c, found):
    """16 to 27 C, at either end."""
    node.sees(host=HostSample(inlet_c=inlet_c), seconds=5)
    assert len(node.roots) == found


def test_a_site_has_its_own_band(new_node):
    """A warm water-cooled hall is as it should be."""
    node = new_node(inlet_high_c=40.0)
    assert not node.sees(host=HostSample(inlet_c=35.0), seconds=5).roots


# --- boots ----------------------------------------------------------------------------------------


def test_a_node_that_was_rebooted_says_so(make):
    """The state file knows another boot: told for ten minutes."""
    first = replace(make.node(1000.0), host_readings=HostSample(boot_id="b", uptime_s=100.0))
    assessor = Assessor(interval_s=1.0)
    assessor.recall(NodeState(boot_id="a"), first)
    (incident,) = assessor.sample(first).incidents
    assert (incident.kind, incident.subject) == ("NodeRebooted", "node:n0")
    assert incident.opened_s == 900.0
    later = replace(first, time_s=1700.0)
    assert not assessor.sample(later).incidents


def test_a_reboot_is_told_by_the_next_run_too(make):
    """Who starts gputui again five minutes later finds it still, and a quarter of an hour later no
    more.
    """
    first = replace(make.node(1000.0), host_readings=HostSample(boot_id="b", uptime_s=100.0))
    before = Assessor(interval_s=1.0)
    before.recall(NodeState(boot_id="a"), first)
    before.sample(first)
    for after_s, told in ((300.0, ["NodeRebooted"]), (900.0, [])):
        again = replace(
            make.node(1000.0 + after_s),
            host_readings=HostSample(boot_id="b", uptime_s=100.0 + after_s),
        )
        later = Assessor(interval_s=1.0)
        later.recall(replace(before.state, boot_id="b"), again)
        assert [one.kind for one in later.sample(again).incidents] == told


def test_an_uptime_that_fell_is_a_reboot(node):
    """Where the kernel's name for the boot is not told."""
    node.sees(host=HostSample(uptime_s=5000.0))
    node.sees(host=HostSample(uptime_s=5001.0))
    assert not node.roots
    node.sees(host=HostSample(uptime_s=40.0))
    assert node.one.kind == "NodeRebooted"


def test_the_first_look_at_a_node_is_no_reboot(node):
    """Nobody knows what was before."""
    node.sees(host=HostSample(boot_id="a", uptime_s=10.0), seconds=5)
    assert not node.roots
