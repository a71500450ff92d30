"""The report's third part: memory errors, heat and power."""

from __future__ import annotations

from fakes.commands.nvidia_smi.fields.power import AVERAGE, INSTANT, MEMORY_SCOPE
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.report.layout import Line, Part, answers, group, line
from fakes.commands.nvidia_smi.report.samples import samples
from fakes.commands.nvidia_smi.words import field_value, part, said, watts, yes

_SHUTDOWN, _SLOWDOWN, _MEMORY_MAX, _GPU_MAX = range(4)
_TARGET = 5
_SHUTDOWN_MARGIN, _SLOWDOWN_MARGIN, _MEMORY_MAX_MARGIN, _GPU_MAX_MARGIN = range(193, 197)
_SMOOTHING_ENABLED = 251
_TOTAL_POWER = 0
_HAS_ECC = answers("nvmlDeviceGetEccMode")
_HAS_MARGIN = answers("nvmlDeviceGetMarginTemperature")


def _has_sram_details(gpu: Gpu) -> bool:
    try:
        gpu.filled("nvmlDeviceGetSramEccErrorStatus", "c_nvmlEccSramErrorStatus_v1_t")
    except Missing:
        return False
    return True


def _has_none(gpu: Gpu) -> bool:
    return not _has_sram_details(gpu)


def _has_no_margin(gpu: Gpu) -> bool:
    return not _HAS_MARGIN(gpu)


def _errors(span: str) -> tuple[Line, ...]:
    """Errors of a time span. Newer GPUs tell the sorts of on-chip errors apart."""
    return (
        line("SRAM Correctable", f"ecc.errors.corrected.{span}.sram"),
        line("SRAM Uncorrectable", f"ecc.errors.uncorrected.{span}.sram", when=_has_none),
        line(
            "SRAM Uncorrectable Parity",
            f"ecc.errors.uncorrected.{span}.sram.parity",
            when=_has_sram_details,
        ),
        line(
            "SRAM Uncorrectable SEC-DED",
            f"ecc.errors.uncorrected.{span}.sram.secded",
            when=_has_sram_details,
        ),
        line("DRAM Correctable", f"ecc.errors.corrected.{span}.dram"),
        line("DRAM Uncorrectable", f"ecc.errors.uncorrected.{span}.dram"),
    )


_ECC: tuple[Part, ...] = (
    group(
        "ECC Mode",
        line("Current", "ecc.mode.current"),
        line("Pending", "ecc.mode.pending"),
        section="ECC",
    ),
    group(
        "ECC Errors",
        group("Volatile", *_errors("volatile")),
        group(
            "Aggregate",
            *_errors("aggregate"),
            line(
                "SRAM Threshold Exceeded",
                "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded",
                when=_has_sram_details,
            ),
        ),
        group(
            "Aggregate Uncorrectable SRAM Sources",
            line("SRAM L2", "ecc.errors.uncorrected.aggregate.sram.l2"),
            line("SRAM SM", "ecc.errors.uncorrected.aggregate.sram.sm"),
            line("SRAM Microcontroller", "ecc.errors.uncorrected.aggregate.sram.mcu"),
            line("SRAM PCIE", "ecc.errors.uncorrected.aggregate.sram.pcie"),
            line("SRAM Other", "ecc.errors.uncorrected.aggregate.sram.other"),
            when=_has_sram_details,
        ),
        line(
            "Channel Repair Pending",
            part("nvmlDeviceGetRepairStatus", 0, by=yes),
            when=_HAS_ECC,
        ),
        line("TPC Repair Pending", part("nvmlDeviceGetRepairStatus", 1, by=yes), when=_HAS_ECC),
        line(
            "Unrepairable Memory",
            said("nvmlDeviceGetUnrepairableMemoryFlag_v1", by=yes),
            when=_HAS_ECC,
        ),
        section="ECC",
    ),
    group(
        "Retired Pages",
        line("Single Bit ECC", "retired_pages.sbe"),
        line("Double Bit ECC", "retired_pages.dbe"),
        line("Pending Page Blacklist", "retired_pages.pending"),
        section="PAGE_RETIREMENT",
    ),
    group(
        "Remapped Rows",
        line("Correctable Error", "remapped_rows.correctable"),
        line("Uncorrectable Error", "remapped_rows.uncorrectable"),
        line("Pending", "remapped_rows.pending"),
        line("Remapping Failure Occurred", "remapped_rows.failure"),
        group(
            "Bank Remap Availability Histogram",
            *(
                line(spare.capitalize(), f"remapped_rows.histogram.{spare}", " bank(s)")
                for spare in ("max", "high", "partial", "low", "none")
            ),
        ),
        section="ROW_REMAPPER",
        asks=lambda gpu: gpu.get("nvmlDeviceGetRemappedRows"),
    ),
)


def _limit(label: str, margin: int, threshold: int) -> tuple[Line, Line]:
    """A limit: as the margin that is left there, or as a temperature on older GPUs."""
    return (
        line(f"{label} T.Limit Temp", field_value(margin), " C", when=_HAS_MARGIN),
        line(
            f"{label} Temp",
            said("nvmlDeviceGetTemperatureThreshold", threshold),
            " C",
            when=_has_no_margin,
        ),
    )


_HEAT: tuple[Part, ...] = (
    group(
        "Temperature",
        line("GPU Current Temp", "temperature.gpu", " C"),
        line("GPU T.Limit Temp", "temperature.gpu.tlimit", " C"),
        *_limit("GPU Shutdown", _SHUTDOWN_MARGIN, _SHUTDOWN),
        *_limit("GPU Slowdown", _SLOWDOWN_MARGIN, _SLOWDOWN),
        *_limit("GPU Max Operating", _GPU_MAX_MARGIN, _GPU_MAX),
        line("GPU Target Temperature", said("nvmlDeviceGetTemperatureThreshold", _TARGET), " C"),
        line("Memory Current Temp", "temperature.memory", " C"),
        *_limit("Memory Max Operating", _MEMORY_MAX_MARGIN, _MEMORY_MAX),
        section="TEMPERATURE",
    ),
)


def _limits(prefix: str) -> tuple[Line, ...]:
    return (
        line("Current Power Limit", f"{prefix}enforced.power.limit"),
        line("Requested Power Limit", f"{prefix}power.limit"),
        line("Default Power Limit", f"{prefix}power.default_limit"),
        line("Min Power Limit", f"{prefix}power.min_limit"),
        line("Max Power Limit", f"{prefix}power.max_limit"),
    )


_POWER: tuple[Part, ...] = (
    group(
        "GPU Power Readings",
        line("Average Power Draw", "power.draw.average"),
        line("Instantaneous Power Draw", "power.draw.instant"),
        *_limits(""),
        section="POWER",
    ),
    samples("Power Samples", _TOTAL_POWER, "W", section="POWER", by=lambda mw: watts(round(mw))),
    group(
        "GPU Memory Power Readings ",
        line("Average Power Draw", field_value(AVERAGE, MEMORY_SCOPE, by=watts), " W"),
        line("Instantaneous Power Draw", field_value(INSTANT, MEMORY_SCOPE, by=watts), " W"),
        section="POWER",
    ),
    group(
        "Module Power Readings",
        line("Average Power Draw", "module.power.draw.average"),
        line("Instantaneous Power Draw", "module.power.draw.instant"),
        *_limits("module."),
        section="POWER",
    ),
    group(
        "Power Smoothing",
        asks=lambda gpu: gpu.field(_SMOOTHING_ENABLED),
        section="POWER_SMOOTHING",
    ),
)

HEALTH: tuple[Part, ...] = (*_ECC, *_HEAT, *_POWER)
