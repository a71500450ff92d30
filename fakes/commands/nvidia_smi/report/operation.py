"""The report's last part: clocks, the fabric, processes."""

from __future__ import annotations

from collections.abc import Iterator

from fakes.commands.nvidia_smi.fields.clocks import GRAPHICS, VIDEO
from fakes.commands.nvidia_smi.queries.accounted_apps import QUERY as ACCOUNTED
from fakes.commands.nvidia_smi.queries.compute_apps import all_apps
from fakes.commands.nvidia_smi.queries.supported_clocks import pairs
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.report.layout import Entry, Listing, Part, group, line
from fakes.commands.nvidia_smi.report.samples import samples
from fakes.commands.nvidia_smi.words import enabled, nothing, part, said

_PROCESS_VALUE_AT = 42
_SM_CLOCK, _MEMORY_CLOCK = 5, 6
_EGM = 1


def _processes(gpu: Gpu) -> Iterator[Entry]:
    for app in all_apps(gpu):
        yield Entry("GPU instance ID", "N/A")
        yield Entry("Compute instance ID", "N/A")
        yield Entry("Process ID", str(app.pid))
        yield Entry("Type", app.kind, 1)
        try:
            name = app.name
        except Missing as missing:
            name = gpu.driver.why(missing.code)
        yield Entry("Name", name, 1)
        used = "N/A" if app.used_bytes is None else f"{app.used_mib} MiB"
        yield Entry("Used GPU Memory", used, 1)


def _accounted(gpu: Gpu) -> Iterator[Entry]:
    for row in ACCOUNTED.rows(gpu):
        yield Entry("Process ID", str(row.pid))


def _supported_clocks(gpu: Gpu) -> Iterator[Entry]:
    memory_mhz = 0
    for pair in pairs(gpu):
        if pair.memory_mhz is None:
            return
        if pair.memory_mhz != memory_mhz:
            memory_mhz = pair.memory_mhz
            yield Entry("Memory", f"{memory_mhz} MHz")
        yield Entry("Graphics", f"{pair.graphics_mhz} MHz", 1)


def _capability(gpu: Gpu) -> str:
    info = gpu.filled("nvmlDeviceGetCapabilities", "c_nvmlDeviceCapabilities_v1_t")
    return enabled(info.capMask & _EGM).lower()


OPERATION: tuple[Part, ...] = (
    group(
        "Workload Power Profiles",
        line("Requested Profiles", nothing),
        line("Enforced Profiles", nothing),
        section="POWER_PROFILES",
    ),
    line("EDPp Multiplier", "edpp_multiplier", "%"),
    group(
        "Clocks",
        line("Graphics", "clocks.gr"),
        line("SM", "clocks.sm"),
        line("Memory", "clocks.mem"),
        line("Video", "clocks.video"),
        section="CLOCK",
    ),
    group(
        "Applications Clocks",
        line("Graphics", "clocks.applications.gr"),
        line("Memory", "clocks.applications.mem"),
        section="CLOCK",
    ),
    group(
        "Default Applications Clocks",
        line("Graphics", "clocks.default_applications.gr"),
        line("Memory", "clocks.default_applications.mem"),
        section="CLOCK",
    ),
    group("Deferred Clocks", line("Memory", nothing), section="CLOCK"),
    group(
        "Max Clocks",
        line("Graphics", "clocks.max.gr"),
        line("SM", "clocks.max.sm"),
        line("Memory", "clocks.max.mem"),
        line("Video", said("nvmlDeviceGetMaxClockInfo", VIDEO), " MHz"),
        section="CLOCK",
    ),
    group(
        "Max Customer Boost Clocks",
        line("Graphics", said("nvmlDeviceGetMaxCustomerBoostClock", GRAPHICS), " MHz"),
        section="CLOCK",
    ),
    samples("SM Clock Samples", _SM_CLOCK, "MHz", section="CLOCK"),
    samples("Memory Clock Samples", _MEMORY_CLOCK, "MHz", section="CLOCK"),
    group(
        "Clock Policy",
        line("Auto Boost", part("nvmlDeviceGetAutoBoostedClocksEnabled", 0, by=enabled)),
        line("Auto Boost Default", part("nvmlDeviceGetAutoBoostedClocksEnabled", 1, by=enabled)),
        section="CLOCK",
    ),
    Listing(
        label="Supported Clocks",
        section="SUPPORTED_CLOCKS",
        only_asked=True,
        entries=_supported_clocks,
        none="N/A",
    ),
    group(
        "Fabric",
        line("State", "fabric.state"),
        line("Status", "fabric.status"),
        line("CliqueId", "fabric.cliqueId"),
        line("ClusterUUID", "fabric.clusterUuid"),
        group(
            "Health",
            line("Summary", "fabric.health.summary"),
            line("Bandwidth", "fabric.health.bandwidth"),
            line("Route Recovery in progress", "fabric.health.route_recovery_in_progress"),
            line("Route Unhealthy", "fabric.health.route_unhealthy"),
            line("Access Timeout Recovery", "fabric.health.access_timeout_recovery"),
            line("Incorrect Configuration", "fabric.health.incorrect_configuration"),
        ),
    ),
    Listing(label="Processes", section="PIDS", entries=_processes, value_at=_PROCESS_VALUE_AT),
    Listing(label="Accounted Processes", section="ACCOUNTING", only_asked=True, entries=_accounted),
    group("Capabilities", line("EGM", _capability)),
)
