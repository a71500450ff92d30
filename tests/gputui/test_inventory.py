"""Expected against seen: a GPU that should be there and is not is an incident, not an absence."""

from dataclasses import replace

import pytest

from gputui.assess import Assessor
from gputui.incidents.inventory import SeenGpu
from gputui.model import GpuSample, HostSample, NodeSample, PciGpu
from gputui.state import NodeState


def on_bus(make, *indices, driver="nvidia", hidden=False):
    return tuple(PciGpu(make.BUSES[index], driver, hidden) for index in indices)


def seen(make, *indices):
    return NodeState(
        gpus=tuple(
            SeenGpu(f"GPU-{index:08x}", index, make.BUSES[index], "NVIDIA H100", 500.0)
            for index in indices
        )
    )


@pytest.fixture
def watch(make):
    """Have seven of eight GPUs read, with what is remembered, expected and on the bus."""

    def watch(*, state=None, expected=None, bus=(), count=7, changed=(), seconds=2):
        assessor = Assessor(interval_s=1.0, expected=expected)
        sample = replace(make.node(1000.0, *changed, count=count), on_bus=bus)
        assessor.recall(state or NodeState(), sample)
        for second in range(seconds):
            snapshot = assessor.sample(replace(sample, time_s=1000.0 + second))
        return snapshot

    return watch


def rows(snapshot):
    return [
        (gpu.index, gpu.uuid, status.state.value)
        for gpu, status in zip(snapshot.sample.gpus, snapshot.statuses, strict=True)
        if status.state.value != "ok"
    ]


def test_one_that_was_seen_before_is_missed(watch, make):
    """A row says which, where and since when; the incident says whose trouble it is."""
    snapshot = watch(state=seen(make, *range(8)), bus=on_bus(make, *range(7)))
    assert rows(snapshot) == [(7, "GPU-00000007", "lost")]
    status = snapshot.statuses[7]
    assert status.reason == "missing: not on the PCI bus"
    assert status.age_s == 501.0
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.subject, incident.gpu, incident.cause) == (
        "GpuMissing", "gpu:GPU-00000007", 7, "bus",
    )  # fmt: skip
    assert incident.evidence[0].endswith(" NVML counts 7 GPUs")


def test_one_that_only_the_bus_shows_is_the_drivers_trouble(watch, make):
    """Never seen before, but it is there and the driver has it."""
    snapshot = watch(bus=on_bus(make, *range(8)))
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.cause, incident.gpu) == ("GpuMissing", "driver", 7)
    assert incident.subject == f"gpu:{make.BUSES[7]}"
    assert rows(snapshot) == [(7, None, "lost")]


def test_one_that_no_driver_holds_is_missed_too(watch, make):
    """A probe that failed leaves it on the bus, with nobody."""
    bus = (*on_bus(make, *range(7)), *on_bus(make, 7, driver=None))
    (incident,) = watch(bus=bus).incidents
    assert incident.cause_text == "on the PCI bus, but no driver holds it"


@pytest.mark.parametrize("kind", [{"hidden": True}, {"driver": "vfio-pci"}])
def test_one_that_is_not_ours_is_not_missed(watch, make, kind):
    """A container was not given it, or a virtual machine was: nothing is wrong."""
    bus = (*on_bus(make, *range(7)), *on_bus(make, 7, **kind))
    snapshot = watch(state=seen(make, *range(8)), bus=bus)
    assert (rows(snapshot), snapshot.incidents) == ([], ())


def test_nothing_is_missed_before_the_bus_was_looked_at(watch, make):
    """It may turn out to be hidden."""
    snapshot = watch(state=seen(make, *range(8)), bus=None)
    assert snapshot.incidents == ()


def test_a_bus_of_another_machine_says_nothing(watch, make):
    """On a fake node, or behind a mask, /sys shows somebody else's GPUs."""
    snapshot = watch(bus=(PciGpu("0000:ff:00", "nvidia"), *on_bus(make, 0)))
    assert snapshot.incidents == ()


def test_where_the_bus_cannot_be_seen_nobody_knows_why(watch, make):
    """It is missed all the same."""
    (incident,) = watch(state=seen(make, *range(8))).incidents
    assert (incident.cause, incident.gpu) == ("unknown", 7)


def test_a_number_of_gpus_may_be_expected(watch, make):
    """Which one it is, nobody knows: it is the node's incident, and a row without a name."""
    snapshot = watch(expected=9, bus=on_bus(make, *range(7)))
    (incident,) = snapshot.incidents
    assert (incident.subject, incident.cause_text) == ("node:n0", "7 of 9 GPUs are there")
    assert rows(snapshot) == [(7, None, "lost"), (8, None, "lost")]


def test_what_the_config_says_is_stronger_than_what_was_seen(watch, make):
    """A GPU that was taken out for good is not missed for ever."""
    state, bus = seen(make, *range(8)), on_bus(make, *range(7))
    assert watch(state=state, bus=bus, expected=7).incidents == ()
    uuids = tuple(f"GPU-{index:08x}" for index in range(7))
    assert watch(state=state, bus=bus, expected=uuids).incidents == ()
    (incident,) = watch(state=state, bus=bus, expected=(*uuids, "GPU-other")).incidents
    assert (incident.subject, incident.cause) == ("gpu:GPU-other", "bus")


def test_one_that_was_replaced_is_not_missed(watch, make):
    """Another one stands at its address."""
    state = seen(make, *range(7))
    other = make.gpu(6, uuid="GPU-new")
    assert watch(state=state, bus=on_bus(make, *range(7)), changed=[other]).incidents == ()


def test_one_that_was_lost_before_the_start_is_known_by_what_was_seen(watch, make):
    """NVML counts it and gives no name: it is the one that nobody else is."""
    lost = GpuSample(3, return_code=999)
    bus = tuple(gpu for gpu in on_bus(make, *range(8)) if gpu.bus_id != make.BUSES[3])
    snapshot = watch(state=seen(make, *range(8)), bus=bus, count=8, changed=[lost])
    assert rows(snapshot) == [(3, "GPU-00000003", "lost")]
    assert snapshot.sample.gpus[3].name == "NVIDIA H100"
    assert [(one.kind, one.gpu) for one in snapshot.incidents] == [("GpuLost", 3)]


def test_one_without_a_name_is_not_missed_a_second_time(watch, make):
    """The row that has no name and the address that nobody has are the same GPU."""
    lost = GpuSample(3, return_code=999)
    snapshot = watch(bus=on_bus(make, *range(8)), count=8, changed=[lost])
    assert [one.kind for one in snapshot.incidents] == ["GpuLost"]
    assert len(snapshot.sample.gpus) == 8


def test_one_that_is_counted_again_is_no_longer_missed(make):
    """The incident clears at once, and the row is its own again."""
    assessor = Assessor(interval_s=1.0)
    state, bus = seen(make, *range(8)), on_bus(make, *range(8))
    for second in range(3):
        sample = replace(make.node(1000.0 + second, count=7), on_bus=bus)
        if second == 0:
            assessor.recall(state, sample)
        snapshot = assessor.sample(sample)
    assert len(snapshot.incidents) == 1
    for second in range(3, 6):
        snapshot = assessor.sample(replace(make.node(1000.0 + second), on_bus=bus))
    assert (snapshot.incidents, rows(snapshot)) == ((), [])


def test_one_that_this_container_loses_is_hidden_not_lost(make):
    """The device rules changed while it was watched; the GPU is where it was."""
    assessor = Assessor(interval_s=1.0)
    assessor.sample(replace(make.node(1.0), on_bus=on_bus(make, *range(8))))
    bus = (*on_bus(make, *range(7)), *on_bus(make, 7, hidden=True))
    snapshot = assessor.sample(replace(make.node(2.0, count=7), on_bus=bus))
    assert rows(snapshot) == [(7, "GPU-00000007", "hidden")]


def test_without_a_driver_the_gpus_of_before_are_shown_as_old(make):
    """They stay listed, with when they were last seen and why they are not read."""
    assessor = Assessor(interval_s=1.0)
    error = NodeSample(
        "n0", 1000.0, error="NVML error 9: the NVIDIA driver is not loaded. Load it."
    )
    assessor.recall(seen(make, 0, 1), error)
    snapshot = assessor.sample(error)
    assert [(status.state.value, status.age_s) for status in snapshot.statuses] == [
        ("stale", 500.0), ("stale", 500.0),
    ]  # fmt: skip
    assert snapshot.sample.gpus[1].name == "NVIDIA H100"
    assert "driver is not loaded" in snapshot.statuses[0].reason


def test_a_gpu_not_seen_for_a_month_is_forgotten(make):
    """It was taken out."""
    assessor = Assessor(interval_s=1.0)
    sample = replace(
        make.node(500.0 + 31 * 86_400, count=7),
        on_bus=on_bus(make, *range(7)),
        host_readings=HostSample(boot_id="b"),
    )
    assessor.recall(seen(make, *range(8)), sample)
    assert assessor.sample(sample).incidents == ()
