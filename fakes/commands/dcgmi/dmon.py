"""``dcgmi dmon``: fields of GPUs, a line each, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, RefusedError, gpus_of, read
from fakes.hardware.gpu import Gpu
from fakes.hardware.pcie import AerError
from fakes.profile import MIB
from fakes.system.dcgm import Status

_FLAGS = {"-l": "list", "--list": "list", "-h": "help", "--help": "help"}
_VALUES = {
    "-e": "fields", "--field-id": "fields", "-c": "count", "--count": "count", "-d": "delay",
    "--delay": "delay", "-i": "gpus", "--gpu-id": "gpus", "--entity-id": "gpus", "-g": "group",
    "--group-id": "group", "--host": "host", "-f": "field-group", "--field-group-id": "field-group",
}  # fmt: skip
_HELP = "dcgmi dmon -e FIELD,FIELD ... [-i GPUS | -g GROUP] [-d MILLISECONDS] [-c COUNT] | -l\n"
_Read = Callable[[Gpu, int], "float | str"]


def _share(part: float) -> _Read:
    return lambda gpu, at_us: gpu.utilization_percent(at_us) / 100 * part


FIELDS: dict[int, tuple[str, str, _Read]] = {
    50: ("name", "DVNAM", lambda gpu, _: gpu.profile.name),
    54: ("uuid", "UUID#", lambda gpu, _: gpu.uuid),
    57: ("pci_busid", "PCIID", lambda gpu, _: f"{gpu.pci_domain:08X}:{gpu.pci_bus:02X}:00.0"),
    100: ("sm_clock", "SMCLK", lambda gpu, at_us: gpu.sm_clock_mhz(at_us)),
    101: ("memory_clock", "MMCLK", lambda gpu, _: gpu.memory_clock_mhz),
    140: ("memory_temp", "MMTMP", lambda gpu, at_us: gpu.memory_temperature_c(at_us)),
    150: ("gpu_temp", "TMPTR", lambda gpu, at_us: gpu.temperature_c(at_us)),
    155: ("power_usage", "POWER", lambda gpu, at_us: gpu.power_mw(at_us) / 1000),
    156: ("total_energy_consumption", "TOTEC", lambda gpu, at_us: gpu.energy_mj(at_us)),
    160: ("power_management_limit", "PMLMT", lambda gpu, _: gpu.power_limit_mw / 1000),
    202: ("pcie_replay_counter", "PCIRC", lambda gpu, _: gpu.pcie.replays),
    203: ("gpu_utilization", "GPUTL", lambda gpu, at_us: gpu.utilization_percent(at_us)),
    204: (
        "mem_copy_utilization", "MCUTL", lambda gpu, at_us: gpu.memory_utilization_percent(at_us),
    ),
    206: ("enc_utilization", "ECUTL", lambda gpu, _: 0),
    207: ("dec_utilization", "DCUTL", lambda gpu, _: 0),
    235: ("pcie_max_link_gen", "PCIMG", lambda gpu, _: gpu.profile.pcie.generation),
    236: ("pcie_max_link_width", "PCIMW", lambda gpu, _: gpu.profile.pcie.width),
    237: ("pcie_link_gen", "PCILG", lambda gpu, _: gpu.pcie_generation),
    238: ("pcie_link_width", "PCILW", lambda gpu, _: gpu.pcie_width),
    250: ("fb_total", "FBTTL", lambda gpu, _: gpu.profile.memory.total_mib),
    251: (
        "fb_free", "FBFRE",
        lambda gpu, at_us: (gpu.capacity_bytes - gpu.memory_used_bytes(at_us)) // MIB,
    ),
    252: ("fb_used", "FBUSD", lambda gpu, at_us: gpu.memory_used_bytes(at_us) // MIB),
    310: ("ecc_sbe_volatile_total", "ESVTL", lambda gpu, at_us: gpu.memory_errors.corrected(at_us)),
    311: (
        "ecc_dbe_volatile_total", "EDVTL",
        lambda gpu, _: gpu.memory_errors.all_volatile_uncorrected,
    ),
    390: ("retired_pages_sbe", "RPSBE", lambda gpu, _: len(gpu.retired_pages.single_bit_us)),
    391: ("retired_pages_dbe", "RPDBE", lambda gpu, _: len(gpu.retired_pages.double_bit_us)),
    393: ("uncorrectable_remapped_rows", "URMPS", lambda gpu, _: gpu.remapped_rows.uncorrectable),
    394: ("correctable_remapped_rows", "CRMPS", lambda gpu, _: gpu.remapped_rows.correctable),
    395: ("row_remap_failure", "RRF", lambda gpu, _: int(gpu.remapped_rows.failed)),
    396: ("row_remap_pending", "RRP", lambda gpu, _: int(gpu.remapped_rows.pending)),
    409: ("nvlink_crc_flit_error_count_total", "NFECT", lambda gpu, _: 0),
    419: (
        "nvlink_crc_data_error_count_total", "NDECT",
        lambda gpu, _: sum(end.crc for end in gpu.nvlinks),
    ),
    429: (
        "nvlink_replay_error_count_total", "NRECT",
        lambda gpu, _: sum(end.replays for end in gpu.nvlinks),
    ),
    439: (
        "nvlink_recovery_error_count_total", "NVRCT",
        lambda gpu, _: sum(end.recoveries for end in gpu.nvlinks),
    ),
    1001: ("gr_engine_active", "GRACT", _share(1.0)),
    1002: ("sm_active", "SMACT", _share(0.93)),
    1003: ("sm_occupancy", "SMOCC", _share(0.42)),
    1004: ("tensor_active", "TENSO", _share(0.38)),
    1005: ("dram_active", "DRAMA", _share(0.6)),
    1009: (
        "pcie_tx_bytes", "PCITX",
        lambda gpu, at_us: gpu.pcie_kib_per_s(at_us, received=False) * 1024,
    ),
    1010: (
        "pcie_rx_bytes", "PCIRX",
        lambda gpu, at_us: gpu.pcie_kib_per_s(at_us, received=True) * 1024,
    ),
    1501: (
        "pcie_corrected_errors", "PCICE", lambda gpu, _: gpu.pcie.errors[AerError.CORRECTED],
    ),
}  # fmt: skip
"""By DCGM's number (dcgm_fields.h): long name, heading, and how it is read."""


def run(argv: Sequence[str], engine: Engine) -> int:
    """Print lines until there are enough."""
    options = read("dmon", argv, _FLAGS, _VALUES)
    out = engine.out
    if "help" in options or not set(options) & {"fields", "list", "field-group"}:
        out.write(_HELP)
        return 0
    if "list" in options:
        out.write(f"{'Field Name':<45}{'Short Name':<15}Field Id\n")
        out.writelines(
            f"{name:<45}{short:<15}{number}\n" for number, (name, short, _) in FIELDS.items()
        )
        return 0
    numbers = _numbers(options.get("fields", ""))
    gpus = gpus_of(options, engine)
    count, delay_ms = _whole(options, "count"), _whole(options, "delay") or 1000
    headings = [FIELDS[number][1] for number in numbers]
    widths = [max(len(heading), 12) for heading in headings]
    cells = "".join(f"{text:<{width}} " for text, width in zip(headings, widths, strict=True))
    out.write(f"#Entity   {cells}\nID{' ' * (8 + len(cells))}\n")
    done = 0
    while True:
        for gpu in gpus:
            values = "".join(
                f"{_text(gpu, number, engine):<{width}} "
                for number, width in zip(numbers, widths, strict=True)
            )
            out.write(f"{f'GPU {gpu.index}':<10}{values}\n")
        done += 1
        if done == count:
            return 0
        engine.pause(delay_ms * 1000)


def _text(gpu: Gpu, number: int, engine: Engine) -> str:
    if gpu.lost or gpu.reset_required:
        return "N/A"
    value = FIELDS[number][2](gpu, engine.world.now_us)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _numbers(text: str) -> list[int]:
    found = []
    for part in text.split(","):
        if not part.strip().isdecimal():
            raise RefusedError(f'Error: Invalid field ID: "{part}"', Status.BADPARAM)
        if int(part) not in FIELDS:
            raise NotImitated(f"dmon -e {part.strip()}")
        found.append(int(part))
    return found


def _whole(options: dict[str, str], name: str) -> int:
    text = options.get(name, "0")
    if not text.isdecimal():
        raise RefusedError(f'Error: Invalid --{name}: "{text}"', Status.BADPARAM)
    return int(text)
