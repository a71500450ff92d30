"""The generated table: complete, current, and of the right sizes."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fakes.nvml.function import Fit, Kind
from fakes.nvml.shim import generate, overlay
from fakes.nvml.shim.header import find_header
from fakes.nvml.shim.rules import functions
from fakes.nvml.table import BY_NAME, FUNCTIONS

pynvml = pytest.importorskip("pynvml")

DRIVER_535 = Path(__file__).parents[2] / "data" / "nvml_535_symbols.txt"


def header() -> Path:
    path = find_header()
    if path is None:
        pytest.skip("nvml.h is not here: install nvidia-nvml-dev to check the table against it")
    return path


@pytest.fixture(scope="module")
def exported(library: Path) -> set[str]:
    if not shutil.which("nm"):
        pytest.skip("nm is not here (binutils)")
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def test_the_table_is_what_the_header_gives(library: Path) -> None:
    """What is checked in is what the generator writes."""
    table = functions(header())
    assert table == FUNCTIONS
    assert generate.TABLE_PY.read_text() == generate.python_table(table)
    assert generate.TABLE_INC.read_text() == generate.c_table(table)


def test_every_prototype_of_the_header_is_exported(exported: set[str]) -> None:
    """Every function that nvml.h declares, counted from its text."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header().read_text(errors="replace"), flags=re.S)
    declared = set(re.findall(r"DECLDIR[\s\w*]*?\b(nvml\w+)\s*\(", text))
    assert len(declared) > 430
    assert declared <= exported


def test_every_symbol_of_driver_535_is_exported(exported: set[str]) -> None:
    """A program linked against an older driver's library finds every name."""
    older = set(DRIVER_535.read_text().split())
    assert len(older) == 332
    assert older <= exported


def test_nothing_but_nvml_is_exported(exported: set[str]) -> None:
    """The library's own names stay its own, but for the one that tests use."""
    foreign = {name for name in exported if not name.startswith("nvml")}
    assert foreign <= {"gputui_fake_generation", "_init", "_fini"}


def test_ids_are_positions() -> None:
    """A function's number on the wire is its place in the table."""
    assert [function.id for function in FUNCTIONS] == list(range(len(FUNCTIONS)))
    assert not overlay.BY_HAND & set(BY_NAME)


@pytest.mark.parametrize(
    ("function", "position", "structure"),
    [
        ("nvmlDeviceGetMemoryInfo", 1, "c_nvmlMemory_t"),
        ("nvmlDeviceGetMemoryInfo_v2", 1, "c_nvmlMemory_v2_t"),
        ("nvmlDeviceGetUtilizationRates", 1, "c_nvmlUtilization_t"),
        ("nvmlDeviceGetPciInfo_v3", 1, "nvmlPciInfo_t"),
        ("nvmlDeviceGetPciInfoExt", 1, "nvmlPciInfoExt_v1_t"),
        ("nvmlDeviceGetBAR1MemoryInfo", 1, "c_nvmlBAR1Memory_t"),
        ("nvmlDeviceGetComputeRunningProcesses_v3", 2, "c_nvmlProcessInfo_v3_t"),
        ("nvmlDeviceGetComputeRunningProcesses_v2", 2, "c_nvmlProcessInfo_v2_t"),
        ("nvmlDeviceGetRunningProcessDetailList", 1, "c_nvmlProcessDetailList_v1_t"),
        ("nvmlDeviceGetProcessUtilization", 1, "c_nvmlProcessUtilizationSample_t"),
        ("nvmlDeviceGetFieldValues", 2, "c_nvmlFieldValue_t"),
        ("nvmlDeviceGetSamples", 5, "c_nvmlSample_t"),
        ("nvmlEventSetWait_v2", 1, "c_nvmlEventData_t"),
        ("nvmlDeviceGetTemperatureV", 1, "c_nvmlTemperature_v1_t"),
        ("nvmlDeviceGetViolationStatus", 2, "c_nvmlViolationTime_t"),
        ("nvmlDeviceGetRowRemapperHistogram", 1, "c_nvmlRowRemapperHistogramValues"),
        ("nvmlDeviceGetSramEccErrorStatus", 1, "c_nvmlEccSramErrorStatus_v1_t"),
        ("nvmlDeviceGetPlatformInfo", 1, "c_nvmlPlatformInfo_v2_t"),
        ("nvmlDeviceGetAttributes_v2", 1, "c_nvmlDeviceAttributes"),
        ("nvmlSystemGetConfComputeSettings", 0, "c_nvmlSystemConfComputeSettings_v1_t"),
        ("nvmlGpmMetricsGet", 0, "c_nvmlGpmMetricsGet_t"),
    ],
)
def test_sizes_are_those_of_the_python_binding(
    function: str, position: int, structure: str
) -> None:
    """nvidia-ml-py, which was made from the header by other hands, has the same layouts."""
    known = getattr(pynvml, structure, None)
    if known is None:
        pytest.skip(f"this nvidia-ml-py has no {structure}")
    assert BY_NAME[function].params[position].size == ctypes.sizeof(known)


@pytest.mark.parametrize(
    ("function", "versions"),
    [
        ("nvmlDeviceGetMemoryInfo_v2", (0x2000028,)),
        ("nvmlDeviceGetTemperatureV", (0x100000C,)),
        ("nvmlDeviceGetGpuFabricInfoV", (0x2000024, 0x3000028)),
        ("nvmlDeviceGetPlatformInfo", (0x100002C, 0x200002C)),
        ("nvmlDeviceGetRunningProcessDetailList", (0x1000018,)),
        ("nvmlGpmQueryDeviceSupport", (1,)),
    ],
)
def test_versions_are_the_headers(function: str, versions: tuple[int, ...]) -> None:
    """The version words that the driver's own header defines (size and number in one)."""
    assert BY_NAME[function].params[-1].versions == versions


def test_the_oldest_names_have_the_oldest_layouts() -> None:
    """Unsuffixed process lists have records of 16 bytes, and PciInfo ends before ``busId``."""
    for kind in ("Compute", "Graphics", "MPSCompute"):
        sizes = [
            BY_NAME[f"nvmlDeviceGet{kind}RunningProcesses{suffix}"].params[2].size
            for suffix in ("", "_v2", "_v3")
        ]
        assert sizes == [16, 24, 24]
    assert [BY_NAME[f"nvmlDeviceGetPciInfo{v}"].params[1].size for v in ("", "_v2", "_v3")] == [
        32,
        36,
        68,
    ]


def test_every_buffer_has_its_size() -> None:
    """No output without a bound: each has a size, or a parameter that gives it, or is trusted."""
    for function in FUNCTIONS:
        for param in function.params:
            if param.kind in (Kind.LIST, Kind.ARRAY, Kind.EACH):
                partner = function.params[param.partner]
                assert param.partner >= 0 and param.size, function.name
                assert partner.kind in (Kind.COUNT, Kind.U32), function.name
            elif param.kind is Kind.TEXT_OUT:
                assert param.partner >= 0 or param.size, function.name
            elif param.kind is Kind.COUNT:
                assert any(other.partner >= 0 for other in function.params), function.name
            elif param.kind in (Kind.OUT, Kind.VERSIONED):
                assert param.size, function.name
            if param.fit is Fit.TRUST:
                assert "Instance" in function.name, function.name
