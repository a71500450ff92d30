from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from chaos.errors import Place
from chaos.fault import FaultError, fault, parse_fault
from chaos.fleet import Fleet, Given, Job, build_world, training
from chaos.format.loader import load
from chaos.run import Run, UnknownFaultError
from chaos.scenario import Entry, Heal
from chaos.selection import Gpus
from chaos.undo import Layers, Undo

HERE = Place("drill.yaml", 3, 5)


@dataclass(frozen=True, slots=True)
class HalfDone:
    """A fault that breaks one thing, and then fails."""

    does_not_prove: ClassVar[str] = "that anything works"

    def apply(self, world, undo):
        gpu = world.nodes["n0"].gpus[0]
        with undo.keeping_attribute(gpu, "reset_required"):
            gpu.reset_required = True
            raise FaultError("the second half is impossible")


def test_a_fault_that_fails_half_way_leaves_the_world_as_it_was(virtual_run):
    """Undo is registered before each change, so it runs even if apply does not come to its end."""
    run = virtual_run()
    with pytest.raises(FaultError, match="impossible"):
        run.run.inject(HalfDone(), fault_id="half")
    assert run.gpu(0).reset_required is False
    assert run.run.active == ()


def test_every_step_of_an_undo_is_taken():
    """A step that fails keeps no other from being taken, newest first, and is reported."""
    taken: list[str] = []
    undo = Undo(Layers())
    undo.push(lambda: taken.append("first"))
    undo.push(lambda: 1 / 0)
    undo.push(lambda: taken.append("last"))

    failed = undo.run()

    assert taken == ["last", "first"]
    assert [type(error) for error in failed] == [ZeroDivisionError]
    assert undo.run() == ()


def test_a_fault_for_a_while_heals_itself(virtual_run):
    """``for_us`` counts on the run's clock."""
    run = virtual_run().at(5)
    run.inject("lost", gpu="0", for_s=60)
    run.at(64.9)
    assert run.gpu(0).lost is not None
    run.at(65)
    assert run.gpu(0).lost is None
    assert run.run.active == ()


def test_healing_early_forgets_the_later_healing(virtual_run):
    """A fault of the same id that comes later is not healed by the clock of the first."""
    run = virtual_run()
    first = run.inject("lost", gpu="0", for_s=10)
    run.run.heal(first.id)
    run.run.inject(parse_fault("lost", {"gpu": "0"}), fault_id=first.id)
    run.at(20)
    assert run.gpu(0).lost is not None


def test_ids_are_counted_by_family(virtual_run):
    """The first Xid is xid-1, the next xid-2; a healed one's id is not used again."""
    run = virtual_run()
    ids = [run.inject("xid", gpu="0", code=13).id, run.inject("lost", gpu="1").id]
    run.run.heal("xid-1")
    ids.append(run.inject("xid", gpu="0", code=13).id)
    assert ids == ["xid-1", "lost-1", "xid-2"]


def test_healing_what_is_not_there_names_what_is(virtual_run):
    """An unknown id gets the nearest one in force."""
    run = virtual_run()
    run.inject("lost", gpu="0")
    with pytest.raises(UnknownFaultError, match=r"no fault 'lst-1' is in force\. Did you mean"):
        run.run.heal("lst-1")
    assert run.run.heal_all() == ("lost-1",)
    assert run.run.heal_all() == ()


def test_a_timeline_plays_at_its_times():
    """Entries happen at their moment; two at one moment in the order of the file."""
    fleet = Fleet(gpus=2)
    world = build_world(Given(fleet, (training(fleet),)))
    lose = parse_fault("lost", {"gpu": "0"})
    run = Run(
        world,
        [
            Entry(30_000_000, lose, HERE, "a"),
            Entry(40_000_000, Heal("a"), HERE),
            Entry(40_000_000, lose, HERE, "a"),
        ],
    )
    gpu = world.nodes["n0"].gpus[0]

    run.advance(29_999_999)
    assert gpu.lost is None
    run.advance(100_000_000)
    assert gpu.lost is not None
    assert gpu.lost.since_us == 40_000_000
    assert run.problems == []


def test_an_entry_that_cannot_happen_is_noted_and_the_run_goes_on():
    """What could not be done is a problem with its place, not an end."""
    world = build_world(Given(Fleet(gpus=2)))
    grow = parse_fault("memory", {"gpu": "0", "grow": "1GiB/s"})
    lose = parse_fault("lost", {"gpu": "1"})
    run = Run(world, [Entry(1, grow, HERE), Entry(2, Heal("x"), HERE), Entry(3, lose, HERE)])

    run.advance(10)

    assert run.problems == [
        "drill.yaml:3:5: there is no process on n0/0.",
        "drill.yaml:3:5: no fault 'x' is in force.",
    ]
    assert [active.id for active in run.active] == ["lost-1"]


def test_a_job_over_nodes_has_ranks_that_count_through():
    """Ranks count over all nodes, local ranks on each, and every GPU has its own process."""
    fleet = Fleet(nodes=2, gpus=2)
    world = build_world(Given(fleet, (Job("train", Gpus.parse("*/*")),)))

    specs = [p.spec for node in world.nodes.values() for p in node.processes.values()]

    assert [(s.rank, s.local_rank, s.ranks, s.gpu) for s in specs] == [
        (0, 0, 4, 0),
        (1, 1, 4, 1),
        (2, 0, 4, 0),
        (3, 1, 4, 1),
    ]


def test_every_fault_selects_by_an_argument_of_its_own():
    """A family's class must have the argument that it is selected by."""
    with pytest.raises(TypeError, match="has no argument 'airflow'"):
        fault("thermal", by="airflow")(HalfDone)


def test_the_demo_goes_wrong_within_a_minute():
    """The shipped demo throttles, loses and fills a GPU each, in the first minutes."""
    from chaos.library import shipped

    scenario = load(shipped()["demo"])
    world = build_world(scenario.given, seed=scenario.seed)
    run = Run(world, scenario.timeline)
    run.advance(60_000_000)
    gpus = world.nodes["n0"].gpus

    assert gpus[3].limit(world.now_us).value in ("heat", "hardware heat")
    assert gpus[5].lost is not None
    assert gpus[1].memory_used_bytes(world.now_us) > 63 << 30
    assert run.problems == []


def test_every_shipped_scenario_loads_and_plays():
    """What comes along is well-formed, and can be played to its end without a problem."""
    from chaos.library import shipped

    assert len(shipped()) >= 6
    for path in shipped().values():
        scenario = load(path)
        run = Run(build_world(scenario.given, seed=scenario.seed), scenario.timeline)
        run.advance(3_600_000_000)
        assert run.problems == [], path
