"""The services of a node: which run, since when, what they have said, and what hangs on them.

States and sub-states are systemd's (systemctl(1)); what the manager says when they change is worded
as its journal has it (systemd 249 to 252). A service's main process is a process of the node like
any other: killed, its service has failed, and systemd may start it again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from fakes.actions import Action, Effect
from fakes.clock import SECOND_US
from fakes.jobs.process import ProcessSpec
from fakes.system.service_effects import EFFECTS
from fakes.system.units import BY_NAME, UNITS, Unit, Wants, full_name

if TYPE_CHECKING:
    from fakes.node import Node
    from fakes.world import World

_FIRST_PID = 1101
_RESTARTS_AFTER_US = 5 * SECOND_US
_STARTED_AFTER_US = 20 * SECOND_US
_KEPT = 2_000


class State(Enum):
    """What a unit is: systemd's ActiveState."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    FAILED = "failed"


class UnknownUnitError(Exception):
    """No such unit on this node."""


class MaskedError(Exception):
    """A unit that must not be started."""


class StartError(Exception):
    """A unit whose start failed."""


@dataclass(frozen=True, slots=True)
class UnitLine:
    """A line of a unit's journal: who says it (a program, or systemd), and what."""

    at_us: int
    unit: str
    program: str
    pid: int
    text: str
    is_error: bool = False


@dataclass(slots=True, eq=False)
class Service:
    """A unit on a node.

    ``since_us`` is when its state last changed, None for before the run. ``pid`` is its main
    process's, 0 without one; ``broken`` says that every start fails. ``result`` and ``exit_status``
    tell how it ended last.
    """

    unit: Unit
    state: State
    enabled: str
    since_us: int | None = None
    pid: int = 0
    result: str = "success"
    exit_status: int = 0
    killed_by: int = 0
    broken: bool = False
    restarts: int = 0

    @property
    def name(self) -> str:
        """The unit's."""
        return self.unit.name

    @property
    def is_active(self) -> bool:
        """Whether it runs."""
        return self.state is State.ACTIVE

    @property
    def sub_state(self) -> str:
        """What it is in detail: systemd's SubState."""
        if self.name.endswith(".target"):
            return "active" if self.is_active else "dead"
        if self.state is State.ACTIVE:
            return "running" if self.unit.command else "exited"
        return "dead" if self.state is State.INACTIVE else "failed"


class Services:
    """All services of a node, by name or alias. ``lines`` are their journal, the newest of it."""

    def __init__(self, node: Node) -> None:
        self.lines: deque[UnitLine] = deque(maxlen=_KEPT)
        self._node = node
        self._next_pid = _FIRST_PID
        self._are_real = False
        self._all: dict[str, Service] = {}
        self._at_boot: list[Service] = []
        for unit in UNITS:
            if _is_on(unit, node):
                self.add(unit)
        if node.is_up:
            self._at_boot = [service for service in self if service.is_active]
        else:
            self.went_down()

    def add(self, unit: Unit) -> Service:
        """Have a unit, as after a boot."""
        state = State.ACTIVE if unit.at_boot else State.INACTIVE
        service = self._all[unit.name] = Service(unit, state, unit.enabled)
        if service.is_active:
            self._spawn(service)
        return service

    def __iter__(self) -> Iterator[Service]:
        """All of them, by name."""
        return iter(sorted(self._all.values(), key=lambda service: service.name))

    @property
    def journal(self) -> Iterator[UnitLine]:
        """Their lines, after those of the boot that was before the run."""
        at_us = min(0, _STARTED_AFTER_US - round(self._node.up_before_s * 1e6))
        for service in self._at_boot:
            if not service.name.endswith(".target"):
                yield from self._at_start(service, at_us)
        yield from self.lines

    def find(self, name: str) -> Service:
        """A service by a name or an alias of its. Raises :class:`UnknownUnitError`."""
        unit = BY_NAME.get(full_name(name))
        found = self._all.get(unit.name if unit else full_name(name))
        if found is None:
            raise UnknownUnitError(full_name(name))
        return found

    def is_active(self, name: str) -> bool:
        """Whether a service runs; one that there is not does not."""
        unit = BY_NAME.get(full_name(name))
        service = self._all.get(unit.name) if unit else None
        return service is not None and service.is_active

    @property
    def pids(self) -> dict[int, Service]:
        """The main processes."""
        return {service.pid: service for service in self._all.values() if service.pid}

    def make_real(self) -> None:
        """Start the processes of the services that run, on a node that has real ones."""
        self._are_real = True
        for service in self:
            if service.is_active:
                self._spawn(service)

    # --- what somebody does ---------------------------------------------------------------------

    def start(self, name: str, world: World) -> None:
        """Start a service; one that runs stays as it is.

        Raises :class:`UnknownUnitError`, :class:`MaskedError` or :class:`StartError`.
        """
        service = self.find(name)
        self._check_mask(service)
        self._note(Effect.START_SERVICE, service, world, ok=not service.broken)
        if not service.is_active:
            self._begin(service, world)

    def stop(self, name: str, world: World) -> None:
        """Stop a service. Raises :class:`UnknownUnitError`."""
        service = self.find(name)
        self._note(Effect.STOP_SERVICE, service, world)
        self.end(service, world)

    def restart(self, name: str, world: World) -> None:
        """Stop it if it runs, and start it. Raises as :meth:`start` does."""
        service = self.find(name)
        self._check_mask(service)
        self._note(Effect.RESTART_SERVICE, service, world, ok=not service.broken)
        self.end(service, world)
        self._begin(service, world)

    # --- what happens ---------------------------------------------------------------------------

    def begin(self, service: Service, world: World) -> None:
        """Let a service run again: nobody's action."""
        if not service.is_active and self._node.is_up:
            self._begin(service, world)

    def end(self, service: Service, world: World) -> None:
        """Let a service have been stopped."""
        if not service.is_active:
            if service.state is State.FAILED:
                service.state, service.since_us = State.INACTIVE, world.now_us
            return
        self._say(service, world, f"Stopping {service.unit.description}...")
        pid = self._leave(service, State.INACTIVE, world)
        self._say(service, world, f"{service.name}: Deactivated successfully.")
        self._say(service, world, f"Stopped {service.unit.description}.")
        if pid:
            self._node.kill_service(pid)

    def fail(self, service: Service, world: World, *, status: int = 1) -> None:
        """Let a service end by itself with an error."""
        if not service.is_active:
            return
        service.result, service.exit_status, service.killed_by = "exit-code", status, 0
        pid = self._fail(service, world, f"code=exited, status={status}/FAILURE")
        if pid:
            self._node.kill_service(pid)

    def process_ended(self, pid: int, world: World, *, signal: int = 9) -> bool:
        """A process was killed; whether it was a service's. Then that has failed."""
        service = self.pids.get(pid)
        if service is None:
            return False
        self._note(Effect.KILL, service, world)
        service.result, service.exit_status, service.killed_by = "signal", 0, signal
        self._fail(service, world, f"code=killed, status={signal}/{_signal_name(signal)}")
        return True

    def went_down(self) -> None:
        """The node went down, and everything with it."""
        for service in self._all.values():
            if service.pid:
                self._node.kill_service(service.pid)
            service.state, service.pid = State.INACTIVE, 0

    def came_up(self, world: World) -> None:
        """The node is up again: what is enabled, and was there at the first boot, runs."""
        for service in self:
            starts = service.enabled in ("enabled", "static") and service.unit.at_boot
            service.since_us, service.result = world.now_us, "success"
            service.state = State.INACTIVE
            if starts:
                self._begin(service, world)

    # --- inside ---------------------------------------------------------------------------------

    def _begin(self, service: Service, world: World) -> None:
        self._say(service, world, f"Starting {service.unit.description}...")
        if service.broken:
            service.result, service.exit_status = "exit-code", 1
            service.state, service.since_us = State.FAILED, world.now_us
            self._tell_failure(service, world, "code=exited, status=1/FAILURE")
            raise StartError(service.name)
        service.state, service.since_us = State.ACTIVE, world.now_us
        service.result, service.exit_status, service.killed_by = "success", 0, 0
        self._spawn(service)
        if service.unit.started:
            self._speak(service, world, service.unit.started)
        self._say(service, world, f"Started {service.unit.description}.")
        if service.name in EFFECTS:
            EFFECTS[service.name].started(self._node, world)

    def _at_start(self, service: Service, at_us: int) -> Iterator[UnitLine]:
        """What a unit's start has in the journal."""
        unit = service.unit
        for text in (f"Starting {unit.description}...", f"Started {unit.description}."):
            yield UnitLine(at_us, unit.name, "systemd", 1, text)

    def _fail(self, service: Service, world: World, how: str) -> int:
        pid = self._leave(service, State.FAILED, world)
        self._tell_failure(service, world, how)
        if service.unit.restarts:
            world.schedule(
                world.now_us + _RESTARTS_AFTER_US,
                f"{self._node.name}/{service.name}",
                lambda: self._restart_by_itself(service, world),
            )
        return pid

    def _restart_by_itself(self, service: Service, world: World) -> None:
        if service.state is State.FAILED and not service.broken and self._node.is_up:
            service.restarts += 1
            text = f"Scheduled restart job, restart counter is at {service.restarts}."
            self._say(service, world, f"{service.name}: {text}")
            self._begin(service, world)

    def _leave(self, service: Service, state: State, world: World) -> int:
        """Let a service not run any more; the PID that it had."""
        pid, service.pid = service.pid, 0
        service.state, service.since_us = state, world.now_us
        if service.name in EFFECTS:
            EFFECTS[service.name].stopped(self._node, world)
        return pid

    def _spawn(self, service: Service) -> None:
        """Give a service its main process."""
        unit = service.unit
        if not unit.command:
            return
        wanted = service.pid or self._next_pid
        self._next_pid = max(self._next_pid, wanted + 1)
        if self._are_real:
            spec = ProcessSpec(unit.command, unit.user, "", 0, gpu=-1, pid=wanted)
            wanted = self._node.spawn_service(spec)
        service.pid = wanted

    def _check_mask(self, service: Service) -> None:
        if service.enabled == "masked":
            raise MaskedError(service.name)

    def _tell_failure(self, service: Service, world: World, how: str) -> None:
        self._say(service, world, f"{service.name}: Main process exited, {how}")
        text = f"{service.name}: Failed with result '{service.result}'."
        self._say(service, world, text, is_error=True)

    def _say(self, service: Service, world: World, text: str, *, is_error: bool = False) -> None:
        """Write what the manager says of a unit."""
        self.lines.append(UnitLine(world.now_us, service.name, "systemd", 1, text, is_error))

    def _speak(self, service: Service, world: World, text: str) -> None:
        """Write what a service says itself."""
        unit = service.unit
        self.lines.append(UnitLine(world.now_us, unit.name, unit.program, service.pid, text))

    def _note(self, effect: Effect, service: Service, world: World, *, ok: bool = True) -> None:
        name = service.name.removesuffix(".service")
        action = Action(world.now_us, effect, self._node.name, ok=ok, detail=name)
        self._node.actions.note(action)


def _is_on(unit: Unit, node: Node) -> bool:
    """Whether a node has a unit."""
    if unit.wants in (Wants.SLURM, Wants.KUBERNETES):
        return bool((node.scheduler or Wants.SLURM.value) == unit.wants.value)
    if unit.wants is Wants.GPUS:
        return bool(node.gpus)
    if unit.wants is Wants.SWITCHES:
        return any(bool(gpu.profile.nvlink.switches) for gpu in node.gpus)
    return True


def _signal_name(number: int) -> str:
    return {9: "KILL", 15: "TERM", 11: "SEGV", 6: "ABRT"}.get(number, str(number))
