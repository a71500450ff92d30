"""Looking where something happens finds what looking every second finds."""

import contextlib
import random

import pytest

from chaos.errors import Place
from chaos.fault import FaultError, parse_fault
from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Run
from chaos.scenario import Entry
from chaos.virtual.watching import Looks, Watching
from fakes.profile import models

FAULTS = (
    ("lost", {}),
    ("lost", {"silent": True}),
    ("xid", {"code": 48}),
    ("xid", {"code": 31, "times": 5, "every": "3s", "jitter": "2s"}),
    ("xid", {"code": 63}),
    ("xid", {"code": 94}),
    ("xid", {"code": 119}),
    ("xid", {"code": 45, "log_only": True}),
    ("thermal", {"airflow": "20%"}),
    ("thermal", {"airflow": "45%"}),
    ("memory", {"grow": "200MiB/s"}),
    ("memory", {"to": "70GiB"}),
    ("memory", {"zombie": "4GiB"}),
    ("hang", {}),
    ("ecc", {"corrected_per_s": 5}),
    ("ecc", {"uncorrectable": "contained"}),
    ("remap", {"failed": 1}),
    ("pcie", {"width": 4}),
    ("nvlink", {"down": 0}),
    ("power", {"brake": True}),
    ("process", {"end": True}),
)
GPUS = 2
LENGTH_S = 180.0
LATE_S = 1.0


def played(watched, seed, looks):
    """A run of some random faults, some of which heal; the same for both ways to look."""
    chance = random.Random(seed)
    run = watched(model=chance.choice(models()), gpus=GPUS, seed=seed, looks=looks)
    steps = sorted(
        (chance.uniform(1, 100), chance.choice(FAULTS), chance.randrange(GPUS), chance.random())
        for _ in range(chance.randint(1, 4))
    )
    for at_s, (family, arguments), gpu, heals in steps:
        run.run(at_s - run.now_s)
        for_s = 100 * heals if heals > 0.5 else None
        with contextlib.suppress(FaultError):  # not with this model, or not any more
            run.inject(family, gpu=gpu, for_s=for_s, **arguments)
    return run.run(LENGTH_S - run.now_s)


def story(run):
    """Each incident that was told: what it was at the end, when it opened and when it cleared."""
    told = {}
    for one in run.told:
        incident, at_s = one.incident, one.at_us / 1e6
        opened_s, _, _ = told.get(incident.id, (at_s, None, None))
        told[incident.id] = (opened_s, at_s if incident.cleared_s is not None else None, incident)
    return sorted(
        (
            (
                one.kind, one.subject, one.id.split("/")[2], one.cause, one.severity.word,
                one.action.value, (one.parent or "").rpartition("/")[0], one.cleared_s is None,
            ),
            opened_s,
            cleared_s,
        )
        for opened_s, cleared_s, one in told.values()
    )  # fmt: skip


def same(first, second):
    """Whether two stories tell the same, at times that are one sample apart at most."""
    if [one[0] for one in first] != [one[0] for one in second]:
        return False
    times = [
        (one, other)
        for (_, *ones), (_, *others) in zip(first, second, strict=True)
        for one, other in zip(ones, others, strict=True)
    ]
    return all(one == other or abs(one - other) <= LATE_S for one, other in times)


def check(watched, seeds):
    """Play each seed both ways."""
    looked = {"polling": 0, "event-driven": 0}
    told = 0
    for seed in seeds:
        stories = {}
        for looks in looked:
            run = played(watched, seed, looks)
            stories[looks] = story(run)
            looked[looks] += run.watching.looked
        assert same(*stories.values()), (seed, stories)
        told += len(stories["polling"])
    assert told >= len(seeds)
    assert looked["event-driven"] < looked["polling"] / 2


def test_a_few_random_runs_tell_the_same_both_ways(watched):
    """Kinds, subjects, causes, groups; opened and cleared within one sample."""
    check(watched, range(6))


@pytest.mark.long
def test_two_hundred_random_runs_tell_the_same_both_ways(watched):
    """The same for more than chance."""
    check(watched, range(200))


def fleet_played(seed, looks):
    """A fleet of three nodes under one job, with random faults on single nodes: what was told."""
    chance = random.Random(seed)
    fleet = Fleet(nodes=3, gpus=2, model=chance.choice(models()))
    entries = []
    for number in range(chance.randint(1, 4)):
        family, arguments = chance.choice(FAULTS)
        words = {"gpu": f"n{chance.randrange(3)}/{chance.randrange(2)}"}
        words |= {name: str(value).lower() for name, value in arguments.items()}
        place = Place("fleet", number, 1)
        at_us = round(chance.uniform(1, 60) * 1e6)
        entries.append(Entry(at_us, parse_fault(family, words), place))
    run = Run(build_world(Given(fleet, (training(fleet),)), seed=seed), entries)
    with Watching(run, looks=Looks(looks)) as watching:
        watching.until(120_000_000)
        return watching


def test_nodes_are_looked_at_one_by_one():
    """On a fleet each node is looked at where something happens to it, and tells the same."""
    looked = {"polling": 0, "event-driven": 0}
    told = 0
    for seed in range(3):
        stories = {}
        for looks in looked:
            run = fleet_played(seed, looks)
            stories[looks] = story(run)
            looked[looks] += run.looked
        assert same(*stories.values()), (seed, stories)
        told += len(stories["polling"])
    assert told
    assert looked["event-driven"] < looked["polling"] / 4
