"""The report (``-q``) and the table, on nodes that are well and on nodes that are not."""

from __future__ import annotations

import pytest

from fakes.hardware.ecc import MemoryErrors, RemappedRows
from fakes.jobs.process import JobSpec


def group(said, name: str) -> dict[str, str]:
    """The lines of a group of the first GPU, by label."""
    lines = said.lines
    start = next(at for at, line in enumerate(lines) if line.strip() == name)
    depth = len(lines[start]) - len(lines[start].lstrip())
    found = {}
    for line in lines[start + 1 :]:
        if len(line) - len(line.lstrip()) <= depth:
            break
        label, _, value = line.partition(" : ")
        found[label.strip()] = value
    return found


def test_the_report_is_on_every_gpu_or_on_those_chosen(make_smi):
    """A block each, an empty line behind it; the count is of all."""
    smi = make_smi(gpus=8)
    assert smi("-q").out.count("Product Name") == 8
    said = smi("-q", "-i", "3")
    assert [line for line in said.lines if line.startswith("GPU ")] == ["GPU 00000000:61:00.0"]
    assert "Attached GPUs                                          : 8" in said.lines
    assert said.lines[-1] == ""


@pytest.mark.parametrize(
    ("section", "headings"),
    [
        ("MEMORY", ["FB Memory Usage", "BAR1 Memory Usage", "Conf Compute Protected Memory Usage"]),
        ("PAGE_RETIREMENT", ["Retired Pages"]),
        ("ROW_REMAPPER", ["Remapped Rows"]),
        ("PIDS", ["Processes"]),
        ("ECC", ["ECC Mode", "ECC Errors"]),
        ("temperature", ["Temperature"]),
        ("SUPPORTED_CLOCKS", ["Supported Clocks"]),
        ("VOLTAGE", []),
        ("ECC,ROW_REMAPPER", ["ECC Mode", "ECC Errors", "Remapped Rows"]),
        (
            "UTILIZATION",
            [
                "Utilization",
                "GPU Utilization Samples",
                "Memory Utilization Samples",
                "ENC Utilization Samples",
                "DEC Utilization Samples",
            ],
        ),
    ],
)
def test_sections_are_shown_alone(section, headings, smi):
    """In either case; several by commas; each in the report's order."""
    said = smi("-q", "-i", "0", "-d", section)
    body = said.lines[said.lines.index("GPU 00000000:1B:00.0") + 1 :]
    shown = [line.strip() for line in body if line.startswith("    ") and line[4] != " "]
    assert [label.partition(" : ")[0].strip() for label in shown] == headings
    assert said.status == 0


def test_samples_are_told_with_their_section(smi):
    """Their number, and their highest, lowest and mean value; the report leaves them out."""
    said = group(smi("-q", "-d", "POWER"), "Power Samples")
    assert int(said["Number of Samples"]) > 1
    lowest, mean, highest = (float(said[of].removesuffix(" W")) for of in ("Min", "Avg", "Max"))
    assert lowest <= mean <= highest
    assert "Samples" not in smi("-q").out


def test_an_unknown_section_is_refused(smi):
    """It is named; status 2."""
    said = smi("-q", "-d", "MEMORY,FOO")
    assert '"FOO" is not recognized' in said.out
    assert said.status == 2


def test_errors_show_where_health_checks_look(smi):
    """Volatile first, aggregate second; remapped rows in words."""
    gpu = smi.rig.node.gpus[0]
    gpu.memory_errors = MemoryErrors(0, 2, 0, 7)
    gpu.remapped_rows = RemappedRows(0, 1, pending=True)
    said = smi("-q")
    dram = [line for line in said.lines if "DRAM Uncorrectable" in line][:2]
    assert [line.rpartition(": ")[2] for line in dram] == ["2", "7"]
    rows = group(said, "Remapped Rows")
    assert (rows["Pending"], rows["Remapping Failure Occurred"]) == ("Yes", "No")
    assert (rows["Max"], rows["High"]) == ("2559 bank(s)", "1 bank(s)")


def test_reasons_and_their_counters_follow_the_heat(smi):
    """A GPU without air says so in words, and counts the time."""
    gpu = smi.rig.node.gpus[0]
    gpu.set_airflow(0.2, 0)
    smi.rig.at_us = 120_000_000
    said = smi("-q", "-i", "0", "-d", "PERFORMANCE")
    reasons = group(said, "Clocks Event Reasons")
    assert "Active" in (reasons["SW Thermal Slowdown"], reasons["HW Thermal Slowdown"])
    counters = group(said, "Clocks Event Reasons Counters")
    assert int(counters["SW Thermal Slowdown"].removesuffix(" us")) > 0


def test_a_gpu_that_waits_for_its_reset_shows_it_everywhere(smi):
    """ERR! in the table, the words in the report; the other GPU is fine."""
    smi.rig.node.gpus[0].reset_required = True
    table = smi()
    sick, well = (line for line in table.lines if "MiB /" in line or "ERR! /" in line)
    assert sick.split()[1:4] == ["ERR!", "ERR!", "ERR!"]
    assert "ERR!" not in well
    assert table.status == 0
    assert group(smi("-q", "-i", "0"), "Temperature")["GPU Current Temp"] == "GPU requires reset"
    assert "    GPU Recovery Action                                : Reset" in smi("-q").lines


def test_long_names_are_cut_and_columns_stay(smi):
    """A program's path keeps its end."""
    path = "/very/long/path/to/a/virtual/environment/bin/python3.11"
    smi.rig.node.start_job(JobSpec("long", (0,), load=0.0, memory_bytes=1, command=path), 1)
    said = smi()
    line = next(line for line in said.lines if "python3.11" in line)
    assert line[42:].split() == ["...irtual/environment/bin/python3.11", "1MiB", "|"]
    assert {len(line) for line in said.lines[1:] if line} == {91}


def test_a_newer_driver_s_table_names_its_versions(make_smi):
    """Tool, driver and CUDA, in their columns."""
    assert make_smi(driver="580.95.05", cuda=(13, 0))().lines[2] == (
        "| NVIDIA-SMI 580.95.05              "
        "Driver Version: 580.95.05      CUDA Version: 13.0     |"
    )
