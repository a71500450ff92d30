"""A node: its GPUs, its processes, its kernel log, its driver and what that announces."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from fakes.actions import Actions
from fakes.clock import Epoch
from fakes.driver.disturbance import Disturbance
from fakes.driver.events import DriverEvents
from fakes.hardware.cooling import Inlet
from fakes.hardware.gpm import Samples
from fakes.hardware.gpu import Gpu
from fakes.hardware.noise import seed_of
from fakes.hardware.supply import PowerSupply
from fakes.jobs.log import JobLog
from fakes.jobs.process import JobSpec, Process, ProcessHost, ProcessSpec, ProcessTable
from fakes.network.hosts import HOSTS, hosts_text
from fakes.network.network import Network, address_of, network_of, number_of, usual_nics
from fakes.pci.writes import PciWrites
from fakes.profile import Profile
from fakes.system import configuration
from fakes.system.bmc import ServiceProcessor
from fakes.system.dcgm import HostEngine
from fakes.system.kernel_log import KernelLog
from fakes.system.listening import Listening
from fakes.system.modules import Modules
from fakes.system.processors import Processors
from fakes.system.services import Services
from fakes.system.storage import Storage

if TYPE_CHECKING:
    from fakes.world import World
from fakes.system.text_files import TextFiles

UP_BEFORE_S = 3 * 86_400.0
"""How long nodes have usually been up when a run begins."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The driver that a node runs. ``cuda`` is the highest CUDA version that it supports."""

    version: str = "570.124.06"
    cuda: tuple[int, int] = (12, 8)
    nvml: str = "12.570.124.06"


class Power(Enum):
    """Whether a node runs."""

    ON = "on"
    BOOTING = "booting"
    OFF = "off"


class Node:
    """One server of a fleet. ``host`` starts and ends the processes that stand for its jobs.

    ``power`` says whether it runs, ``boots`` counts how often it went down, and ``booted_us`` is
    when it last came up, None for before the run; ``planned_shutdown`` is the one to come;
    ``up_before_s`` is how long it had been up when the run began.
    ``modules`` are the kernel's, ``storage`` its file systems; ``services`` are made when somebody
    first asks for them;
    ``dcgm`` is what its host engine remembers, ``pci_writes`` what was written to its PCI devices;
    ``bmc`` is its service processor.
    ``world`` is the one that it is part of, ``scheduler`` who places jobs on it ("": Slurm).
    What is done to it is noted in ``actions``;
    ``on_process_ended`` is told of every process that ends, ``on_job_started`` of a job's processes
    once they have been started, and when.

    ``files`` are those that people edit; ``nics`` are its network interfaces by name, those that a
    server of its kind usually has if none are given.
    ``io_pressure_percent`` is for how much of the time some task waits for I/O; ``listening`` are
    the ports that its processes have opened to others.
    ``epoch`` says where the run's time lies on the calendar. ``inlet`` is the air that comes in;
    ``disturbances`` are what is wrong with its NVML.
    """

    def __init__(
        self,
        name: str,
        profile: Profile,
        gpus: int,
        *,
        seed: int = 0,
        host: ProcessHost | None = None,
        driver: Driver | None = None,
        epoch: Epoch | None = None,
        nics: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.driver = driver or Driver()
        self.epoch = epoch or Epoch()
        self.kernel_log = KernelLog()
        self.job_log = JobLog()
        self.driver_events = DriverEvents(seed_of(seed, name, "driver events"))
        self.gpm_samples = Samples(seed_of(seed, name, "gpm samples"))
        self.gpus = tuple(Gpu(profile, name, index, seed) for index in range(gpus))
        self.supply = PowerSupply(self.gpus)
        self.inlet = Inlet()
        self.io_pressure_percent = 0.0
        self.processors = Processors()
        self.listening: tuple[Listening, ...] = ()
        self.disturbances: tuple[Disturbance, ...] = ()
        self.power = Power.ON
        self.boots = 0
        self.booted_us: int | None = None
        self.planned_shutdown: object | None = None
        self.up_before_s = UP_BEFORE_S
        self.storage = Storage()
        self.modules = Modules()
        self.world: World | None = None
        self.scheduler = ""
        self._services: Services | None = None
        self.dcgm = HostEngine()
        self.pci_writes = PciWrites()
        self.actions = Actions()
        self.bmc = ServiceProcessor()
        self.bmc.watch(self)
        self.on_process_ended: Callable[[Process, int], None] | None = None
        self.on_job_started: Callable[[Node, tuple[Process, ...], int], None] | None = None
        self.processes: dict[int, Process] = {}
        self.jobs: dict[str, JobSpec] = {}
        self.files = TextFiles()
        self.files.provide(HOSTS, self._own_hosts)
        self.files.provide("/etc/hostname", lambda: f"{name}\n")
        configuration.provide(self)
        self._host: ProcessHost = host or ProcessTable()
        self._nics = tuple(nics) or usual_nics(profile, gpus)
        self._network: Network | None = None
        self._profile = profile
        self._seed = seed

    @property
    def is_up(self) -> bool:
        """Whether it runs."""
        return self.power is Power.ON

    @property
    def services(self) -> Services:
        """Its systemd units."""
        if self._services is None:
            self._services = Services(self)
        return self._services

    def runs(self, unit: str) -> bool:
        """Whether it is up, and one of its usual services runs.

        Services that nobody has asked for run; they are not made for this, in a fleet of thousands.
        """
        return self.is_up and (self._services is None or self._services.is_active(unit))

    @property
    def pids(self) -> tuple[int, ...]:
        """Every process that is the world's: those of jobs, and those of services."""
        services = self._services.pids if self._services is not None else ()
        return (*self.processes, *services)

    @property
    def inlet_c(self) -> float:
        """The temperature of the air that comes in."""
        return self.inlet.celsius

    @property
    def network(self) -> Network:
        """Its interfaces and adapters; made when somebody first asks."""
        if self._network is None:
            seed = seed_of(self._seed, self.name, "network")
            self._network = network_of(self.name, self._profile, self._nics, seed)
        return self._network

    @property
    def address(self) -> str:
        """The address that the other nodes know it by: that of its first interface."""
        return address_of(number_of(self.name), 0).partition("/")[0]

    def _own_hosts(self) -> str:
        """What its /etc/hosts says where it is alone."""
        return hosts_text([(self.address, self.name)])

    def processes_on(self, gpu: Gpu) -> tuple[Process, ...]:
        """The living processes that use a GPU, by PID."""
        return tuple(self.processes[pid] for pid in sorted(gpu.uses) if pid in self.processes)

    def start_job(self, job: JobSpec, at_us: int) -> tuple[Process, ...]:
        """Start a job: one process on each of its GPUs."""
        self.jobs[job.id] = job
        words = tuple(shlex.split(job.command))
        started = []
        ranks = job.ranks or len(job.gpus)
        for local_rank, index in enumerate(job.gpus):
            rank = job.first_rank + local_rank
            spec = ProcessSpec(words, job.user, job.id, rank, local_rank, ranks, index)
            process = Process(self._host.spawn(spec), spec, at_us)
            self.processes[process.pid] = process
            self.gpus[index].add_use(process.pid, job.memory_bytes, job.load, at_us)
            started.append(process)
        if self.on_job_started is not None:
            self.on_job_started(self, tuple(started), at_us)
        return tuple(started)

    def end_process(self, pid: int, at_us: int) -> None:
        """End a process: whoever asks, its memory is free from ``at_us`` on."""
        if pid in self.processes:
            self.process_ended(pid, at_us)
            self._host.kill(pid)

    def leave_zombie(self, pid: int, at_us: int) -> None:
        """End a process whose memory stays held: the driver takes no note of its end."""
        if process := self.processes.pop(pid, None):
            self.processors.ended(process, self.boots, at_us)
            for gpu in self.gpus:
                if pid in gpu.uses:
                    gpu.ask(pid, 0.0, at_us)
            self._host.leave_zombie(pid)

    def bury_zombie(self, pid: int, at_us: int) -> None:
        """Let the driver, and its parent, take note of the end of a process."""
        for gpu in self.gpus:
            gpu.drop_use(pid, at_us)
        self._host.kill(pid)

    def process_ended(self, pid: int, at_us: int) -> None:
        """Take note that a process is gone (it was killed from outside, say)."""
        process = self.processes.pop(pid, None)
        if process is None:
            if self._services is not None and self.world is not None:
                self._services.process_ended(pid, self.world)
            return
        self.processors.ended(process, self.boots, at_us)
        for gpu in self.gpus:
            gpu.drop_use(pid, at_us)
        if self.on_process_ended is not None:
            self.on_process_ended(process, at_us)

    def spawn_service(self, spec: ProcessSpec) -> int:
        """Start the main process of a service; its PID."""
        return self._host.spawn(spec)

    def kill_service(self, pid: int) -> None:
        """End it."""
        self._host.kill(pid)

    def end_services(self) -> None:
        """The node went down, and all services with it."""
        if self._services is not None:
            self._services.went_down()

    def begin_services(self, world: World) -> None:
        """The node came up, and with it what is enabled."""
        if self._services is not None:
            self._services.came_up(world)

    def settle(self, at_us: int) -> None:
        """Let every GPU be as warm as if its jobs had long been running."""
        for gpu in self.gpus:
            gpu.settle(at_us)
