"""A run: a world, what is to break in it, and what is broken now.

It drives the world and touches nothing else: no clock, no terminal, no socket. Who owns one asks a
clock, calls :meth:`Run.advance`, and shows what came of it; so the same run serves a live node and
virtual time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from chaos.errors import did_you_mean, quoted
from chaos.fault import Fault, FaultError, type_of
from chaos.fault_parts.concerned import concerned, concerned_by
from chaos.scenario import Entry, Heal
from chaos.selection import Inventory
from chaos.undo import Layers, Undo
from fakes.world import World


class UnknownFaultError(Exception):
    """No fault in force has this id. One sentence for the user."""


@dataclass(frozen=True, slots=True)
class Active:
    """A fault in force, since when, and until when (None: until it is healed)."""

    id: str
    fault: Fault
    since_us: int
    until_us: int | None
    undo: Undo


class Run:
    """A world and its faults. ``problems`` are sentences about what could not be done."""

    def __init__(self, world: World, timeline: Iterable[Entry] = ()) -> None:
        self.world = world
        self.problems: list[str] = []
        self._active: dict[str, Active] = {}
        self._layers = Layers()
        self._counts: dict[str, int] = {}
        self._listeners: list[tuple[Callable[[Active], None], Callable[[Active], None]]] = []
        self._inventory = Inventory.of(world)
        entries = tuple(timeline)
        for number, nodes in enumerate(concerned_by(entries, self._inventory)):
            entry, actor = entries[number], f"timeline/{number:05}"
            world.schedule(entry.at_us, actor, partial(self._play, entry), concerns=nodes)

    def listen(self, applied: Callable[[Active], None], healed: Callable[[Active], None]) -> None:
        """Be told of every fault when it is applied, before it shows, and when it is healed."""
        self._listeners.append((applied, healed))

    @property
    def active(self) -> tuple[Active, ...]:
        """The faults in force, oldest first."""
        return tuple(self._active.values())

    def advance(self, to_us: int) -> bool:
        """Let everything happen that is due until ``to_us``. True if anything did."""
        return self.world.advance(to_us)

    def inject(
        self, fault: Fault, *, fault_id: str | None = None, for_us: int | None = None
    ) -> Active:
        """Apply a fault now, for a while or until healed.

        One that cannot be applied leaves the world as it was, and is a :class:`FaultError`.
        """
        now_us = self.world.now_us
        undo = Undo(self._layers)
        until_us = None if for_us is None else now_us + for_us
        active = Active(fault_id or self._next_id(fault), fault, now_us, until_us, undo)
        if active.id in self._active:
            raise FaultError(f"a fault '{active.id}' is in force already")
        for applied, _ in self._listeners:
            applied(active)
        try:
            fault.apply(self.world, undo)
        except Exception:
            self._undo(active)
            raise
        self._active[active.id] = active
        if until_us is not None:
            ticket = self.world.schedule(
                until_us,
                f"heal/{active.id}",
                lambda: self.heal(active.id),
                concerns=concerned(fault, self._inventory),
            )
            undo.push(ticket.cancel)
        return active

    def heal(self, fault_id: str) -> None:
        """Take a fault back."""
        active = self._active.pop(fault_id, None)
        if active is None:
            hint = did_you_mean(fault_id, self._active, "In force")
            raise UnknownFaultError(f"no fault {quoted(fault_id)} is in force{hint}")
        for _, healed in self._listeners:
            healed(active)
        self._undo(active)

    def heal_all(self) -> tuple[str, ...]:
        """Take every fault back, newest first; their ids."""
        ids = tuple(reversed(self._active))
        for fault_id in ids:
            self.heal(fault_id)
        return ids

    def _play(self, entry: Entry) -> None:
        """Let an entry of the timeline happen; what fails is noted, and the run goes on."""
        try:
            if isinstance(entry.what, Heal):
                self.heal(entry.what.id)
            else:
                self.inject(entry.what, fault_id=entry.id)
        except (FaultError, UnknownFaultError) as error:
            self.problems.append(f"{entry.place}: {str(error).rstrip('.')}.")

    def _undo(self, active: Active) -> None:
        for error in active.undo.run():
            self.problems.append(f"healing {active.id}: {error!r}")

    def _next_id(self, fault: Fault) -> str:
        family = type_of(fault).family
        while True:
            self._counts[family] = self._counts.get(family, 0) + 1
            fault_id = f"{family}-{self._counts[family]}"
            if fault_id not in self._active:
                return fault_id
