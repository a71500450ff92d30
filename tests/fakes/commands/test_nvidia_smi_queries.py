"""nvidia-smi's selective queries: columns, units, synonyms, and what stands for a missing value."""

from __future__ import annotations

import pytest

from fakes.hardware.ecc import MemoryErrors, RemappedRows


def test_the_heading_is_the_first_name_with_its_unit(smi):
    """Whatever synonym was asked for."""
    said = smi("--query-gpu=gpu_bus_id,clocks_throttle_reasons.active,clocks.sm", "--format=csv")
    assert said.lines[0] == "pci.bus_id, clocks_event_reasons.active, clocks.current.sm [MHz]"


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("csv", ["index, memory.total [MiB]", "0, 81559 MiB", "1, 81559 MiB"]),
        ("csv,noheader", ["0, 81559 MiB", "1, 81559 MiB"]),
        ("csv,nounits", ["index, memory.total [MiB]", "0, 81559", "1, 81559"]),
        ("noheader,nounits,csv", ["0, 81559", "1, 81559"]),
    ],
)
def test_headings_and_units_can_be_left_out(form, lines, smi):
    """The heading keeps its unit even where values have none."""
    assert smi("--query-gpu=index,memory.total", f"--format={form}").lines == lines


def test_values_may_follow_their_options_as_words(smi):
    """``--query-gpu index`` is ``--query-gpu=index``; blanks after commas do no harm."""
    said = smi("--query-gpu", "index, name", "--format", "csv,noheader", "-i", "1")
    assert said.lines == ["1, NVIDIA H100 80GB HBM3"]


def test_readings_are_those_of_other_nvml_clients(smi):
    """The same call to NVML at the same moment, in other words."""
    power, temperature, used, busy = smi.csv(
        "--query-gpu=power.draw,temperature.gpu,memory.used,utilization.gpu", "-i", "0"
    )[0]
    nvml, handle = smi.rig.nvml, smi.rig.handle()
    nvml.nvmlInit()
    assert power == f"{nvml.nvmlDeviceGetPowerUsage(handle) / 1000:.2f} W"
    assert temperature == str(nvml.nvmlDeviceGetTemperature(handle, 0))
    assert used == "61440 MiB"
    assert busy == f"{nvml.nvmlDeviceGetUtilizationRates(handle).gpu} %"


def test_a_part_of_a_mebibyte_counts_as_one(smi):
    """61440 MiB and one byte are 61441."""
    pid = smi.rig.node.processes_on(smi.rig.node.gpus[0])[0].pid
    smi.rig.node.gpus[0].hold(pid, (60 << 30) + 1, 1)
    assert smi.csv("--query-gpu=memory.used")[0] == ["61441 MiB"]


def test_errors_and_remapped_rows_show_in_every_query(smi):
    """Counts by kind and time span; what waits is 1 in the rows' own query, Yes in the GPUs'."""
    gpu = smi.rig.node.gpus[1]
    gpu.memory_errors = MemoryErrors(5, 2, 50, 20)
    gpu.remapped_rows = RemappedRows(3, 1, pending=True)
    counts = "ecc.errors.{}.{}.dram"
    names = [
        counts.format(k, s) for k in ("corrected", "uncorrected") for s in ("volatile", "aggregate")
    ]
    assert smi.csv(f"--query-gpu={','.join(names)}")[1] == ["5", "50", "2", "20"]
    rows = "remapped_rows.pending,remapped_rows.failure,remapped_rows.uncorrectable,gpu_bus_id"
    expected = ["1", "0", "1", "00000000:43:00.0"]
    assert smi.csv(f"--query-remapped-rows={rows}")[1] == expected
    assert smi.csv("--query-gpu=remapped_rows.pending,remapped_rows.failure")[1] == ["Yes", "No"]


def test_a_gpu_that_waits_for_its_reset_says_so_in_its_cells(smi):
    """What the driver knows by itself is still told, and what it advises."""
    smi.rig.node.gpus[0].reset_required = True
    asked = "--query-gpu=uuid,persistence_mode,temperature.gpu,fan.speed,gpu_recovery_action"
    sick, well = smi.csv(asked)
    assert sick[1:3] == ["Enabled", "[GPU requires reset]"]
    assert sick[4] == "Reset"
    assert well[2].isdecimal()
    assert well[3:] == ["[N/A]", "None"]


def test_processes_are_listed_with_their_programs(smi):
    """A line each; none of an idle GPU."""
    first, second = (gpu.uses for gpu in smi.rig.node.gpus)
    asked = "--query-compute-apps=pid,process_name,used_memory,gpu_uuid"
    lines = smi.csv(asked)
    assert lines[0][:3] == [str(*first), "python3", "61440 MiB"]
    smi.rig.node.end_process(*first, 1)
    assert [line[0] for line in smi.csv(asked)] == [str(*second)]
    assert smi.csv(asked, "-i", "0") == []


def test_supported_clocks_begin_with_the_highest(smi):
    """Scripts take the first line for the maximum."""
    assert smi.csv("--query-supported-clocks=memory,graphics", "-i", "0")[0] == [
        "2619 MHz",
        "1980 MHz",
    ]


def test_an_unknown_property_is_refused_in_the_real_words(smi):
    """On stdout, followed by an empty line; status 2; nothing else is printed."""
    said = smi("--query-gpu=index,device_minor", "--format=csv")
    assert said.out == 'Field "device_minor" is not a valid field to query.\n\n'
    assert said.status == 2


def test_an_older_binding_lacks_functions_and_the_cells_say_na(smi):
    """Whatever nvidia-ml-py is installed: what it cannot ask is not available."""
    from types import SimpleNamespace

    old = {k: v for k, v in vars(smi.rig.nvml).items() if "Fabric" not in k and "Sram" not in k}
    said = smi(
        "--query-gpu=name,fabric.state,ecc.errors.uncorrected.volatile.sram.parity",
        "--format=csv,noheader",
        nvml=SimpleNamespace(**old),
    )
    assert said.lines[0] == "NVIDIA H100 80GB HBM3, N/A, [N/A]"


def test_what_memory_has_been_through_is_told_before_the_reset(smi):
    """A check that asks a GPU in need of its reset finds the errors and the row that waits."""
    gpu = smi.rig.node.gpus[0]
    gpu.memory_errors = MemoryErrors(0, 1, 0, 1)
    gpu.remapped_rows = RemappedRows(0, 1, pending=True)
    gpu.reset_required = True
    asked = "ecc.errors.uncorrected.volatile.dram,ecc.errors.uncorrected.aggregate.total"
    assert smi.csv(f"--query-gpu={asked},temperature.gpu")[0] == ["1", "1", "[GPU requires reset]"]
    rows = "remapped_rows.pending,remapped_rows.failure,remapped_rows.uncorrectable"
    assert smi.csv(f"--query-remapped-rows={rows}")[0] == ["1", "0", "1"]
