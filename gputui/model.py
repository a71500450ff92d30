"""One reading of a node, and what the monitor makes of it.

Everything that leaves the sampler, crosses a pipe, is recorded or drawn is one of these frozen
types. Units are in the names. A reading that is missing is ``None``, and ``missing`` says why;
zero is a measurement.

One file, although a long one: it is the vocabulary of everything else, half of its lines are names
of readings, and :mod:`gputui.recording` writes what stands here and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum, IntFlag


class GpuState(str, Enum):
    """State of a GPU. Declared from worst to best: the first that applies is shown."""

    LOST = "lost"
    HUNG = "hung"
    RESET_NEEDED = "reset_needed"
    HIDDEN = "hidden"
    UNSUPPORTED = "unsupported"
    STALE = "stale"
    DEGRADED = "degraded"
    THROTTLED = "throttled"
    OK = "ok"

    @property
    def label(self) -> str:
        """The word on the screen: lower case when all is well, upper case otherwise."""
        word = str(self.value)
        return word if self is GpuState.OK else word.upper().replace("_", " ")


class Severity(IntEnum):
    """How bad an incident is, in rising order."""

    INFO = 0
    WARNING = 1
    CRITICAL = 2

    @property
    def word(self) -> str:
        """The word in JSON and on the screen."""
        return self.name.lower()


class Action(str, Enum):
    """What an incident advises. NVIDIA's words where they have one."""

    IGNORE = "ignore"
    RESTART_APP = "restart_app"
    RESET_GPU = "reset_gpu"
    RELOAD_DRIVER = "reload_driver"
    REBOOT_NODE = "reboot_node"
    POWER_CYCLE = "power_cycle"
    DRAIN_AND_RESET = "drain_and_reset"
    REPLACE_GPU = "replace_gpu"
    CHECK_COOLING = "check_cooling"
    CHECK_POWER = "check_power"
    CHECK_LINK = "check_link"
    CHECK_NETWORK = "check_network"
    CHECK_STORAGE = "check_storage"
    CHECK_CONFIG = "check_config"
    FREE_MEMORY = "free_memory"
    CONTACT_SUPPORT = "contact_support"


class ClockReasons(IntFlag):
    """Why clocks are lower than they could be (nvmlClocksEventReason*, nvml.h)."""

    NONE = 0
    GPU_IDLE = 0x1
    APPLICATIONS_CLOCKS_SETTING = 0x2
    SW_POWER_CAP = 0x4
    HW_SLOWDOWN = 0x8
    SYNC_BOOST = 0x10
    SW_THERMAL_SLOWDOWN = 0x20
    HW_THERMAL_SLOWDOWN = 0x40
    HW_POWER_BRAKE_SLOWDOWN = 0x80
    DISPLAY_CLOCK_SETTING = 0x100


THERMAL_REASONS = ClockReasons.SW_THERMAL_SLOWDOWN | ClockReasons.HW_THERMAL_SLOWDOWN
"""Clocks lowered by heat."""


class RecoveryAction(IntEnum):
    """What the driver wants done about a GPU (nvmlDeviceGetFieldValues, field 230; nvml.h)."""

    NONE = 0
    GPU_RESET = 1
    NODE_REBOOT = 2
    DRAIN_P2P = 3
    DRAIN_AND_RESET = 4
    RECOVER_IMEX_DOMAIN = 5
    BUS_RESET = 6
    SYSTEM_REBOOT = 7


@dataclass(frozen=True, slots=True)
class MigInstance:
    """A part of a GPU in MIG mode: a compute instance in a GPU instance, by their numbers.

    ``profile`` is what the part is: ``1g.10gb``. The memory is that of its GPU instance.
    """

    gpu_instance: int
    compute_instance: int
    uuid: str | None = None
    profile: str | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU at one moment, as NVML told it.

    ``return_code`` is the NVML code with which the GPU as a whole answered: 0 when it gave a handle
    and at least one reading, 15 (GPU is lost), 16 (requires reset), 999 (unknown) ... otherwise; 10
    (timed out) says that a call to it has not returned, so that it is left alone.
    ``missing`` maps the name of each field that is ``None`` to the reason, in words.

    What stands below ``energy_mj`` changes seldom and is read every ten seconds or less often.
    ECC errors are counted since the driver was loaded (``volatile``) or for the GPU's life
    (``aggregate``); violation times, which say for how long clocks were held down and by what,
    since the driver was loaded. ``remap_banks_none`` and ``remap_banks_low`` count the banks of
    memory in which no spare row, or few, are left. ``nvlinks_down`` are the numbers of the links,
    of ``nvlinks`` in all, that are not up; ``nvlink_peers`` has for each link the PCI address of
    what is at its other end, a switch or a GPU, and no text where that is not told.
    ``recovery_action`` is a :class:`RecoveryAction`, or a number that a newer driver brought.
    ``slot`` is the server's name for the place that the board sits in, empty where its firmware
    tells none.
    """

    index: int
    uuid: str | None = None
    bus_id: str | None = None
    name: str | None = None
    return_code: int = 0
    utilization_percent: int | None = None
    memory_utilization_percent: int | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    memory_reserved_bytes: int | None = None
    temperature_c: int | None = None
    temperature_slowdown_c: int | None = None
    temperature_shutdown_c: int | None = None
    power_mw: int | None = None
    power_limit_mw: int | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    memory_clock_mhz: int | None = None
    clock_reasons: int | None = None
    fan_percent: int | None = None
    pcie_rx_bytes_per_s: int | None = None
    pcie_tx_bytes_per_s: int | None = None
    performance_state: int | None = None
    ecc_uncorrected_volatile: int | None = None
    energy_mj: int | None = None
    memory_temperature_c: int | None = None
    recovery_action: int | None = None
    ecc_enabled: bool | None = None
    ecc_corrected_volatile: int | None = None
    ecc_corrected_aggregate: int | None = None
    ecc_uncorrected_aggregate: int | None = None
    ecc_sram_corrected_volatile: int | None = None
    ecc_sram_uncorrected_volatile: int | None = None
    ecc_sram_corrected_aggregate: int | None = None
    ecc_sram_uncorrected_aggregate: int | None = None
    ecc_sram_threshold_exceeded: bool | None = None
    ecc_dram_corrected_volatile: int | None = None
    ecc_dram_uncorrected_volatile: int | None = None
    ecc_dram_corrected_aggregate: int | None = None
    ecc_dram_uncorrected_aggregate: int | None = None
    remapped_rows_correctable: int | None = None
    remapped_rows_uncorrectable: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    remap_banks_low: int | None = None
    remap_banks_none: int | None = None
    retired_pages_single_bit: int | None = None
    retired_pages_double_bit: int | None = None
    retired_pages_pending: bool | None = None
    pcie_generation: int | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_replays: int | None = None
    nvlinks: int | None = None
    nvlinks_down: tuple[int, ...] | None = None
    nvlink_peers: tuple[str, ...] | None = None
    nvlink_crc_errors: int | None = None
    nvlink_replay_errors: int | None = None
    nvlink_recovery_errors: int | None = None
    violation_power_ns: int | None = None
    violation_thermal_ns: int | None = None
    violation_sync_boost_ns: int | None = None
    violation_board_limit_ns: int | None = None
    violation_reliability_ns: int | None = None
    violation_sw_thermal_ns: int | None = None
    violation_hw_thermal_ns: int | None = None
    violation_power_brake_ns: int | None = None
    fabric_state: str | None = None
    fabric_health: str | None = None
    mig_enabled: bool | None = None
    mig_instances: tuple[MigInstance, ...] | None = None
    persistence_enabled: bool | None = None
    serial: str | None = None
    slot: str = ""
    vbios: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One process on one GPU. A process on two GPUs is two of these.

    ``kind`` is ``compute`` or ``graphics``. ``job`` is what it belongs to, when that is known, and
    ``job_kind`` says what that is: ``slurm``, ``lsf`` or ``pbs`` (the scheduler's id), ``pod`` (its
    name, or ``pod`` and the start of its uid) or ``container`` (a runtime and a short id).
    ``parent_pid`` is the process that started it, which may stand among the node's ancestors.
    ``start_ticks`` (clock ticks since boot, as in /proc/PID/stat) and the PID together are the
    process's identity. ``unreachable`` says, in words, why the PID is not to be signalled from
    here: often it is one of the host's, seen from a container.
    """

    pid: int
    gpu: int
    kind: str = "compute"
    user: str | None = None
    memory_bytes: int | None = None
    sm_percent: int | None = None
    cpu_percent: float | None = None
    host_memory_bytes: int | None = None
    running_s: float | None = None
    command: str | None = None
    job: str | None = None
    job_kind: str | None = None
    start_ticks: int | None = None
    unreachable: str | None = None
    parent_pid: int | None = None


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process above some of those on the GPUs: what started them, or what started that."""

    pid: int
    parent_pid: int | None = None
    user: str | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True)
class HostSample:
    """The machine around the GPUs.

    ``cpu_percent`` is of all CPUs, since the last reading. ``memory_used_bytes`` is what is not
    available. Each pressure is the share of the last ten seconds in which some task waited for it
    (``some avg10`` of /proc/pressure). ``inlet_c`` is the air that comes into the machine.
    ``missing`` maps each field that is None to the reason, and ``links`` to the reason why no links
    are told, where they cannot be listed.
    """

    cpu_percent: float | None = None
    cpu_count: int | None = None
    load_1m: float | None = None
    load_5m: float | None = None
    load_15m: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    cpu_pressure_percent: float | None = None
    memory_pressure_percent: float | None = None
    io_pressure_percent: float | None = None
    uptime_s: float | None = None
    boot_id: str | None = None
    inlet_c: float | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


CONGESTION_COUNTERS = frozenset(
    {"np_cnp_sent", "np_ecn_marked_roce_packets", "port_xmit_wait", "rp_cnp_handled"}
)
"""Counters of a link that grow whenever a network is busy: marks of congestion, not of errors."""


@dataclass(frozen=True, slots=True)
class LinkSample:
    """A port that training's traffic uses.

    ``kind`` is ``infiniband``, ``roce`` (RDMA over Ethernet), ``rdma`` (of a cloud's own kind),
    ``ethernet`` or ``bond``. ``name`` is the kernel's: ``mlx5_0/1`` (device and port) or ``eth0``.
    ``state`` is the kernel's word in lower case (``active``, ``up``, ``down``, ``init`` ...), or
    ``gone`` for one that was here. Of RDMA ports alone: ``physical_state``, ``lanes`` (what they
    have negotiated, such as ``4X NDR``) and ``interface``, the network interface of a ``roce``
    one. Of interfaces alone: ``carrier_changes``, and ``bond``, which they belong to.

    ``counters`` are the totals of errors and marks of congestion that are not zero, by the kernel's
    names; ``growth`` is by how much each grew in the last ``growth_s`` seconds, and stands until
    they are read again. ``missing`` maps each field, and each counter, that cannot be told to the
    reason.
    """

    name: str
    kind: str = "ethernet"
    state: str | None = None
    physical_state: str | None = None
    speed_mbps: int | None = None
    lanes: str | None = None
    interface: str | None = None
    bond: str | None = None
    rx_bytes_per_s: int | None = None
    tx_bytes_per_s: int | None = None
    carrier_changes: int | None = None
    counters: Mapping[str, int] = field(default_factory=dict)
    growth: Mapping[str, int] = field(default_factory=dict)
    growth_s: float | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_up(self) -> bool:
        """Whether it can carry traffic."""
        return self.state in ("active", "up")

    @property
    def new_errors(self) -> dict[str, int]:
        """What grew, without the marks of congestion."""
        return {name: by for name, by in self.growth.items() if name not in CONGESTION_COUNTERS}


@dataclass(frozen=True, slots=True)
class TcpSample:
    """The TCP connections to other machines that the processes on the GPUs hold.

    Measured every few seconds, at ``time_s`` (Unix time). ``retransmits`` are the segments that had
    to be sent again since the measurement before. ``worst_peer`` is the address, with its port, of
    the connection with the longest round-trip time. ``missing`` maps what is None to the reason.
    """

    time_s: float
    connections: int | None = None
    rtt_median_us: int | None = None
    rtt_worst_us: int | None = None
    worst_peer: str | None = None
    retransmits: int | None = None
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListenerSample:
    """A socket of a process on a GPU on which it waits for connections from other machines.

    ``address`` is of the interface that it listens on; ``0.0.0.0`` and ``::`` are all of them.
    """

    pid: int
    port: int
    address: str


@dataclass(frozen=True, slots=True)
class PciGpu:
    """An NVIDIA GPU on the PCI bus, whether or not NVML counts it.

    ``driver`` is the kernel driver that holds it, None for none. ``hidden`` says that it is there
    but not for us: this container or job was given no access to it. ``above`` are the addresses of
    the bridges between it and the root, the nearest last.
    """

    bus_id: str
    driver: str | None = None
    hidden: bool = False
    above: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSample:
    """One reading of a whole node.

    ``time_s`` is Unix time. ``gpu_count`` is what NVML counts, which includes GPUs that no longer
    answer. ``error`` says, in words, why there are no GPUs at all when the driver failed to answer,
    and ``error_code`` is the NVML code of it, where there is one. ``on_bus`` are the GPUs that the
    PCI bus shows, none where it cannot be seen; None while nobody has looked. ``device_files`` says
    whether the driver's device files may be used: ``usable``, ``refused`` or ``absent``; it is
    looked at only where the driver failed. ``ancestors`` are the processes above those on the GPUs
    that hold no GPU themselves.
    """

    host: str
    time_s: float
    driver: str | None = None
    cuda: str | None = None
    gpu_count: int = 0
    gpus: tuple[GpuSample, ...] = ()
    processes: tuple[ProcessSample, ...] = ()
    error: str | None = None
    error_code: int | None = None
    on_bus: tuple[PciGpu, ...] | None = None
    device_files: str | None = None
    host_readings: HostSample | None = None
    links: tuple[LinkSample, ...] = ()
    tcp: TcpSample | None = None
    listeners: tuple[ListenerSample, ...] = ()
    ancestors: tuple[Ancestor, ...] = ()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log. ``source`` is ``kernel``, ``nvml`` (an event of NVML's) or a job's id."""

    time_s: float
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Incident:
    """A grouped cause: what is wrong, with whom, since when, and what to do.

    ``subject`` is ``gpu:UUID``, ``node:NAME``, ``job:ID``, ``nic:NAME`` or ``fleet``; ``gpu`` is
    the index, for reading. ``evidence`` are the very log lines or readings, oldest first, bounded.
    ``count`` is how many times it was seen. A child hangs under its cause by ``parent``.
    ``eased_s`` is when a thing that readings show was last so; None while it still is. An incident
    that has eased is open until it has been over for long enough, and then ``cleared_s`` is set.
    ``snoozed_until_s`` is until when nobody wants to be called for it; ``maintenance`` is the name
    of the window of maintenance that it falls into.
    """

    id: str
    kind: str
    subject: str
    host: str
    severity: Severity
    opened_s: float
    cause: str
    cause_text: str
    action: Action
    action_text: str
    gpu: int | None = None
    cleared_s: float | None = None
    acknowledged: bool = False
    count: int = 1
    evidence: tuple[str, ...] = ()
    runbook: str | None = None
    children: tuple[str, ...] = ()
    parent: str | None = None
    eased_s: float | None = None
    snoozed_until_s: float | None = None
    maintenance: str | None = None

    @property
    def is_page(self) -> bool:
        """Whether somebody should be called: it is open, worse than information, and nobody has
        seen it, put it off, or expects it; what another incident explains is that one's.
        """
        quiet = self.acknowledged or self.snoozed_until_s is not None or self.maintenance
        is_open = self.cleared_s is None and self.parent is None
        return is_open and self.severity > Severity.INFO and not quiet


@dataclass(frozen=True, slots=True)
class GpuStatus:
    """The state the monitor gives a GPU, and since when (Unix time).

    ``age_s`` is how old the readings shown beside it are: zero while it answers.
    ``reason`` is one short clause that says why it is in a state other than ok.
    ``since_start`` says that it was in this state when it was first looked at, so that nobody
    knows since when; ``since_s`` is that first look.
    """

    index: int
    state: GpuState
    since_s: float
    age_s: float = 0.0
    reason: str = ""
    since_start: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the monitor knows after one reading: the only thing the screen and the outputs see.

    ``statuses`` stands beside ``sample.gpus``, one each, in the same order. A GPU that fell silent
    keeps its last readings in ``sample.gpus``; its status says how old they are. ``incidents`` are
    the open ones, worst first, then newest; children follow their parent. ``notices`` are one-line
    remarks on the monitor itself (a log that cannot be read, say). ``silent_s`` is how long no
    sample has come, zero unless that is longer than it should be. ``recent`` are the incidents
    that cleared within the last hour, the newest first, twenty at most.
    """

    sample: NodeSample
    statuses: tuple[GpuStatus, ...]
    incidents: tuple[Incident, ...] = ()
    notices: tuple[str, ...] = ()
    silent_s: float = 0.0
    recent: tuple[Incident, ...] = ()
