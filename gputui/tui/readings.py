"""Every reading of a GPU: what people call it, how it is written, and when it is alarming.

The names are those of NVML and nvidia-smi, since those are what people search for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gputui.model import THERMAL_REASONS, ClockReasons, GpuSample, RecoveryAction
from gputui.sources.reasons import code_of
from gputui.tui import format as fmt
from gputui.tui.roles import Role


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: ``fields`` are the readings in it, the first of which it cannot do without."""

    label: str
    fields: tuple[str, ...]
    write: Callable[[GpuSample], str]
    is_bad: Callable[[GpuSample], bool] = lambda _: False

    def text(self, gpu: GpuSample) -> tuple[str, Role]:
        """What to write, or why there is nothing."""
        if getattr(gpu, self.fields[0]) is None:
            return why_missing(gpu, self.fields[0]), Role.DIM
        return self.write(gpu), Role.WARNING if self.is_bad(gpu) else Role.TEXT


@dataclass(frozen=True, slots=True)
class Section:
    """Readings that are looked at together."""

    title: str
    entries: tuple[Entry, ...]


def why_missing(gpu: GpuSample, field: str) -> str:
    """The reason in full, with the code that NVML gave where there is one."""
    reason = gpu.missing.get(field, "not read")
    code = code_of(reason)
    return reason if code is None else f"{reason} (NVML {code})"


# --- how values are written -----------------------------------------------------------------------


def _one(
    label: str,
    field: str,
    write: Callable[[int], str] = str,
    is_bad: Callable[[int], bool] = lambda _: False,
) -> Entry:
    def value(gpu: GpuSample) -> int:
        return int(getattr(gpu, field))

    return Entry(label, (field,), lambda gpu: write(value(gpu)), lambda gpu: is_bad(value(gpu)))


def _text(label: str, field: str) -> Entry:
    return Entry(label, (field,), lambda gpu: str(getattr(gpu, field)))


def _of(label: str, field: str, most: str, write: Callable[[int], str], word: str = "of") -> Entry:
    """A reading beside the most that it can be."""

    def both(gpu: GpuSample) -> str:
        limit = getattr(gpu, most)
        now = write(getattr(gpu, field))
        return now if limit is None else f"{now} {word} {write(limit)}"

    return Entry(label, (field, most), both)


def _flag(label: str, field: str, *, bad: bool | None = None) -> Entry:
    return _one(label, field, lambda on: "yes" if on else "no", lambda on: bool(on) is bad)


def _errors(label: str, corrected: str, uncorrected: str) -> Entry:
    """Two counts that are always read together."""

    def write(gpu: GpuSample) -> str:
        two = (getattr(gpu, corrected), getattr(gpu, uncorrected))
        known = ["?" if value is None else str(value) for value in two]
        return f"{known[0]} corrected, {known[1]} uncorrected"

    return Entry(
        label, (corrected, uncorrected), write, lambda gpu: bool(getattr(gpu, uncorrected))
    )


def _percent(value: int) -> str:
    return f"{value} %"


def _mhz(value: int) -> str:
    return f"{value} MHz"


def _celsius(value: int) -> str:
    return f"{value} C"


def _watts(value: int) -> str:
    return f"{value / 1000:.1f} W"


def _kilowatt_hours(value: int) -> str:
    return f"{value / 3.6e9:.3f} kWh"


def _seconds(value: int) -> str:
    return f"{value / 1e9:.1f} s"


def _megabytes_per_s(value: int) -> str:
    return f"{value / 1e6:.0f} MB/s"


def _pages(value: int) -> str:
    return fmt.plural(value, "page")


_REASON_NAMES = {
    ClockReasons.GPU_IDLE: "Idle",
    ClockReasons.APPLICATIONS_CLOCKS_SETTING: "Applications Clocks Setting",
    ClockReasons.SW_POWER_CAP: "SW Power Cap",
    ClockReasons.HW_SLOWDOWN: "HW Slowdown",
    ClockReasons.SYNC_BOOST: "Sync Boost",
    ClockReasons.SW_THERMAL_SLOWDOWN: "SW Thermal Slowdown",
    ClockReasons.HW_THERMAL_SLOWDOWN: "HW Thermal Slowdown",
    ClockReasons.HW_POWER_BRAKE_SLOWDOWN: "HW Power Brake Slowdown",
    ClockReasons.DISPLAY_CLOCK_SETTING: "Display Clock Setting",
}
"""The clocks event reasons, as nvidia-smi calls them."""

_SLOWDOWNS = int(THERMAL_REASONS) | ClockReasons.HW_SLOWDOWN | ClockReasons.HW_POWER_BRAKE_SLOWDOWN


def _is_slowed(bits: int) -> bool:
    return bool(bits & _SLOWDOWNS)


def clock_reasons(bits: int) -> str:
    """The reasons by name; bits that a newer driver brought stay numbers."""
    names = [name for reason, name in _REASON_NAMES.items() if bits & reason]
    unknown = bits & ~sum(_REASON_NAMES)
    if unknown:
        names.append(f"{unknown:#x}")
    return ", ".join(names) or "none"


_RECOVERY_NAMES = {
    RecoveryAction.NONE: "none",
    RecoveryAction.GPU_RESET: "GPU Reset",
    RecoveryAction.NODE_REBOOT: "Node Reboot",
    RecoveryAction.DRAIN_P2P: "Drain P2P",
    RecoveryAction.DRAIN_AND_RESET: "Drain and Reset",
    RecoveryAction.RECOVER_IMEX_DOMAIN: "Recover IMEX Domain",
    RecoveryAction.BUS_RESET: "Bus Reset",
    RecoveryAction.SYSTEM_REBOOT: "System Reboot",
}


def _recovery(action: int) -> str:
    known = {int(one): name for one, name in _RECOVERY_NAMES.items()}
    return known.get(action, f"action {action}")


def _links(gpu: GpuSample) -> str:
    down = gpu.nvlinks_down
    if down is None:
        return f"{gpu.nvlinks}"
    if not down:
        return f"{gpu.nvlinks}, all up"
    return f"{gpu.nvlinks}, down: {', '.join(str(link) for link in down)}"


def _peers(gpu: GpuSample) -> str:
    """Each of the others once, with how many links lead there."""
    told = [peer for peer in gpu.nvlink_peers or () if peer]
    return ", ".join(f"{peer} ({told.count(peer)})" for peer in dict.fromkeys(told))


def _mig_instances(gpu: GpuSample) -> str:
    """How many; what each is stands below the sections."""
    return str(len(gpu.mig_instances or ())) if gpu.mig_instances else "none"


# --- all readings ---------------------------------------------------------------------------------

SECTIONS = (
    Section(
        "LOAD",
        (
            _one("GPU utilization", "utilization_percent", _percent),
            _one("memory utilization", "memory_utilization_percent", _percent),
            _of("memory used", "memory_used_bytes", "memory_total_bytes", fmt.mib),
            _one("memory reserved", "memory_reserved_bytes", fmt.mib),
        ),
    ),
    Section(
        "HEAT AND POWER",
        (
            Entry(
                "temperature",
                ("temperature_c", "temperature_slowdown_c", "temperature_shutdown_c"),
                lambda gpu: _celsius(gpu.temperature_c or 0),
                lambda gpu: (gpu.temperature_c or 0) >= (gpu.temperature_slowdown_c or 1000),
            ),
            _one("slowdown at", "temperature_slowdown_c", _celsius),
            _one("shutdown at", "temperature_shutdown_c", _celsius),
            _one("memory temperature", "memory_temperature_c", _celsius),
            _one("fan", "fan_percent", _percent),
            _of("power draw", "power_mw", "power_limit_mw", _watts),
            _one("energy", "energy_mj", _kilowatt_hours),
        ),
    ),
    Section(
        "CLOCKS",
        (
            _of("SM clock", "sm_clock_mhz", "sm_clock_max_mhz", _mhz),
            _one("memory clock", "memory_clock_mhz", _mhz),
            _one("performance state", "performance_state", lambda state: f"P{state}"),
            _one("event reasons", "clock_reasons", clock_reasons, _is_slowed),
            _one("power violation", "violation_power_ns", _seconds),
            _one("thermal violation", "violation_thermal_ns", _seconds),
            _one("  by software", "violation_sw_thermal_ns", _seconds),
            _one("  by hardware", "violation_hw_thermal_ns", _seconds),
            _one("power brake", "violation_power_brake_ns", _seconds),
            _one("sync boost violation", "violation_sync_boost_ns", _seconds),
            _one("board limit violation", "violation_board_limit_ns", _seconds),
            _one("reliability violation", "violation_reliability_ns", _seconds),
        ),
    ),
    Section(
        "ECC ERRORS",
        (
            _flag("ECC enabled", "ecc_enabled", bad=False),
            _errors("volatile", "ecc_corrected_volatile", "ecc_uncorrected_volatile"),
            _errors("  SRAM", "ecc_sram_corrected_volatile", "ecc_sram_uncorrected_volatile"),
            _errors("  DRAM", "ecc_dram_corrected_volatile", "ecc_dram_uncorrected_volatile"),
            _errors("aggregate", "ecc_corrected_aggregate", "ecc_uncorrected_aggregate"),
            _errors("  SRAM", "ecc_sram_corrected_aggregate", "ecc_sram_uncorrected_aggregate"),
            _errors("  DRAM", "ecc_dram_corrected_aggregate", "ecc_dram_uncorrected_aggregate"),
            _flag("SRAM beyond threshold", "ecc_sram_threshold_exceeded", bad=True),
        ),
    ),
    Section(
        "ROW REMAPPER",
        (
            _one("correctable", "remapped_rows_correctable", lambda rows: fmt.plural(rows, "row")),
            _one(
                "uncorrectable",
                "remapped_rows_uncorrectable",
                lambda rows: fmt.plural(rows, "row"),
                bool,
            ),
            _flag("pending", "remap_pending", bad=True),
            _flag("failure occurred", "remap_failed", bad=True),
            _one("banks with few spares", "remap_banks_low", str, bool),
            _one("banks with no spare", "remap_banks_none", str, bool),
        ),
    ),
    Section(
        "RETIRED PAGES",
        (
            _one("single bit ECC", "retired_pages_single_bit", _pages),
            _one("double bit ECC", "retired_pages_double_bit", _pages, bool),
            _flag("pending", "retired_pages_pending", bad=True),
        ),
    ),
    Section(
        "PCIe",
        (
            _of("link generation", "pcie_generation", "pcie_generation_max", str, "of at most"),
            Entry(
                "link width",
                ("pcie_width", "pcie_width_max"),
                lambda gpu: (
                    f"x{gpu.pcie_width}"
                    + (f" of x{gpu.pcie_width_max}" if gpu.pcie_width_max else "")
                ),
                lambda gpu: (gpu.pcie_width or 0) < (gpu.pcie_width_max or 0),
            ),
            _one("replays", "pcie_replays"),
            _one("received", "pcie_rx_bytes_per_s", _megabytes_per_s),
            _one("sent", "pcie_tx_bytes_per_s", _megabytes_per_s),
        ),
    ),
    Section(
        "NVLINK",
        (
            Entry("links", ("nvlinks", "nvlinks_down"), _links, lambda gpu: bool(gpu.nvlinks_down)),
            Entry("lead to", ("nvlink_peers",), _peers),
            _one("CRC errors", "nvlink_crc_errors", str, bool),
            _one("replay errors", "nvlink_replay_errors", str, bool),
            _one("recovery errors", "nvlink_recovery_errors", str, bool),
            _text("fabric state", "fabric_state"),
            _text("fabric health", "fabric_health"),
        ),
    ),
    Section(
        "BOARD",
        (
            _one("recovery action", "recovery_action", _recovery, bool),
            _flag("persistence mode", "persistence_enabled"),
            _flag("MIG mode", "mig_enabled"),
            Entry("MIG instances", ("mig_instances",), _mig_instances),
            _text("serial number", "serial"),
            Entry("slot", ("slot",), lambda gpu: gpu.slot or "not told by the firmware"),
            _text("VBIOS version", "vbios"),
        ),
    ),
)
"""All of them, in the order of the page."""
