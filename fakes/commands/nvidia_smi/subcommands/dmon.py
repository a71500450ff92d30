"""``dmon``: readings of GPUs, a line each, again and again (widths of driver 590)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.options import Usage
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.selection import Selection
from fakes.commands.nvidia_smi.session import Session
from fakes.commands.nvidia_smi.subcommands.scrolling import Lines, scroll
from fakes.commands.nvidia_smi.words import mib

_HELP = """\
nvidia-smi dmon [-i ID] [-d SECONDS] [-c COUNT] [-s pucvmet] [-o DT]

    -s   p power and temperature, u utilization, c clocks, v violations, m memory, e errors,
         t traffic on PCIe; pu c if not said
    -o   D the date, T the time before each line
"""
_Column = tuple[str, str, Callable[[Gpu], str]]


def _field(name: str) -> Callable[[Gpu], str]:
    return BY_NAME[name].read


def _whole(name: str) -> Callable[[Gpu], str]:
    return lambda gpu: str(int(float(BY_NAME[name].read(gpu))))


def _traffic(which: int) -> Callable[[Gpu], str]:
    return lambda gpu: str(gpu.get("nvmlDeviceGetPcieThroughput", which) // 1000)


def _capped(gpu: Gpu) -> str:
    """Percent of the time in which the power limit holds the clock down: all of it, or none."""
    return "100" if gpu.get("nvmlDeviceGetCurrentClocksEventReasons") & 0x4 else "0"


def _hot(gpu: Gpu) -> str:
    return str(int(bool(gpu.get("nvmlDeviceGetCurrentClocksEventReasons") & 0x60)))


def _errors(kind: int) -> Callable[[Gpu], str]:
    return lambda gpu: str(gpu.get("nvmlDeviceGetTotalEccErrors", kind, 0))


_GROUPS: dict[str, tuple[_Column, ...]] = {
    "p": (
        ("pwr", "W", _whole("power.draw")),
        ("gtemp", "C", _field("temperature.gpu")),
        ("mtemp", "C", _field("temperature.memory")),
    ),
    "u": (
        ("sm", "%", _field("utilization.gpu")),
        ("mem", "%", _field("utilization.memory")),
        ("enc", "%", _field("utilization.encoder")),
        ("dec", "%", _field("utilization.decoder")),
        ("jpg", "%", _field("utilization.jpeg")),
        ("ofa", "%", _field("utilization.ofa")),
    ),
    "c": (("mclk", "MHz", _field("clocks.mem")), ("pclk", "MHz", _field("clocks.sm"))),
    "v": (("pviol", "%", _capped), ("tviol", "bool", _hot)),
    "m": (
        ("fb", "MB", _field("memory.used")),
        ("bar1", "MB", lambda gpu: mib(gpu.get("nvmlDeviceGetBAR1MemoryInfo").bar1Used)),
        ("ccpm", "MB", _field("protected_memory.used")),
    ),
    "e": (
        ("sbecc", "errs", _errors(0)),
        ("dbecc", "errs", _errors(1)),
        ("pci", "errs", lambda gpu: str(gpu.get("nvmlDeviceGetPcieReplayCounter"))),
    ),
    "t": (("rxpci", "MB/s", _traffic(1)), ("txpci", "MB/s", _traffic(0))),
}


def run(argv: Sequence[str], session: Session) -> int:
    """Print lines until there are enough."""
    return scroll("dmon", argv, session, _HELP, "puc", _made)


def _made(letters: str) -> tuple[tuple[str, str], Lines]:
    unknown = set(letters) - set(_GROUPS)
    if unknown:
        raise Usage(f"\"{min(unknown)}\" is not a metric. Please run 'nvidia-smi dmon -h'.")
    columns = [column for letter in letters for column in _GROUPS[letter]]
    headings = (
        "# gpu" + "".join(f"{name:>7}" for name, _, _ in columns) + " ",
        "# Idx" + "".join(f"{unit:>7}" for _, unit, _ in columns) + " ",
    )

    def lines(selection: Selection, ids: Sequence[str]) -> list[str]:
        return [
            f"{gpu.index:>5}" + "".join(f"{_cell(gpu, read):>7}" for _, _, read in columns) + " "
            for gpu in selection.gpus(ids)
        ]

    return headings, lines


def _cell(gpu: Gpu, read: Callable[[Gpu], str]) -> str:
    try:
        return read(gpu)
    except Missing:
        return "-"
