"""The look-alike beside what a real nvidia-smi 590 printed of a real H100, idle and under load."""

from __future__ import annotations

import re

import pytest

QUERY_GPU = "query-gpu (csv, what the exporter parses)"
STATES = ("idle", "load")

IDENTITY = {
    "timestamp",
    "serial",
    "uuid",
    "pci.bus_id",
    "pci.bus",
    "pci.device",
    "platform.module_id",
}
LOAD = {
    "memory.used [MiB]",
    "memory.free [MiB]",
    "utilization.gpu [%]",
    "utilization.memory [%]",
    "temperature.gpu",
    "temperature.gpu.tlimit",
    "temperature.memory",
    "power.draw [W]",
    "power.draw.average [W]",
    "power.draw.instant [W]",
}
NOT_TOLD = {"addressing_mode", "edpp_multiplier [%]"}
"""What the fake's NVML does not answer."""


def shape(text: str) -> str:
    """A value without its digits: what is left must be the same."""
    return re.sub(r"[0-9A-Fa-f]+", "0", text)


def cells(text: str) -> dict[str, str]:
    heading, line = text.splitlines()
    return dict(zip(heading.split(", "), line.split(", "), strict=True))


@pytest.mark.parametrize("state", STATES)
def test_the_query_that_names_every_property_has_the_real_headings_units_and_gaps(
    state, on_h100, h100
):
    """Each cell is the real one, or differs in digits alone where load and identity decide."""
    asked = ",".join(
        h100["capabilities", "query-gpu field list (derived, used for query-gpu above)"].split()
    )
    said = on_h100(idle=state == "idle")(f"--query-gpu={asked}", "--format=csv")
    real, fake = cells(h100[state, QUERY_GPU]), cells(said.out)
    assert list(fake) == list(real)
    differing = {name for name in real if fake[name] != real[name]}
    assert differing <= IDENTITY | LOAD | NOT_TOLD
    assert {name for name in differing if shape(fake[name]) != shape(real[name])} == NOT_TOLD
    assert {fake[name] for name in NOT_TOLD} == {"[N/A]"}
    assert {fake[name] for name in differing & LOAD} & {"[N/A]", "N/A"} == set()


def test_properties_of_newer_drivers_have_their_headings_too(make_smi, captured):
    """The list of driver 595 is understood as well, to the last heading."""
    real = captured("geforce")
    names = real["capabilities", "query-gpu field list (derived, used for query-gpu above)"].split()
    said = make_smi()(f"--query-gpu={','.join(names)}", "--format=csv")
    assert said.lines[0] == real["idle", QUERY_GPU].splitlines()[0]


@pytest.mark.parametrize(
    "kind", ["query-gpu", "query-compute-apps", "query-accounted-apps", "query-retired-pages"]
)
def test_every_property_that_the_real_help_lists_is_listed_in_its_order(kind, smi, h100):
    """Names and their synonyms; the look-alike may know more, of other drivers."""
    listed = re.compile(r'^"[^"]+"(?: or "[^"]+")*$', re.MULTILINE)

    def names(text: str) -> list[list[str]]:
        found = (re.findall(r'"([^"]+)"', line) for line in listed.findall(text))
        return [list(dict.fromkeys(each)) for each in found]

    real = names(h100["capabilities", f"help-{kind}"])
    fake = names(smi(f"--help-{kind}").out)
    assert [each for each in fake if each in real] == real


NOT_TOLD_IN_THE_REPORT = {
    "Addressing Mode",
    "GPU PDI",
    "GPU Part Number",
    "Virtualization Mode",
    "Atomic Caps Outbound",
    "Sparse Operation Mode",
    "Channel Repair Pending",
    "TPC Repair Pending",
    "Unrepairable Memory",
    "GPU Memory Power Readings/Average Power Draw",
    "EDPp Multiplier",
}
"""What the fake's NVML does not tell; and the real machine was a virtual one, this is none."""


def labels_and_values(text: str) -> list[tuple[str, str]]:
    """Each line's label, with its indentation, and its value ("" for a heading)."""
    pairs = []
    for line in text.splitlines():
        label, colon, value = line.partition(" : ") if " : " in line else (line, "", "")
        label = re.sub(r"GPU [0-9A-F]{8}:.*", "GPU", label)
        pairs.append((label.rstrip() if colon else label, value))
    return pairs


def one_process(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The report with the first of its processes alone."""
    labels = [label for label, _ in pairs]
    if "    Processes" not in labels:
        return pairs
    start, end = labels.index("    Processes") + 1, labels.index("    Capabilities")
    return pairs[: start + 6] + pairs[end:]


@pytest.mark.parametrize("state", STATES)
def test_the_report_has_the_real_labels_in_their_order(state, on_h100, h100):
    """Every line and heading, at its place and depth; a GPU without processes says None."""
    said = on_h100(idle=state == "idle")("-q")
    real = one_process(labels_and_values(h100[state, "query (-q)"]))
    fake = one_process(labels_and_values(said.out))
    assert [label for label, _ in fake] == [label for label, _ in real]
    heading, differing = "", set()
    for (label, ours), (_, theirs) in zip(fake, real, strict=True):
        heading = heading if theirs else label.strip()
        if shape(ours) != shape(theirs) and label.strip() not in ("Timestamp", "Name"):
            memory_power = heading == "GPU Memory Power Readings"
            differing.add(f"{heading}/{label.strip()}" if memory_power else label.strip())
    assert differing <= NOT_TOLD_IN_THE_REPORT


@pytest.mark.parametrize("state", STATES)
def test_the_table_has_the_real_columns(state, on_h100, h100):
    """Line by line the same but for digits, down to the first process."""
    said = on_h100(idle=state == "idle")()
    theirs = h100[state, "nvidia-smi (default table)"].splitlines()[1:]
    ours = said.lines[1:]
    assert {len(line) for line in ours if line} == {len(line) for line in theirs if line} == {91}
    upto = next(at for at, line in enumerate(theirs) if "|====" in line and at > 10)
    squeezed = [re.sub(r"[ 0-9A-F]+", " ", line) for line in ours[: upto + 1]]
    assert squeezed == [re.sub(r"[ 0-9A-F]+", " ", line) for line in theirs[: upto + 1]]
    column = theirs[upto - 2].index("GPU Memory")
    if state == "load":
        assert ours[upto + 1].index("MiB |") == theirs[upto + 1].index("MiB |")
        assert ours[upto + 1][column:].strip(" |") == "61440MiB"
    else:
        assert ours[upto + 1 :] == theirs[upto + 1 :]


def test_lists_and_versions_have_the_real_form(on_h100, h100):
    """``-L`` and ``--version``."""
    smi = on_h100(idle=True)
    assert shape(smi("-L").out) == shape(h100["capabilities", "list (-L)"])
    assert smi("--version").out == h100["capabilities", "version"]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("section", "query", "values"),
    [
        (
            "query-compute-apps (per-process)",
            "--query-compute-apps=timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,"
            "process_name,used_gpu_memory",
            8,
        ),
        (
            "query-accounted-apps",
            "--query-accounted-apps=timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,"
            "gpu_util,mem_util,max_memory_usage,time",
            0,
        ),
        (
            "query-retired-pages",
            "--query-retired-pages=timestamp,gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,"
            "retired_pages.address,retired_pages.timestamp,retired_pages.cause",
            8,
        ),
    ],
)
def test_queries_about_what_is_on_a_gpu_have_the_real_form(
    state, section, query, values, on_h100, h100
):
    """Headings to the letter; lines of as many values, in the real ones' form."""
    fake = on_h100(idle=state == "idle")(query, "--format=csv").lines
    real = h100[state, section].splitlines()
    assert fake[0] == real[0]
    assert bool(fake[1:]) == bool(real[1:])
    program = real[0].split(", ").index("process_name") if "process_name" in real[0] else None

    def form(line: str) -> list[str]:
        parts = line.split(", ")
        return [shape(part) for at, part in enumerate(parts) if at != program]

    for line in fake[1:]:
        assert len(line.split(", ")) == values
        assert form(line) in [form(each) for each in real[1:]]
