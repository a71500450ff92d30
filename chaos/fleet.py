"""What is given at the start of a drill: nodes, their GPUs, and the jobs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from chaos.errors import Place, ScenarioError, UsageError
from chaos.fault import Fault, FaultError
from chaos.selection import Gpus, Inventory, Nodes
from chaos.undo import Layers, Undo
from fakes.clock import Epoch
from fakes.jobs.process import JobSpec, ProcessHost, ProcessTable
from fakes.node import Driver, Node
from fakes.profile import MIB, Profile, load_profile
from fakes.world import World

MAX_GPUS = 64
MAX_NODES = 100_000


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many nodes, named n0, n1 ..., each with so many GPUs of one model.

    ``nics`` are each node's network interfaces by name, the usual ones if none are given.
    """

    nodes: int = 1
    gpus: int = 8
    model: str = "h100-sxm"
    driver: str | None = None
    scheduler: str | None = None
    nics: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes' names."""
        return tuple(f"n{number}" for number in range(self.nodes))

    @property
    def profile(self) -> Profile:
        """The model's profile."""
        return load_profile(self.model)

    @property
    def gpu_capacity_bytes(self) -> int:
        """Memory of one GPU that jobs can have."""
        memory = self.profile.memory
        return (memory.total_mib - memory.reserved_mib) * MIB


@dataclass(frozen=True, slots=True)
class Job:
    """A job: one process on each of its GPUs. ``load`` is 0..1 of a GPU's SMs."""

    id: str
    gpus: Gpus
    load: float = 0.95
    memory_bytes: int = 60 << 30
    user: str = "alice"
    command: str = "python3 train.py"
    priority: int = 100


@dataclass(frozen=True, slots=True)
class Given:
    """A fleet and its jobs.

    ``before`` are faults that happened before the run began, and that are never healed: files,
    environments and services that are not as usual; ``places`` are where a file says so.
    ``expected_gpus`` is how many GPUs the
    monitor's config says that a node has.
    """

    fleet: Fleet
    jobs: tuple[Job, ...] = ()
    before: tuple[Fault, ...] = ()
    expected_gpus: int | None = None
    places: tuple[Place, ...] = ()

    @property
    def inventory(self) -> Inventory:
        """What selectors can select."""
        jobs = tuple(job.id for job in self.jobs)
        return Inventory(self.fleet.names, self.fleet.gpus, jobs)


def training(fleet: Fleet) -> Job:
    """The job a node has unless idle: every GPU busy, with 60 GiB or four fifths of it held."""
    memory_bytes = min(60 << 30, fleet.gpu_capacity_bytes * 4 // 5)
    return Job("train", Gpus.parse("*/*"), memory_bytes=memory_bytes)


def gpus_of(nodes: Nodes) -> Gpus:
    """Every GPU of a selection of nodes."""
    return Gpus(",".join(f"{term}/*" for term in nodes.text.split(",")))


def build_world(
    given: Given,
    *,
    seed: int = 0,
    host_of: Callable[[str], ProcessHost] | None = None,
    epoch: Epoch | None = None,
) -> World:
    """The world at its start: jobs running, GPUs as warm as they get by it.

    ``host_of`` gives the host of a node's processes; without it they are rows in a table. ``epoch``
    is where the run lies on the calendar.
    """
    fleet = given.fleet
    driver = Driver(fleet.driver, nvml=f"12.{fleet.driver}") if fleet.driver else None
    hosts = host_of or (lambda name: ProcessTable())
    nodes = [
        Node(
            name,
            fleet.profile,
            fleet.gpus,
            seed=seed,
            host=hosts(name),
            driver=driver,
            epoch=epoch,
            nics=fleet.nics,
        )
        for name in fleet.names
    ]
    for node in nodes:
        node.scheduler = fleet.scheduler or ""
    world = World(nodes, seed=seed, schedules=fleet.scheduler is not None)
    world.cluster.scheduler = fleet.scheduler
    for node in nodes:
        node.scheduler = fleet.scheduler or ""
    for job in given.jobs:
        start_job(job, world, given.inventory)
    for fault, place in zip_longest(given.before, given.places):
        try:
            fault.apply(world, Undo(Layers()))
        except FaultError as error:
            problem = f"given: {error}."
            raise (ScenarioError(place, problem) if place else UsageError(problem)) from error
    for node in nodes:
        node.settle(0)
    return world


def start_job(job: Job, world: World, inventory: Inventory) -> tuple[tuple[str, int], ...]:
    """Start a job, now, on each of its nodes; its ranks count over them in order.

    Its processes, each as (node, PID).
    """
    chosen = job.gpus.resolve(inventory)
    first_rank = 0
    started: list[tuple[str, int]] = []
    specs: dict[str, JobSpec] = {}
    for name in dict.fromkeys(node for node, _ in chosen):
        gpus = tuple(index for node, index in chosen if node == name)
        spec = JobSpec(
            job.id,
            gpus,
            load=job.load,
            memory_bytes=job.memory_bytes,
            user=job.user,
            command=job.command,
            first_rank=first_rank,
            ranks=len(chosen),
        )
        processes = world.nodes[name].start_job(spec, world.now_us)
        started += ((name, process.pid) for process in processes)
        specs[name] = spec
        first_rank += len(gpus)
    world.cluster.add(job.id, specs).priority = job.priority
    return tuple(started)
