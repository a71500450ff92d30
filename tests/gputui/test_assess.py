"""States and snapshots: what is known of a node, whatever came and whatever did not."""

import json
from dataclasses import replace

import pytest

from gputui.assess import Assessor
from gputui.export import json as export_json
from gputui.export import table
from gputui.logs.kernel import KernelEvent
from gputui.model import ClockReasons, GpuSample, GpuState, NodeSample
from gputui.silence import DRIVER, Silence

POWER_BRAKE = int(ClockReasons.HW_POWER_BRAKE_SLOWDOWN)


@pytest.fixture
def assessor():
    return Assessor(interval_s=1.0)


def states(snapshot):
    return [status.state.value for status in snapshot.statuses]


def status_of(snapshot, index):
    return next(status for status in snapshot.statuses if status.index == index)


@pytest.mark.parametrize(
    ("readings", "state"),
    [
        ({}, "ok"),
        ({"clock_reasons": 0x4}, "ok"),
        ({"clock_reasons": 0x8}, "ok"),
        ({"clock_reasons": 0x40}, "throttled"),
        ({"clock_reasons": 0x20}, "throttled"),
        ({"clock_reasons": POWER_BRAKE}, "throttled"),
        ({"missing": {"fan_percent": "not supported"}}, "ok"),
        ({"power_mw": None, "missing": {"power_mw": "unknown error"}}, "degraded"),
        ({"return_code": 16}, "reset_needed"),
        ({"return_code": 15}, "lost"),
        ({"return_code": 999}, "lost"),
        ({"return_code": 17}, "degraded"),
        ({"return_code": 15, "clock_reasons": 0x40}, "lost"),
    ],
)
def test_a_gpu_is_in_the_worst_state_that_applies(assessor, make, readings, state):
    """A software power cap alone, or what this GPU does not have, is ok."""
    snapshot = assessor.sample(make.node(1.0, make.gpu(3, **readings)))
    assert states(snapshot) == ["ok"] * 3 + [state] + ["ok"] * 4


def test_a_state_tells_since_when_it_is(assessor, make):
    """The age of a state runs on while it lasts, and begins anew with another."""
    hot = make.gpu(3, clock_reasons=0x40)
    for second in range(5):
        assessor.sample(make.node(float(second)))
    for second in range(5, 8):
        snapshot = assessor.sample(make.node(float(second), hot))
    assert status_of(snapshot, 3).since_s == 5.0
    assert status_of(assessor.sample(make.node(8.0)), 3).since_s == 8.0


def test_an_incident_degrades_its_gpu(assessor, make):
    """Readings may be fine while the log says that something is not."""
    assessor.sample(make.node(1.0))
    snapshot = assessor.log(make.xid(1.5, 3, 31))
    assert status_of(snapshot, 3).state is GpuState.DEGRADED
    assert "Xid 31" in status_of(snapshot, 3).reason
    assert [incident.gpu for incident in snapshot.incidents] == [3]


def test_a_lost_gpu_keeps_its_last_readings_with_their_age(assessor, make):
    """What was read last is shown beside how old it is; the others are new."""
    assessor.sample(make.node(10.0, make.gpu(5, power_mw=123_000)))
    for second in (11, 12, 52):
        snapshot = assessor.sample(make.node(float(second), make.lost(5)))
    lost, status = snapshot.sample.gpus[5], status_of(snapshot, 5)
    assert (lost.power_mw, lost.return_code) == (123_000, 15)
    assert (status.state, status.since_s, status.age_s) == (GpuState.LOST, 11.0, 42.0)
    assert "no answer on the bus" in status.reason
    assert status_of(snapshot, 0).age_s == 0


def test_a_loss_is_as_old_as_the_log_says(assessor, make):
    """The kernel noticed before the reading failed, or before the monitor was started."""
    assert assessor.log(make.xid(30.0, 5, 79)) is None
    snapshot = assessor.sample(make.node(100.0, make.lost(5)))
    assert status_of(snapshot, 5).since_s == 30.0
    (root,) = [incident for incident in snapshot.incidents if incident.parent is None]
    assert (root.kind, root.opened_s, root.subject) == ("GpuLost", 30.0, "gpu:GPU-00000005")


def test_the_log_names_the_only_gpu_that_cannot_name_itself(assessor, make):
    """Lost before the start, a GPU has no address; the log's only unknown address is its own."""
    nameless = GpuSample(5, return_code=999)
    assessor.log(KernelEvent("gpu_uuid", 20.0, "", bus_id=make.BUSES[5], detail="GPU-told"))
    assessor.log(make.xid(30.0, 5, 79))
    snapshot = assessor.sample(make.node(100.0, nameless))
    gpu = snapshot.sample.gpus[5]
    assert (gpu.bus_id, gpu.uuid) == (make.BUSES[5], "GPU-told")
    assert snapshot.incidents[0].kind == "GpuLost"
    assert snapshot.incidents[0].gpu == 5


@pytest.mark.parametrize("lost", [(5,), (0, 1), (3, 4, 6), tuple(range(8))])
def test_gpus_lost_before_the_start_have_their_xids_under_them(assessor, make, lost):
    """NVML counts GPUs in the order of their addresses, so that each Xid finds its GPU."""
    for index in lost:
        assessor.log(make.xid(30.0 + index, index, 79))
        uuid = f"GPU-{index:08x}"
        named = KernelEvent("gpu_uuid", 30.0 + index, "", bus_id=make.BUSES[index], detail=uuid)
        assessor.log(named)
    nameless = [GpuSample(index, return_code=999) for index in lost]
    incidents = assessor.sample(make.node(100.0, *nameless)).incidents
    roots = [incident for incident in incidents if incident.parent is None]
    assert sorted((one.kind, one.gpu, one.cause) for one in roots) == [
        ("GpuLost", index, "bus") for index in lost
    ]
    assert sorted(one.gpu for one in incidents if one.kind == "GpuXid") == list(lost)
    assert {one.subject for one in incidents} == {f"gpu:GPU-{index:08x}" for index in lost}


@pytest.mark.parametrize("lost", [(5,), tuple(range(8))])
def test_a_log_that_comes_late_still_names_the_lost_gpus(assessor, make, lost):
    """The journal may be slower than the first reading; nothing is told twice because of it."""
    nameless = [GpuSample(index, return_code=999) for index in lost]
    for second in (100.0, 101.0):
        assessor.sample(make.node(second, *nameless))
    for index in lost:
        assessor.hear(make.xid(30.0 + index, index, 79), live=False)
        uuid = f"GPU-{index:08x}"
        named = KernelEvent("gpu_uuid", 30.0 + index, "", bus_id=make.BUSES[index], detail=uuid)
        assessor.hear(named, live=False)
    for snapshot in (assessor.refreshed(), assessor.sample(make.node(102.0, *nameless))):
        incidents = snapshot.incidents
        assert [one.kind for one in incidents if one.parent is None] == ["GpuLost"] * len(lost)
        assert {one.subject for one in incidents} == {f"gpu:GPU-{index:08x}" for index in lost}
        assert len(incidents) == 2 * len(lost)


def test_an_address_that_may_be_one_of_two_gpus_is_given_to_neither(assessor, make):
    """Two neighbours are lost and the log names one address: it is not guessed whose it is."""
    assessor.log(make.xid(30.0, 4, 79))
    nameless = [GpuSample(index, return_code=999) for index in (4, 5)]
    snapshot = assessor.sample(make.node(100.0, *nameless))
    assert [gpu.bus_id for gpu in snapshot.sample.gpus[4:6]] == [None, None]
    assert "gpu:" + make.BUSES[4] in {one.subject for one in snapshot.incidents}


def test_noise_in_the_log_does_not_hide_what_came_before_it(assessor, make):
    """What was said before the first reading is heard in order, and what is left out is told."""
    for second in range(20):
        assessor.log(make.xid(float(second), 3, 48))
    for second in range(20, 1020):
        assessor.log(make.xid(float(second), 3, 31))
    snapshot = assessor.sample(make.node(1100.0))
    xids = [one for one in snapshot.incidents if one.kind == "GpuXid"]
    counts = {one.cause_text.split(":")[0]: one.count for one in xids}
    assert counts == {"Xid 48": 20, "Xid 31": 1000}
    assert snapshot.notices == ()


def test_early_noise_beyond_all_bounds_is_told(assessor, make):
    """The first and last of each sort are kept, and how many were passed over is a notice."""
    assessor.log(make.xid(0.0, 3, 48))
    for second in range(1, 6000):
        assessor.log(make.xid(float(second), 3, 31))
    snapshot = assessor.sample(make.node(6100.0))
    assert {one.gpu for one in snapshot.incidents} == {3}
    assert any("Xid 48" in one.cause_text for one in snapshot.incidents)
    assert "lines of the kernel log" in snapshot.notices[0]


def test_a_relapse_is_no_older_than_the_last_reading(assessor, make):
    """The incident is the same one reopened; the state began anew."""
    for second in range(3):
        assessor.sample(make.node(float(second), make.lost(5)))
    for second in range(3, 100):
        assessor.sample(make.node(float(second)))
    snapshot = assessor.sample(make.node(100.0, make.lost(5)))
    assert [incident.opened_s for incident in snapshot.incidents] == [0.0]
    assert status_of(snapshot, 5).since_s == 100.0


def test_a_state_that_was_so_at_the_first_look_has_no_known_age(assessor, make):
    """Nobody knows for how long it had been so; a later change is dated."""
    hot = make.gpu(3, clock_reasons=0x40)
    snapshot = assessor.sample(make.node(10.0, hot))
    assert status_of(snapshot, 3).since_start
    assert "THROTTLED  " in table.write(snapshot)
    for second in (11.0, 12.0):
        snapshot = assessor.sample(make.node(second, hot, make.lost(5)))
    assert status_of(snapshot, 3).since_start
    assert not status_of(snapshot, 5).since_start
    assert "LOST 1s" in table.write(snapshot)


def test_what_no_longer_holds_says_so_until_it_clears_and_is_then_recent(assessor, make):
    """The GPU is ok at once; the incident is open for its clear time, and kept for an hour."""
    hot = make.gpu(3, clock_reasons=0x40)
    for second in range(4):
        snapshot = assessor.sample(make.node(float(second), hot))
    assert snapshot.incidents[0].eased_s is None
    assert status_of(snapshot, 3).state is GpuState.THROTTLED
    snapshot = assessor.sample(make.node(4.0))
    assert (snapshot.incidents[0].eased_s, snapshot.incidents[0].cleared_s) == (3.0, None)
    assert status_of(snapshot, 3).state is GpuState.OK
    assert "(over since " in table.write(snapshot)
    assert snapshot.recent == ()
    snapshot = assessor.sample(make.node(1000.0))
    assert snapshot.incidents == ()
    (recent,) = snapshot.recent
    assert (recent.kind, recent.cleared_s) == ("GpuThermalThrottle", 1000.0)
    assert "RECENT\ncleared 0s ago" in table.write(snapshot)
    assert json.loads(export_json.write(snapshot))["recent"][0]["id"] == recent.id
    assert assessor.sample(make.node(5000.0)).recent == ()


def test_what_eased_and_comes_back_holds_again(assessor, make):
    """An incident that flickers is one incident, and its cause is told in the present again."""
    hot = make.gpu(3, clock_reasons=0x40)
    for second, gpu in enumerate((hot, hot, hot, make.gpu(3), hot)):
        snapshot = assessor.sample(make.node(float(second), gpu))
    assert [incident.eased_s for incident in snapshot.incidents] == [None]


def test_a_gpu_that_is_no_longer_counted_is_lost_not_gone(assessor, make):
    """Seven GPUs where eight were is one row that says so."""
    assessor.sample(make.node(1.0))
    snapshot = assessor.sample(make.node(2.0, count=7))
    assert states(snapshot) == ["ok"] * 7 + ["lost"]
    assert status_of(snapshot, 7).reason == "no longer counted by NVML"
    assert snapshot.sample.gpus[7].power_mw == 641_000
    snapshot = assessor.sample(make.node(3.0, count=7))
    assert [incident.kind for incident in snapshot.incidents] == ["GpuLost"]
    for second in range(4, 10):
        snapshot = assessor.sample(make.node(float(second)))
    assert states(snapshot) == ["ok"] * 8
    assert snapshot.incidents == ()


def test_one_that_vanishes_from_the_middle_does_not_share_an_index(assessor, make):
    """The GPUs behind it move up; each row still has an index of its own."""
    assessor.sample(make.node(1.0, count=3))
    moved = replace(make.gpu(2), index=1)
    sample = NodeSample("n0", 2.0, gpu_count=2, gpus=(make.gpu(0), moved))
    snapshot = assessor.sample(sample)
    rows = [(gpu.index, gpu.uuid) for gpu in snapshot.sample.gpus]
    assert rows == [(0, "GPU-00000000"), (1, "GPU-00000002"), (2, "GPU-00000001")]
    assert states(snapshot) == ["ok", "ok", "lost"]


def test_while_a_call_hangs_its_gpu_is_hung_and_the_others_are_stale(assessor, make):
    """Who was being asked is the suspect; all readings are old, and say how old."""
    assessor.sample(make.node(10.0, make.lost(1)))
    snapshot = assessor.silent(18.0, Silence(8.0, asked=3))
    assert states(snapshot) == ["stale", "lost", "stale", "hung"] + ["stale"] * 4
    assert status_of(snapshot, 3).since_s == 10.0
    assert {status.age_s for status in snapshot.statuses} == {8.0}
    assert snapshot.sample.time_s == 10.0
    for second in range(19, 25):
        snapshot = assessor.sample(make.node(float(second), make.lost(1)))
    assert states(snapshot)[2:] == ["ok"] * 6


def test_a_hang_is_an_incident_of_the_gpu_that_was_asked_first(assessor, make):
    """One incident, whether its neighbours are read by others or wait as well."""
    assessor.sample(make.node(10.0))
    snapshot = assessor.silent(13.0, Silence(3.0, asked=3))
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.subject, incident.opened_s) == (
        "GpuHung", "gpu:GPU-00000003", 10.0,
    )  # fmt: skip
    hung = GpuSample(3, return_code=10)
    snapshot = assessor.sample(make.node(14.0, hung))
    assert [one.id for one in snapshot.incidents] == [incident.id]
    assert states(snapshot) == ["ok"] * 3 + ["hung"] + ["ok"] * 4
    assert (status_of(snapshot, 3).since_s, status_of(snapshot, 3).age_s) == (10.0, 4.0)
    assert snapshot.sample.gpus[3].uuid == "GPU-00000003"
    snapshot = assessor.silent(20.0, Silence(6.0, asked=3, whole_driver=True))
    assert "nor does any other" in snapshot.incidents[0].cause_text
    assert status_of(snapshot, 0).reason.startswith("the driver hangs since a call to GPU 3")
    for second in range(21, 27):
        snapshot = assessor.sample(make.node(float(second)))
    assert (states(snapshot), snapshot.incidents) == (["ok"] * 8, ())


def test_a_hang_after_a_gsp_timeout_is_the_firmwares(assessor, make):
    """The kernel's word says who does not answer the driver."""
    assessor.sample(make.node(10.0))
    assessor.log(make.xid(11.0, 3, 119))
    snapshot = assessor.silent(14.0, Silence(4.0, asked=3))
    (hung,) = [one for one in snapshot.incidents if one.kind == "GpuHung"]
    assert hung.cause == "firmware"


def test_a_line_of_the_log_does_not_end_a_silence(assessor, make):
    """The kernel may speak while the driver hangs; the readings are as old as before."""
    assessor.sample(make.node(10.0))
    assessor.silent(18.0, Silence(8.0, asked=3))
    assert states(assessor.log(make.xid(18.5, 3, 119)))[3] == "hung"


def test_a_driver_that_hangs_before_the_first_sample_is_told(assessor):
    """There is something to show even when nothing was ever read."""
    snapshot = assessor.silent(5.0, Silence(5.0, asked=DRIVER), host="n0")
    assert snapshot.sample.host == "n0"
    assert "the driver does not return from a call" in snapshot.sample.error
    assert snapshot.statuses == ()


def test_a_driver_that_goes_leaves_the_gpus_stale(assessor, make):
    """They are as they were, which is old; the reason is the driver's."""
    assessor.sample(make.node(1.0))
    error = "NVML error 9: the NVIDIA driver is not loaded. Load it."
    snapshot = assessor.sample(NodeSample("n0", 2.0, error=error))
    assert states(snapshot) == ["stale"] * 8
    assert snapshot.sample.error == error
    assert status_of(snapshot, 0).reason == "NVML error 9: the NVIDIA driver is not loaded"
    assert states(assessor.sample(make.node(3.0))) == ["ok"] * 8


def test_only_the_gpus_that_were_asked_for_are_shown(make):
    """Rows, processes and incidents of the others are left out; one that is not there is named."""
    assessor = Assessor(interval_s=1.0, gpus=(3, 12))
    assessor.sample(make.node(1.0))
    assessor.log(make.xid(1.0, 5, 79))
    snapshot = assessor.sample(make.node(2.0))
    assert [gpu.index for gpu in snapshot.sample.gpus] == [3]
    assert snapshot.incidents == ()
    assert snapshot.notices == ("GPU 12 is not there: this node has GPUs 0 to 7.",)


def test_an_acknowledged_incident_is_shown_as_such_at_once(assessor, make):
    """The screen need not wait for the next sample."""
    assert assessor.refreshed() is None
    assessor.sample(make.node(1.0))
    snapshot = assessor.log(make.xid(1.0, 5, 31))
    assert assessor.acknowledge(snapshot.incidents[0].id)
    assert assessor.refreshed().incidents[0].acknowledged
