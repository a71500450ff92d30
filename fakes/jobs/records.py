"""What a scheduler knows of its nodes, jobs and reservations."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from fakes.jobs.process import JobSpec


class Phase(Enum):
    """How far a job is; Slurm's words, in lower case."""

    PENDING = "pending"
    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NODE_FAIL = "node_fail"


@dataclass(frozen=True, slots=True)
class Drain:
    """Why a node is drained, or down, by whom, and since when."""

    reason: str
    user: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Reboot:
    """A reboot that the scheduler was asked for; ``next_state`` is what the node is to be then."""

    next_state: str = ""
    issued: bool = False


@dataclass(slots=True, eq=False)
class ClusterNode:
    """A node as the scheduler sees it.

    ``failing`` is Slurm's FAIL: it is to be taken out, and what runs there goes on. ``comment``,
    ``extra`` and ``features`` are what somebody wrote there; ``reservation`` is for whom it is
    kept.
    """

    name: str
    drain: Drain | None = None
    down: Drain | None = None
    failing: Drain | None = None
    reboot: Reboot | None = None
    reservation: Reservation | None = None
    comment: str = ""
    extra: str = ""
    features: str | None = None

    @property
    def takes_jobs(self) -> bool:
        """Whether a job may be placed here."""
        return not (self.drain or self.down or self.failing or self.reboot or self.reservation)

    @property
    def why(self) -> Drain | None:
        """Why it takes none, if somebody said so."""
        return self.down or self.failing or self.drain


@dataclass(frozen=True, slots=True)
class Reservation:
    """Nodes that are kept for somebody from ``starts_us`` to ``ends_us``."""

    name: str
    nodes: tuple[str, ...]
    starts_us: int
    ends_us: int
    users: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a submitted job asks for.

    ``gpus`` and ``tasks`` are those on each node; ``wanted`` nodes must be among its own. Without
    ``limit_s`` it may run for ever. ``duration_s`` is how long its script is taken to run where
    nothing runs it; ``script`` is its text, and ``command`` the file that it came from. A job that
    is ``real`` is run by a program of the run, which tells how it ended.
    """

    nodes: int = 1
    gpus: int = 0
    tasks: int = 1
    cpus_per_task: int = 1
    wanted: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exclusive: bool = False
    limit_s: int | None = None
    duration_s: float = 60.0
    exit_code: int = 0
    script: str = ""
    command: str = ""
    work_dir: str = "/"
    output: str = "slurm-%j.out"
    error: str = ""
    real: bool = False
    batch: bool = True


@dataclass(slots=True, eq=False)
class ClusterJob:
    """A job: what it runs on each of its nodes, and how far it is.

    ``number`` is the scheduler's, ``id`` the scenario's and the job's name, unless ``name`` is
    another. ``specs`` are in the order of its ranks. ``requeues`` counts how often it was put back.
    A job that was submitted has a ``request``, and no specs until it was placed.
    """

    id: str
    number: int
    user: str
    specs: dict[str, JobSpec]
    phase: Phase = Phase.RUNNING
    reason: str = ""
    submitted_us: int = 0
    started_us: int | None = None
    ended_us: int | None = None
    exit_code: int = 0
    signal: int = 0
    requeues: int = 0
    priority: int = 100
    held: bool = False
    held_by_admin: bool = False
    requeueable: bool = True
    name: str = ""
    comment: str = ""
    request: Request | None = None
    ending: bool = field(default=False, repr=False)

    @property
    def title(self) -> str:
        """Its name, as its owner gave it."""
        return self.name or self.id

    @property
    def nodes(self) -> tuple[str, ...]:
        """Where it runs, ran, or ran last."""
        return tuple(self.specs)

    @property
    def node_count(self) -> int:
        """On how many nodes it runs, or is to run."""
        return self.request.nodes if self.request else len(self.specs)

    @property
    def gpus_per_node(self) -> int:
        """How many GPUs it has, or wants, on each node."""
        if self.request is not None:
            return self.request.gpus
        return len(next(iter(self.specs.values())).gpus) if self.specs else 0

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.phase in (Phase.PENDING, Phase.RUNNING, Phase.SUSPENDED)

    @property
    def is_placed(self) -> bool:
        """Whether nodes are given to it."""
        return self.phase in (Phase.RUNNING, Phase.SUSPENDED)
