"""Each rule: what opens it, whom it blames, what it advises, and what leaves it cold."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

import gputui
from gputui.facts.xid import xid_fact
from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.model import Action, ClockReasons, ProcessSample, Severity

HW_THERMAL = int(ClockReasons.HW_THERMAL_SLOWDOWN | ClockReasons.HW_SLOWDOWN)
FACTS = Path(gputui.__file__).parent / "facts" / "xid.csv"


class Watched:
    """An engine with all rules, given a node second by second."""

    def __init__(self, make) -> None:
        self.make = make
        self.engine = Engine(all_rules(), interval_s=1.0)
        self.time_s = 0.0

    def sees(self, *changed, seconds=1, count=8):
        """So many samples with these GPUs changed, or changed as a function of time says."""
        for _ in range(seconds):
            gpus = [gpu(self.time_s) if callable(gpu) else gpu for gpu in changed]
            self.engine.sample(self.make.node(self.time_s, *gpus, count=count))
            self.time_s += 1
        return self

    def hears(self, gpu, code, detail="", times=1):
        for _ in range(times):
            self.engine.log(self.make.xid(self.time_s, gpu, code, detail))
        return self

    @property
    def kinds(self):
        return [incident.kind for incident in self.engine.incidents]

    @property
    def one(self):
        """The only incident that is no child."""
        (root,) = [one for one in self.engine.incidents if one.parent is None]
        return root


@pytest.fixture
def node(make):
    return Watched(make).sees(seconds=3)


def test_a_healthy_node_has_no_incidents(node):
    """Full load, power-capped, for ten minutes."""
    assert node.sees(seconds=600).kinds == []


def test_every_incident_says_what_to_do(node, make):
    """Cause, in slug and words, action, in slug and words, and evidence: none is empty."""
    node.hears(2, 31).hears(6, 119)
    node.sees(
        make.lost(1),
        make.gpu(3, clock_reasons=HW_THERMAL, temperature_c=89),
        make.gpu(4, memory_used_bytes=78 * make.GIB),
        make.gpu(5, return_code=16),
        seconds=20,
    )
    assert len(set(node.kinds)) == 5
    for incident in node.engine.incidents:
        assert incident.cause
        assert incident.cause_text
        assert incident.action_text
        assert incident.evidence


# --- GpuLost --------------------------------------------------------------------------------------


def test_a_lost_gpu_is_one_incident_with_its_xids_under_it(node, make):
    """Twelve Xid 79 and a silent GPU are one cause: the bus; drain and power-cycle."""
    node.hears(5, 79, "GPU has fallen off the bus.", times=12).hears(5, 45)
    node.sees(make.lost(5))
    incident = node.one
    assert (incident.kind, incident.gpu, incident.subject) == ("GpuLost", 5, "gpu:GPU-00000005")
    assert (incident.severity, incident.cause, incident.action) == (
        Severity.CRITICAL, "bus", Action.POWER_CYCLE,
    )  # fmt: skip
    assert incident.cause_text == "Xid 79 x12"
    assert "fallen off the bus" in incident.evidence[0]
    assert node.kinds == ["GpuLost", "GpuXid", "GpuXid"]


def test_a_loss_began_when_the_kernel_said_so(node, make):
    """The log is earlier than the reading that fails."""
    node.hears(5, 79)
    said_s = node.time_s
    node.sees(seconds=1)
    node.sees(make.lost(5))
    assert node.one.opened_s == said_s


def test_a_loss_without_a_word_in_the_log_is_found_all_the_same(node, make):
    """NVML's "GPU is lost" is enough by itself."""
    assert node.sees(make.lost(5)).one.cause_text == "no answer on the bus"


def test_one_unknown_error_is_a_hiccup_and_two_are_a_loss(node, make):
    """A single failed look-up is no incident."""
    node.sees(make.lost(5, 999)).sees(seconds=5)
    assert node.kinds == []
    assert node.sees(make.lost(5, 999), seconds=2).kinds == ["GpuLost"]


def test_a_gpu_that_answers_again_is_found_again(node, make):
    """The incident clears after it has answered for a while, and its Xids with it."""
    node.hears(5, 79).sees(make.lost(5), seconds=10)
    node.sees(seconds=3)
    assert node.kinds[0] == "GpuLost"
    assert node.sees(seconds=2).kinds == []


# --- GpuResetRequired, GpuXid ---------------------------------------------------------------------


def test_a_gpu_that_wants_a_reset_has_its_xids_under_it(node, make):
    """The driver's own verdict is the incident; the code is its evidence."""
    node.hears(2, 119, "Timeout after 6s")
    node.sees(make.gpu(2, return_code=16), seconds=2)
    assert node.kinds == ["GpuResetRequired", "GpuXid"]
    assert (node.one.action, node.one.cause_text) == (Action.RESET_GPU, "after Xid 119")


@pytest.mark.parametrize(
    ("code", "severity", "action", "cause"),
    [
        (43, Severity.INFO, Action.IGNORE, "application"),
        (31, Severity.WARNING, Action.RESTART_APP, "application"),
        (119, Severity.CRITICAL, Action.RESET_GPU, "driver"),
        (79, Severity.CRITICAL, Action.POWER_CYCLE, "hardware"),
        (45, Severity.INFO, Action.IGNORE, "secondary"),
        (9999, Severity.WARNING, Action.CONTACT_SUPPORT, "unknown"),
    ],
)
def test_a_code_is_as_bad_as_what_it_asks_for(node, code, severity, action, cause):
    """To ignore is information, to restart the application a warning, more is critical."""
    incident = node.hears(2, code).one
    assert (incident.severity, incident.action, incident.cause) == (severity, action, cause)
    assert f"Xid {code}" in incident.cause_text


@pytest.mark.parametrize(
    ("code", "detail", "action", "severity"),
    [
        (94, "Contained: SM (0x1). RST: No, D-RST: No", Action.RESTART_APP, Severity.WARNING),
        (94, "Contained: SM (0x1). RST: Yes, D-RST: No", Action.RESET_GPU, Severity.CRITICAL),
        (95, "Uncontained: FBHUB. RST: No, D-RST: Yes", Action.DRAIN_AND_RESET, Severity.CRITICAL),
        (154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
         Action.REBOOT_NODE, Severity.CRITICAL),
        (63, "Row Remapper: New row (0x1f) marked for remapping, reset gpu to activate.",
         Action.DRAIN_AND_RESET, Severity.WARNING),
        (63, "Dynamic Page Retirement: New retired page, reload the driver to activate. (0x1)",
         Action.RELOAD_DRIVER, Severity.WARNING),
    ],
)  # fmt: skip
def test_what_the_driver_says_outranks_the_code(node, code, detail, action, severity):
    """The line's own statement is taken over what the catalogue says of the code."""
    incident = node.hears(2, code, detail).one
    assert (incident.action, incident.severity) == (action, severity)


def test_a_recovery_action_of_none_takes_everything_back(node):
    """Xid 154 "(None)" clears; it opens nothing."""
    node.hears(2, 95).hears(3, 95)
    node.hears(2, 154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)")
    assert node.one.gpu == 3


def test_an_application_error_is_over_after_ten_quiet_minutes_and_a_grave_one_is_not(node):
    """What needs a reset does not heal by being silent."""
    node.hears(2, 31).hears(3, 95).sees(seconds=700)
    assert node.one.gpu == 3


def test_a_gpu_that_only_the_log_knows_is_named_by_its_address(make):
    """Lines before any reading, of an address that nobody has, are not lost."""
    engine = Engine(all_rules(), interval_s=1.0)
    engine.log(make.xid(0, 5, 79))
    (incident,) = engine.incidents
    assert (incident.subject, incident.gpu) == (f"gpu:{make.BUSES[5]}", None)


def test_the_catalogue_has_a_source_for_every_row():
    """Facts are data with a source; words and slugs are those of the vocabulary."""
    with FACTS.open(encoding="utf-8", newline="") as rows:
        facts = list(csv.DictReader(rows))
    assert [int(fact["code"]) for fact in facts] == list(range(1, 177))
    assert all(fact["source"] for fact in facts)
    causes = {"application", "driver", "hardware", "secondary", "unknown"}
    for code in range(1, 177):
        fact = xid_fact(code)
        assert fact.cause in causes
        assert fact.meaning
        assert (fact.severity is Severity.INFO) == (fact.action is Action.IGNORE)


# --- GpuThermalThrottle ---------------------------------------------------------------------------


def test_one_hot_gpu_is_its_heat_sink(node, make):
    """The others are cool: the air is all right."""
    node.sees(make.gpu(3, clock_reasons=HW_THERMAL, temperature_c=89), seconds=3)
    incident = node.one
    assert (incident.kind, incident.gpu, incident.cause) == ("GpuThermalThrottle", 3, "heat-sink")
    assert (incident.severity, incident.action) == (Severity.WARNING, Action.CHECK_COOLING)
    assert "only this GPU is hot" in incident.cause_text
    assert "89 C" in incident.evidence[0]


def all_hot(make, *cool):
    """Eight GPUs of which only ``cool`` are not."""
    return [
        make.gpu(index, clock_reasons=4 if index in cool else HW_THERMAL, temperature_c=80 + index)
        for index in range(8)
    ]


def test_all_hot_at_once_is_the_room(node, make):
    """Eight heat sinks do not fail together: one incident, of the node."""
    node.sees(*all_hot(make), seconds=3)
    (incident,) = node.engine.incidents
    assert (incident.subject, incident.gpu, incident.cause) == ("node:n0", None, "room")
    assert incident.cause_text == "all 8 GPUs are hot"
    assert "80 to 87 C" in incident.evidence[0]


def test_a_room_that_heats_up_takes_over_from_the_gpus_that_were_hot_first(node, make):
    """What looked like one heat sink was the first sign of it."""
    node.sees(make.gpu(3, clock_reasons=HW_THERMAL), seconds=5)
    assert node.one.gpu == 3
    node.sees(*all_hot(make), seconds=3)
    assert [one.subject for one in node.engine.incidents] == ["node:n0"]


def test_a_hot_room_stays_the_cause_while_one_of_its_gpus_flickers(node, make):
    """At the limit the bits come and go; that is no seven broken heat sinks."""
    node.sees(*all_hot(make), seconds=5)
    for cool in range(8):
        node.sees(*all_hot(make, cool), seconds=4)
    assert [one.subject for one in node.engine.incidents] == ["node:n0"]
    assert node.one.cause_text == "7 of 8 GPUs are hot"


def test_a_fan_that_stands_still_is_the_fan(node, make):
    """A board with a fan of its own tells its speed."""
    node.sees(make.gpu(3, clock_reasons=HW_THERMAL, fan_percent=0), seconds=3)
    assert node.one.cause == "fan"


@pytest.mark.parametrize("reasons", [0x4, 0x8])
def test_lowered_clocks_without_heat_are_not_heat(node, make, reasons):
    """Power cap and the bare hardware-slowdown bit are something else."""
    assert node.sees(make.gpu(3, clock_reasons=reasons), seconds=30).kinds == []


def test_a_flicker_of_the_thermal_bit_is_no_incident(node, make):
    """Clocks that change may set it for one sample."""
    for _ in range(20):
        node.sees(make.gpu(3, clock_reasons=0x20), seconds=2).sees()
    assert node.kinds == []


# --- GpuMemoryPressure ----------------------------------------------------------------------------


def growing(make, from_gib, mib_per_s, since_s):
    def at(time_s):
        used = int(from_gib * make.GIB + max(time_s - since_s, 0) * mib_per_s * 2**20)
        return make.gpu(4, memory_used_bytes=min(used, 80 * make.GIB))

    return at


def test_memory_that_keeps_growing_is_foreseen(node, make):
    """The warning comes while there is still time to checkpoint, and says how much."""
    node.sees(growing(make, 66, 64, node.time_s), seconds=60)
    incident = node.one
    assert (incident.kind, incident.gpu, incident.cause) == ("GpuMemoryPressure", 4, "leak")
    assert incident.action is Action.FREE_MEMORY
    assert "full in" in incident.cause_text
    assert "64 MiB/s" in incident.cause_text


def test_memory_that_is_nearly_full_needs_no_trend(node, make):
    """No room is left for a workspace."""
    node.sees(make.gpu(4, memory_used_bytes=int(79.8 * make.GIB)), seconds=3)
    assert (node.one.kind, node.one.cause) == ("GpuMemoryPressure", "shortage")
    assert node.one.severity is Severity.WARNING


def test_a_cache_at_its_plateau_is_no_alarm(node, make):
    """An allocator that keeps what it once had fills the memory, and harms nobody."""
    node.sees(make.gpu(4, memory_used_bytes=77 * make.GIB), seconds=600)
    assert (node.one.cause, node.one.severity) == ("shortage", Severity.INFO)


def test_steps_up_to_a_plateau_are_no_leak(node, make):
    """A batch that is larger than the last takes memory at once, now and then."""

    def at(time_s):
        return make.gpu(4, memory_used_bytes=(60 + min(int(time_s) // 20, 4) * 3) * make.GIB)

    for _ in range(300):
        assert node.sees(at).kinds == []


def test_a_process_that_has_grown_ever_since_it_started_loads_its_model(node, make):
    """Slow storage may take minutes; a leak has a process behind it that once was smaller."""

    def sees(held_gib, running_s):
        sample = make.node(node.time_s, make.gpu(4, memory_used_bytes=int(held_gib * make.GIB)))
        process = ProcessSample(
            71, 4, memory_bytes=int(held_gib * make.GIB), running_s=running_s, command="python3"
        )
        node.engine.sample(replace(sample, processes=(process,)))
        node.time_s += 1

    for second in range(200):
        sees(60 + second / 16, 960 + second)
    assert node.kinds == []
    for second in range(60):
        sees(60 + second / 16, 50_000 + second)
    assert node.one.cause == "leak"


@pytest.mark.parametrize(("from_gib", "mib_per_s", "seconds"), [(0, 4096, 15), (60, 1, 120)])
def test_a_job_that_loads_or_grows_slowly_is_no_pressure(node, make, from_gib, mib_per_s, seconds):
    """A model is loaded in seconds and then stays; a slow leak is hours from full."""
    growth = growing(make, from_gib, mib_per_s, node.time_s)
    node.sees(growth, seconds=seconds)
    final = growth(node.time_s)
    assert node.sees(final, seconds=120).kinds == []
