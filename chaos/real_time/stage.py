"""Everything that a live run needs, set up in order and taken down in reverse.

A directory, the NVML library, the nodes' first processes, the world with its jobs, NVML and kernel
log for each node, the control socket; then the program in the foreground.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from chaos.errors import UsageError, did_you_mean, quoted, shortened
from chaos.fleet import Given, build_world
from chaos.lookalikes.binding import Bindings
from chaos.lookalikes.clock_page import ClockPage
from chaos.lookalikes.server import CommandServer
from chaos.lookalikes.under_way import Scene, UnderWay
from chaos.lookalikes.waiting_line import WaitingLine
from chaos.real_time import registry
from chaos.real_time.control import ControlServer
from chaos.real_time.foreground import Foreground, is_gputui
from chaos.real_time.game import Game
from chaos.real_time.inlet_file import InletFile
from chaos.real_time.live import LiveNode, LiveRun, Surface
from chaos.run import Run
from chaos.sandbox import view
from chaos.sandbox.compiled import compiled
from chaos.sandbox.edited import ETC, HOME, EditedFiles, homes
from chaos.sandbox.host import SandboxHost
from chaos.sandbox.own_files import edited_files, own_files
from chaos.sandbox.people import STRANGER, user_numbers
from chaos.sandbox.plan import Bind, Entrance, Root
from chaos.sandbox.tier import Outcome, check_uncontained, start_nodes
from chaos.sandbox.virtual_time import clock_page
from chaos.scenario import Entry
from fakes.clock import Clock, ScaledClock
from fakes.commands.registry import commands
from fakes.files.kept import KeptFiles
from fakes.jobs.log import JobLogFiles
from fakes.node import Node
from fakes.nvml.answer import answer
from fakes.nvml.endpoint import Endpoint
from fakes.nvml.shim.build import LibraryError, NoCompilerError, require
from fakes.system.kernel_log import KernelLogFile
from fakes.system.limits import limits_text
from fakes.world import World

_MOST_NODES = 64
_DEFAULT_PROGRAM = (sys.executable, "-m", "gputui")


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is played. ``on`` is the node that the program runs on; of the machine's files it
    may write what lies in ``writable``. One that is ``paused`` waits to be resumed.
    """

    name: str = "default"
    rate: float = 1.0
    sandbox: bool = True
    on: str = "n0"
    writable: tuple[Path, ...] = ()
    paused: bool = False


def play(
    given: Given,
    program: Sequence[str],
    options: Options,
    *,
    timeline: Sequence[Entry] = (),
    seed: int = 0,
    game_of: Callable[[World, float], Game] | None = None,
) -> int:
    """Play a run for a program; the program's exit status.

    ``game_of`` makes a game of its world, at its pace: the game's own run is played then.
    """
    _check(given, options)
    words = tuple(program) or _DEFAULT_PROGRAM
    with ExitStack() as stack:
        stage = Stage(given, options, words, stack, given.fleet.names)
        clock = ScaledClock(options.rate)
        if options.paused:
            clock.pause()
        world = build_world(given, seed=seed, host_of=stage.hosts.__getitem__, epoch=clock.epoch())
        game = None if game_of is None else game_of(world, options.rate)
        run = Run(world, timeline) if game is None else game.run
        uptime_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        for node in world.nodes.values():
            # Processes are real, and know by this machine's clock when they began.
            node.up_before_s = uptime_s
        nodes = [
            stage.equip(
                node,
                run,
                clock,
                uptime_s=uptime_s,
                told=None if game is None else partial(game.called, node.name),
            )
            for node in world.nodes.values()
        ]
        live = LiveRun(run, clock, nodes, given.inventory, stage.facts(), game)
        control = ControlServer(stage.directory.control, live.answer)
        stack.callback(control.close)
        stage.directory.describe(live.status())
        for sentence in stage.sentences():
            print(f"gpuchaos: {sentence}", file=sys.stderr, flush=True)
        with nullcontext() if game is None else game.played():
            status = live.serve(stage.start, [control])
    for problem in run.problems:
        print(f"gpuchaos: {problem}", file=sys.stderr)
    return status


def _check(given: Given, options: Options) -> None:
    """Refuse what cannot be played, before anything is set up."""
    names = given.fleet.names
    if len(names) > _MOST_NODES:
        raise UsageError(f"{len(names)} nodes are too many for real time: at most {_MOST_NODES}.")
    if options.on not in names:
        raise UsageError(
            f"there is no node {quoted(options.on)}{did_you_mean(options.on, names, 'Nodes')}"
        )
    if not options.sandbox:
        check_uncontained("--no-sandbox")


class Stage:
    """What stands around the world: directories, the library, the nodes' first processes.

    ``nodes`` are those that have processes of their own, so that programs can run there. In
    ``virtual`` time programs live by the run's clock, as far as that can be.
    """

    def __init__(
        self,
        given: Given,
        options: Options,
        words: Sequence[str],
        stack: ExitStack,
        nodes: Sequence[str],
        *,
        virtual: bool = False,
    ) -> None:
        self._given = given
        self._options = options
        self._words = tuple(words)
        self._stack = stack
        self._missing = ""
        self._homes: EditedFiles | None = None
        self._library = self._find_library()
        self.directory = registry.claim(options.name)
        stack.callback(self.directory.close)
        self._users = user_numbers((*(job.user for job in given.jobs), STRANGER))
        self._bindings = Bindings()
        self.hosts = {
            name: SandboxHost(name, self.directory.node(name), self._users) for name in nodes
        }
        stack.callback(_close, self.hosts)
        self._look_alike = self._find_look_alike()
        self._virtual_time = self._find_virtual_time() if virtual else None
        self._roots = {name: self._root(name) for name in nodes}
        self._outcome: Outcome = start_nodes(
            tuple(self.hosts.values()), self._roots, sandbox=options.sandbox
        )

    def _root(self, name: str) -> Root:
        """Fill a node's directory, and plan what its programs see; NVML's endpoint comes later."""
        outfit = view.Outfit(
            run=self.directory.path,
            directory=self.directory.node(name),
            library=self._library,
            look_alike=self._look_alike,
            commands=tuple(commands()) if self._look_alike else (),
            users=self._users,
            gpus=self._given.fleet.gpus,
            switches=self._given.fleet.profile.nvlink.switches,
            people=tuple(dict.fromkeys((*(job.user for job in self._given.jobs), STRANGER))),
            clock=self._virtual_time,
        )
        view.equip(outfit)
        return view.root(outfit, os.environ)

    @property
    def outcome(self) -> Outcome:
        """How well programs are contained."""
        return self._outcome

    def equip(
        self,
        node: Node,
        run: Run,
        clock: Clock,
        *,
        uptime_s: float,
        told: Callable[[UnderWay], None] | None = None,
        line: WaitingLine | None = None,
    ) -> LiveNode:
        """Give a node of the world its kernel log, its NVML and its commands.

        ``uptime_s`` is how long it has been up; ``told`` and ``line`` are the calls' (server.py).
        """
        home = self.directory.node(node.name)
        log = KernelLogFile(
            view.kernel_log(home),
            node.name,
            node.epoch,
            uptime_s,
        )
        self._stack.callback(log.close)
        node.kernel_log.listen(log)
        job_logs = JobLogFiles(self.hosts[node.name].job_log)
        self._stack.callback(job_logs.close)
        node.job_log.listen(job_logs)
        node.inlet.listen(InletFile(view.inlet(home)))
        view.limits(home).write_text(limits_text(), encoding="ascii")
        edits = self._edits(node, run.world)
        answering = None
        if self._look_alike is not None:
            scene = Scene(node, run.world, clock.now_us, self._bindings, partial(_look, edits))
            names = {number: name for name, number in self._users.items()}
            page = None
            if self._virtual_time is not None:
                page = ClockPage(clock_page(home), node)
            note = run.problems.append
            answering = CommandServer(home, scene, names, note, told=told, line=line, page=page)
            self._stack.callback(answering.close)
        surface = self._surface(node, home, clock, line)
        if self._outcome.contained:
            node.services.make_real()
        files = KeptFiles(own_files(self.hosts[node.name].memory), node, run.world)
        files.refresh()
        return LiveNode(node, self.hosts[node.name], surface, answering, log, files, edits)

    def _edits(self, node: Node, world: World) -> tuple[EditedFiles, ...]:
        """The files that the node's programs may edit: its own, and those in the users' homes."""
        if not self._outcome.contained:
            return ()
        if self._homes is None:
            place = homes(self.directory.path)
            self._homes = EditedFiles(place, HOME, world.homes, self._options.on)
            self._stack.callback(self._homes.close)
        place = edited_files(self.hosts[node.name].memory)
        own = EditedFiles(place, ETC, node.files, node.name)
        self._stack.callback(own.close)
        return (own, self._homes)

    def _surface(
        self, node: Node, home: Path, clock: Clock, line: WaitingLine | None
    ) -> Surface | None:
        """What shows a node: NVML for every program, or samples for the one gputui."""
        if self._library is not None:
            endpoint = Endpoint(
                home,
                partial(answer, node),
                now_us=clock.now_us,
                library=self._library,
                later=None if line is None else line.add,
            )
            self._stack.callback(endpoint.close)
            return endpoint
        if node.name != self._options.on:
            return None
        # Only here: it brings nvidia-ml-py and the monitor's reader with it.
        from chaos.virtual.sampling import SampleStream

        init_pid = self.hosts[node.name].init_pid
        proc = Path(f"/proc/{init_pid}/root/proc" if self._outcome.contained else "/proc")
        samples = SampleStream(node, home / "samples", proc, clock.now_us)
        self._stack.callback(samples.close)
        self._words += ("--source", f"stream={samples.path}")
        return samples

    def start(self) -> Foreground:
        """Start the program on its node."""
        entrance, environment = self.entrance(self._options.on, self._words, os.environ)
        program = Foreground(entrance, self._words, environment)
        if self._look_alike is not None:
            self._bindings.prepare()  # while the program comes to itself
        return program

    def entrance(
        self, node: str, words: Sequence[str], base: Mapping[str, str], here: Path | None = None
    ) -> tuple[Entrance, dict[str, str]]:
        """How a program gets onto a node, and its environment there, made from ``base``. It starts
        in ``here``, or in the current directory.
        """
        directory = self.directory.node(node)
        contained = self._outcome.contained
        environment = view.environment(
            base,
            self._options.name,
            directory,
            library=self._library is not None,
            contained=contained,
        )
        carried: Sequence[Bind] = ()
        if contained:
            empty, writable = self._empty(node), self._options.writable
            carried = view.carried(directory, words, base, empty, writable, here)
        return self.hosts[node].entrance(carried), environment

    def _empty(self, node: str) -> list[str]:
        """The machine's directories that are empty on a node."""
        return [place.path for place in self._roots[node].fresh]

    def facts(self) -> dict[str, Any]:
        """What does not change while the run lives."""
        fleet, contained = self._given.fleet, self._outcome.contained
        return {
            "name": self._options.name,
            "pid": os.getpid(),
            "model": fleet.model,
            "gpus": fleet.gpus,
            "rate": self._options.rate,
            "tier": self._outcome.containment.tier.value,
            "reason": self._outcome.reason,
            "library": self._library is not None,
            "homes": {
                name: {
                    "directory": str(self.directory.node(name)),
                    "init_pid": host.init_pid if contained else 0,
                    "entrance": host.entrance(),
                    "empty": self._empty(name),
                    "pid_namespace": _pid_namespace(host.init_pid),
                }
                for name, host in self.hosts.items()
            },
        }

    def sentences(self) -> Iterator[str]:
        """One line on what was set up, and one on what is missing."""
        fleet = self._given.fleet
        nodes = "node n0" if fleet.nodes == 1 else f"{fleet.nodes} nodes"
        yield (
            f"fake {nodes} '{self._options.name}' with {fleet.gpus} x {fleet.profile.name}, "
            f"{self._outcome.sentence()}."
        )
        if self._missing:
            yield f"{self._missing}."

    def _find_library(self) -> Path | None:
        """The NVML library; None where gputui can do without."""
        try:
            return require()
        except NoCompilerError as error:
            if not is_gputui(self._words):
                raise UsageError(f"{shortened(self._words[0])} cannot run: {error}.") from error
            self._missing = f"gputui is fed its readings, and nothing else can run here: {error}"
            return None
        except LibraryError as error:
            raise UsageError(f"{error}.") from error

    def _find_look_alike(self) -> Path | None:
        """The program that stands for every look-alike, where the library is there to answer it."""
        if self._library is None:
            return None
        try:
            return compiled("lookalike")
        except LibraryError as error:
            self._missing = f"commands have no look-alikes: {error}"
            return None

    def _find_virtual_time(self) -> Path | None:
        """The library by which programs live by the run's clock, where it can be had."""
        try:
            return compiled("clock") if self._look_alike is not None else None
        except LibraryError:
            return None  # what waits by the machine's clock is noticed


def _look(edits: Sequence[EditedFiles]) -> None:
    for edited in edits:
        edited.look()


def _close(hosts: Mapping[str, SandboxHost]) -> None:
    """End every node: all at once, then wait for each."""
    for host in hosts.values():
        host.release()
    for host in hosts.values():
        host.close()


def _pid_namespace(pid: int) -> int:
    return Path(f"/proc/{pid}/ns/pid").stat().st_ino
