"""A job at its start: its ranks, each on its node, and the settings they have there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fakes.jobs.process import Process
from fakes.network.interface import Interface
from fakes.node import Node


@dataclass(frozen=True, slots=True)
class Member:
    """The ranks of one node, and the environment that NCCL goes by there."""

    node: Node
    processes: tuple[Process, ...]
    settings: Mapping[str, str]

    @property
    def hosts(self) -> str:
        """What its /etc/hosts says."""
        return self.node.files.read("/etc/hosts") or ""

    @property
    def verbose(self) -> bool:
        """Whether NCCL tells what it does."""
        return self.settings.get("NCCL_DEBUG", "").upper() in ("INFO", "TRACE")

    @property
    def warns(self) -> bool:
        """Whether NCCL tells what went wrong; PyTorch tells it anyway."""
        return self.verbose or self.settings.get("NCCL_DEBUG", "").upper() == "WARN"


@dataclass(frozen=True, slots=True)
class StartingJob:
    """A job: its nodes in the order of its ranks, the first of which has rank 0."""

    id: str
    members: tuple[Member, ...]
    store_port: int = 29500

    @property
    def head(self) -> Member:
        """The node of rank 0."""
        return self.members[0]

    @property
    def ranks(self) -> int:
        """How many ranks there are in all."""
        return sum(len(member.processes) for member in self.members)

    @property
    def is_distributed(self) -> bool:
        """Whether it runs on more than one node."""
        return len(self.members) > 1


@dataclass(frozen=True, slots=True)
class Said:
    """A line that a rank prints, so long after the step began."""

    member: Member
    process: Process
    text: str
    after_us: int = 0


@dataclass(slots=True)
class Step:
    """What comes of one step of a start: what is said, who fails, and how long it takes.

    ``failed`` are the ranks that end by it; a step that nobody fails lets the next begin.
    """

    takes_us: int
    said: list[Said] = field(default_factory=list)
    failed: list[tuple[Member, Process]] = field(default_factory=list)


def outcome_of_reaching(
    here: Node, interface: Interface | None, there: Node, address: str
) -> str | None:
    """Why a connection to ``address`` on ``there`` does not come about; None: it does.

    In the kernel's words. ``interface`` is the one that it would leave by.
    """
    if address in tuple(here.network.addresses) or address.startswith("127."):
        return None if here is there else "Connection refused"
    if interface is None:
        return "Network is unreachable"
    if not interface.works:
        return "No route to host"
    theirs = there.network.owner_of(address)
    if theirs is None or not interface.reaches(address):
        return "No route to host"
    if not there.is_up or not theirs.works:
        return "No route to host"
    if is_cut(here, there):
        return "Connection timed out"
    return None


def is_cut(here: Node, there: Node) -> bool:
    """Whether nothing gets through between two nodes."""
    return there.name in here.network.trouble.cut_off or here.name in there.network.trouble.cut_off


def leaving_by(here: Node, address: str) -> Interface | None:
    """The interface whose network an address is in, as the kernel's routes have it."""
    return next((one for one in here.network.outward if one.reaches(address)), None)
