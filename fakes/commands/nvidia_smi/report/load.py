"""The report's second part: what keeps clocks down, memory, and how busy the engines are."""

from __future__ import annotations

from fakes.commands.nvidia_smi.fields.clocks import DISPLAY_CLOCK, reason
from fakes.commands.nvidia_smi.report.layout import Line, Part, group, line
from fakes.commands.nvidia_smi.report.samples import samples
from fakes.commands.nvidia_smi.words import mib, nothing, part

_BAR1 = "nvmlDeviceGetBAR1MemoryInfo"
_GPU, _MEMORY, _ENCODER, _DECODER = 1, 2, 3, 4


def _reason(label: str, name: str) -> Line:
    return line(label, f"clocks_event_reasons.{name}")


def _counter(label: str, name: str) -> Line:
    return line(label, f"clocks_event_reasons_counters.{name}")


LOAD: tuple[Part, ...] = (
    line("Performance State", "pstate", section="PERFORMANCE"),
    group(
        "Clocks Event Reasons",
        _reason("Idle", "gpu_idle"),
        _reason("Applications Clocks Setting", "applications_clocks_setting"),
        _reason("SW Power Cap", "sw_power_cap"),
        _reason("HW Slowdown", "hw_slowdown"),
        _reason("    HW Thermal Slowdown", "hw_thermal_slowdown"),
        _reason("    HW Power Brake Slowdown", "hw_power_brake_slowdown"),
        _reason("Sync Boost", "sync_boost"),
        _reason("SW Thermal Slowdown", "sw_thermal_slowdown"),
        line("Display Clock Setting", reason(DISPLAY_CLOCK)),
        section="PERFORMANCE",
    ),
    group(
        "Clocks Event Reasons Counters",
        _counter("SW Power Capping", "sw_power_cap"),
        _counter("Sync Boost", "sync_boost"),
        _counter("SW Thermal Slowdown", "sw_thermal_slowdown"),
        _counter("HW Thermal Slowdown", "hw_thermal_slowdown"),
        _counter("HW Power Braking", "hw_power_brake_slowdown"),
        section="PERFORMANCE",
    ),
    line("Sparse Operation Mode", nothing, section="PERFORMANCE"),
    group(
        "FB Memory Usage",
        line("Total", "memory.total"),
        line("Reserved", "memory.reserved"),
        line("Used", "memory.used"),
        line("Free", "memory.free"),
        section="MEMORY",
    ),
    group(
        "BAR1 Memory Usage",
        line("Total", part(_BAR1, "bar1Total", by=mib), " MiB"),
        line("Used", part(_BAR1, "bar1Used", by=mib), " MiB"),
        line("Free", part(_BAR1, "bar1Free", by=mib), " MiB"),
        section="MEMORY",
    ),
    group(
        "Conf Compute Protected Memory Usage",
        line("Total", "protected_memory.total"),
        line("Used", "protected_memory.used"),
        line("Free", "protected_memory.free"),
        section="MEMORY",
    ),
    line("Compute Mode", "compute_mode", section="COMPUTE"),
    group(
        "Utilization",
        line("GPU", "utilization.gpu"),
        line("Memory", "utilization.memory"),
        line("Encoder", "utilization.encoder"),
        line("Decoder", "utilization.decoder"),
        line("JPEG", "utilization.jpeg"),
        line("OFA", "utilization.ofa"),
        section="UTILIZATION",
    ),
    samples("GPU Utilization Samples", _GPU, "%", section="UTILIZATION"),
    samples("Memory Utilization Samples", _MEMORY, "%", section="UTILIZATION"),
    samples("ENC Utilization Samples", _ENCODER, "%", section="UTILIZATION"),
    samples("DEC Utilization Samples", _DECODER, "%", section="UTILIZATION"),
    group(
        "Encoder Stats",
        line("Active Sessions", "encoder.stats.sessionCount"),
        line("Average FPS", "encoder.stats.averageFps"),
        line("Average Latency", "encoder.stats.averageLatency"),
        section="ENCODER_STATS",
    ),
    group(
        "FBC Stats",
        line("Active Sessions", part("nvmlDeviceGetFBCStats", "sessionsCount")),
        line("Average FPS", part("nvmlDeviceGetFBCStats", "averageFPS")),
        line("Average Latency", part("nvmlDeviceGetFBCStats", "averageLatency")),
        section="FBC_STATS",
    ),
    group(
        "DRAM Encryption Mode",
        line("Current", "dramEncryption.mode.current"),
        line("Pending", "dramEncryption.mode.pending"),
    ),
)
