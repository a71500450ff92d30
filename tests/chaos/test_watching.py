"""gputui on a run in virtual time: the same incidents however often it looks."""

import pytest

from chaos.fault import parse_fault
from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Run
from chaos.virtual.watching import Watching

FAULTS = [
    ("lost", {"gpu": 3}),
    ("xid", {"gpu": 2, "code": 48}),
    ("thermal", {"gpu": 1, "airflow": "20%"}),
    ("memory", {"gpu": 0, "grow": "200MiB/s"}),
]


@pytest.mark.parametrize("looks", ["polling", "event-driven"])
def test_a_lost_gpu_is_told_at_once_with_its_cause(watched, looks):
    """The kernel's word makes it look at once; the Xid hangs under the lost GPU."""
    run = watched(gpus=4, looks=looks).run(10.3)
    run.inject("lost", gpu=3)
    run.run(5)
    lost = run.the("GpuLost")
    assert (lost.incident.gpu, lost.incident.cause, lost.took_s) == (3, "bus", 0)
    assert run.the("GpuXid").incident.parent == lost.incident.id
    assert run.kinds() == ["GpuLost"]


def test_a_gpu_lost_in_silence_is_noticed_by_looking(watched):
    """Without a line in the log, the next reading shows it."""
    run = watched(gpus=2).run(10.3)
    run.inject("lost", gpu=1, silent=True)
    run.run(5)
    assert 0 < run.the("GpuLost").took_s <= 1


def test_who_looks_where_something_happens_sees_what_polling_sees(watched):
    """Kinds, subjects and causes are the same, and the times within one interval."""
    found = []
    for looks in ("polling", "event-driven"):
        run = watched(gpus=4, looks=looks).run(10)
        for family, arguments in FAULTS:
            run.inject(family, **arguments)
        run.run(150)
        found.append(run)
    told = [
        [(one.incident.id.rpartition("/")[0], one.incident.cause) for one in run.opened()]
        for run in found
    ]
    assert sorted(told[0]) == sorted(told[1])
    times = [{one.incident.kind: one.at_s for one in run.opened()} for run in found]
    assert times[0] == pytest.approx(times[1], abs=1.0)
    assert found[1].watching.looked < found[0].watching.looked


def test_a_quiet_node_is_hardly_ever_looked_at(watched):
    """Nothing happens, so there is nothing to see: a month costs a few looks."""
    run = watched(gpus=2).run(30 * 86_400)
    assert run.watching.looked < 10
    assert run.told == []


def test_a_gpu_that_hangs_is_told_after_patience_and_the_others_live_on(watched):
    """Three seconds without an answer; then it is left alone, and what else happens is seen."""
    run = watched(gpus=4).run(10)
    fault = run.inject("hang", gpu=2)
    run.run(10)
    hung = run.the("GpuHung")
    assert (hung.incident.gpu, 3 <= hung.took_s <= 4) == (2, True)
    run.inject("lost", gpu=1)
    run.run(5)
    assert run.the("GpuLost").took_s <= 1
    run.heal(fault.id)
    run.run(30)
    assert run.kinds() == ["GpuLost"]


def test_a_driver_that_hangs_is_the_node(watched):
    """No sample comes; that is the driver's doing, and over when it answers again."""
    run = watched(gpus=2).run(10)
    fault = run.inject("hang", gpu=0, scope="driver")
    run.run(60)
    hung = run.the("GpuHung")
    assert (hung.incident.subject, 3 <= hung.took_s <= 4) == ("node:n0", True)
    run.heal(fault.id)
    run.run(30)
    assert run.kinds() == []


def test_several_nodes_are_watched_each_by_its_own_gputui():
    """What is wrong on one is nothing to the other; both read through the one binding."""
    fleet = Fleet(nodes=2, gpus=2)
    run = Run(build_world(Given(fleet, (training(fleet),))))
    with Watching(run) as watching:
        watching.until(10_300_000)
        run.inject(parse_fault("lost", {"gpu": "n1/1"}))
        watching.happened()
        watching.until(30_000_000)
        nodes = watching.nodes.items()
        found = {name: [one.kind for one in node.incidents] for name, node in nodes}
    assert found["n0"] == []
    assert found["n1"][0] == "GpuLost"
