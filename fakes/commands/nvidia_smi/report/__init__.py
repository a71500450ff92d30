"""``-q``: all there is to say of each GPU, in groups of labelled lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.reading import Driver, Gpu
from fakes.commands.nvidia_smi.report.layout import write_line
from fakes.commands.nvidia_smi.report.parts import PARTS, SECTIONS
from fakes.commands.nvidia_smi.selection import Ended, status_of
from fakes.nvml.codes import Code


def print_report(driver: Driver, gpus: Sequence[Gpu], sections: Sequence[str], out: TextIO) -> None:
    """Print the report on ``gpus``: whole, or the ``sections`` that ``-d`` names alone."""
    wanted = {section.upper() for section in sections}
    if unknown := wanted - SECTIONS:
        out.write(f'Display type "{min(unknown)}" is not recognized. ')
        out.write("Please run 'nvidia-smi -h' for help.\n\n")
        raise Ended(status_of(Code.INVALID_ARGUMENT))
    out.write("\n==============NVSMI LOG==============\n\n")
    write_line(out, 0, "Timestamp", driver.date)
    write_line(out, 0, "Driver Version", driver.version)
    write_line(out, 0, "CUDA Version", driver.cuda_version)
    out.write("\n")
    write_line(out, 0, "Attached GPUs", str(driver.get("nvmlDeviceGetCount")))
    for gpu in gpus:
        out.write(f"GPU {BY_NAME['pci.bus_id'].line(gpu, driver)}\n")
        for part in PARTS:
            if part.belongs(wanted):
                part.write(gpu, 1, out)
        out.write("\n")
