"""``-q``: all there is to say of each GPU, in groups of labelled lines."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.reading import Driver, Gpu, Missing
from fakes.commands.nvidia_smi.report.layout import Sheet
from fakes.commands.nvidia_smi.report.parts import PARTS, SECTIONS
from fakes.commands.nvidia_smi.report.text import TextSheet
from fakes.commands.nvidia_smi.report.xml import XmlSheet
from fakes.commands.nvidia_smi.selection import Ended, status_of
from fakes.commands.nvidia_smi.words import FIELD_VALUES
from fakes.nvml.codes import Code

_ALSO_IN_XML = ("Accounted Processes",)


def print_report(driver: Driver, gpus: Sequence[Gpu], sections: Sequence[str], out: TextIO) -> None:
    """Print the report on ``gpus``: whole, or the ``sections`` that ``-d`` names alone."""
    wanted = {section.upper() for section in sections}
    if unknown := wanted - SECTIONS:
        out.write(f'Display type "{min(unknown)}" is not recognized. ')
        out.write("Please run 'nvidia-smi -h' for help.\n\n")
        raise Ended(status_of(Code.INVALID_ARGUMENT))
    sheet = TextSheet()
    sheet.lines.append("\n==============NVSMI LOG==============\n\n")
    _begin(sheet, driver)
    sheet.lines.append("\n")
    sheet.line("Attached GPUs", str(driver.get("nvmlDeviceGetCount")))
    parts = [part for part in PARTS if part.belongs(wanted)]
    for gpu in gpus:
        _have_fields(gpu)
        sheet.open(f"GPU {BY_NAME['pci.bus_id'].line(gpu, driver)}")
        for part in parts:
            part.write(gpu, sheet)
        sheet.close()
        sheet.lines.append("\n")
    out.write("".join(sheet.lines))


def print_xml(driver: Driver, gpus: Sequence[Gpu], out: TextIO) -> None:
    """Print the whole report as XML."""
    sheet = XmlSheet()
    sheet.begin("nvidia_smi_log")
    _begin(sheet, driver)
    sheet.line("Attached GPUs", str(driver.get("nvmlDeviceGetCount")))
    for gpu in gpus:
        _have_fields(gpu)
        sheet.begin("gpu", id=BY_NAME["pci.bus_id"].line(gpu, driver))
        for part in PARTS:
            if part.belongs(frozenset()) or part.label in _ALSO_IN_XML:
                part.write(gpu, sheet)
        sheet.end()
    sheet.end()
    out.write("".join(sheet.lines))


def _have_fields(gpu: Gpu) -> None:
    """Ask for all field values at once. A GPU that does not tell them is told of by each line."""
    with contextlib.suppress(Missing):
        gpu.read_fields(sorted(FIELD_VALUES))


def _begin(sheet: Sheet, driver: Driver) -> None:
    sheet.line("Timestamp", driver.date)
    sheet.line("Driver Version", driver.version)
    sheet.line("CUDA Version", driver.cuda_version)
