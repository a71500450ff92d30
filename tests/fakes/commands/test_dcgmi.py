"""DCGM's commands: what a sick GPU fails, what a healthy one passes, and what is remembered."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, commands
from fakes.driver.disturbance import Refusal, disturb
from fakes.hardware.gpu import Lost
from fakes.nvml.codes import TEXTS, Code


@pytest.fixture
def idle(make_shell):
    """Four GPUs that nobody uses."""
    return make_shell(gpus=4, idle=True)


def test_gpus_and_switches_are_discovered(idle):
    """Number, name, address and UUID of each."""
    said = idle("dcgmi", "discovery", "-l")
    assert said.lines[0] == "4 GPUs found."
    assert "|        | PCI Bus ID: 00000000:43:00.0" in said.out
    assert "4 NvSwitches found." in said.lines
    assert len({len(line) for line in said.lines[1:18]}) == 1


@pytest.mark.parametrize("level", ["1", "2", "3", "4"])
def test_a_healthy_node_passes_every_level(level, idle):
    """No word of failure or error anywhere; status 0."""
    said = idle("dcgmi", "diag", "-r", level)
    assert said.status == 0
    assert said.lines[0] == "Successfully ran diagnostic for group."
    assert not {"fail", "error"} & set(said.out.lower().replace(":", " ").split())
    assert ("| PCIe                      | Pass - All" in said.out) == (level != "1")
    assert len({len(line) for line in said.lines[1:]}) == 1


def failing(gpu, how):
    if how == "rows":
        gpu.remapped_rows.pending = True
    elif how == "no spare rows":
        gpu.remapped_rows.failed = True
    elif how == "width":
        gpu.set_pcie(8, None, 0)
    elif how == "link":
        gpu.nvlinks[3].up = False
    elif how == "ecc":
        gpu.memory_errors = replace(gpu.memory_errors, volatile_uncorrected=1)
    elif how == "heat":
        gpu.set_airflow(0.1, 0)
    elif how == "persistence":
        gpu.persistence = False
    else:
        gpu.lost = Lost(0)


@pytest.mark.parametrize(
    ("how", "level", "test", "word", "status"),
    [
        ("rows", "1", "Page Retirement/Row Remap", "row remapping is pending", 226),
        ("no spare rows", "1", "Page Retirement/Row Remap", "row remapping failed", 205),
        ("persistence", "1", "Persistence Mode", "currently disabled", 226),
        ("lost", "1", "NVML Library", "is lost", 205),
        ("width", "2", "PCIe", "link width 8X", 226),
        ("link", "2", "PCIe", "NvLink link 3 is currently down", 226),
        ("ecc", "2", "GPU Memory", "double-bit ECC", 205),
        ("heat", "3", "Diagnostic", "thermal violations", 226),
    ],
)
def test_what_is_wrong_fails_the_test_that_finds_it(how, level, test, word, status, idle):
    """In a row with the GPU and one with the reason; the lower level does not look."""
    failing(idle.node.gpus[2], how)
    said = idle("dcgmi", "diag", "-r", level, "-j")
    document = json.loads(said.out)["DCGM GPU Diagnostic"]
    tests = {each["name"]: each for c in document["test_categories"] for each in c["tests"]}
    failed = [each for each in tests[test]["results"] if each["status"] == "Fail"]
    assert len(failed) == 1
    assert word in failed[0]["warnings"][0]["warning"]
    assert failed[0].get("gpu_id", "2") == "2"
    assert said.status == status
    table = idle("dcgmi", "diag", "-r", level)
    fails = [line for line in table.lines if "Fail" in line]
    assert fails[0].startswith(f"| {test} ")
    assert level == "1" or "Fail - GPU: 2" in fails[0]
    if level != "1":
        assert idle("dcgmi", "diag", "-r", str(int(level) - 1)).status == 0


def test_the_other_gpus_pass(idle):
    """With -i or a group that leaves the sick one out."""
    failing(idle.node.gpus[2], "ecc")
    assert idle("dcgmi", "diag", "-r", "2", "-i", "0,1,3").status == 0
    made = idle("dcgmi", "group", "-c", "healthy", "-a", "0,1,3").out.split()
    assert idle("dcgmi", "diag", "-r", "2", "-g", made[-1]).status == 0
    assert idle("dcgmi", "diag", "-r", "2").status == 205


def test_fail_early_leaves_out_what_comes_after(idle):
    """Those are skipped."""
    failing(idle.node.gpus[0], "width")
    lines = idle("dcgmi", "diag", "-r", "3", "--fail-early").lines
    assert any("GPU Memory" in line and "Skip" in line for line in lines)


def test_the_test_of_memory_is_skipped_where_a_job_has_it(make_shell):
    """On a healthy GPU that a job fills: it says why; the link is tested all the same; status 0."""
    shell = make_shell(gpus=2)
    said = shell("dcgmi", "diag", "-r", "2")
    assert any("| GPU Memory " in line and "Skip - All" in line for line in said.lines)
    assert any("| PCIe " in line and "Pass - All" in line for line in said.lines)
    assert "Couldn't allocate at least 75.0% of GPU memory" in said.out
    assert said.status == 0
    failing(shell.node.gpus[1], "ecc")
    said = shell("dcgmi", "diag", "-r", "2")
    assert any("| GPU Memory " in line and "Fail - GPU: 1" in line for line in said.lines)
    assert said.status == 205


@pytest.mark.parametrize(("code", "level"), [(18, "1"), (18, "2"), (4, "1")])
def test_a_diagnostic_that_cannot_begin_fails(code, level, idle):
    """Its program begins anew with NVML; the host engine goes on with the library that it has."""
    disturb(idle.node, Refusal(code))
    said = idle("dcgmi", "diag", "-r", level)
    assert f"Failed to initialize NVML: {TEXTS[Code(code)]}" in said.out
    assert "Successfully ran" not in said.out
    assert said.status == 226
    assert idle("dcgmi", "discovery", "-l").status == 0


@pytest.mark.parametrize(("level", "seconds"), [("1", 10), ("2", 120), ("3", 1200)])
def test_a_diagnostic_takes_its_time(level, seconds):
    """On the run's clock."""
    dcgmi = commands()["dcgmi"]
    assert dcgmi.latency_us(["diag", "-j", "-r", level]) == seconds * 1_000_000
    assert dcgmi.latency_us(["discovery", "-l"]) < 1_000_000


def test_a_test_that_there_is_not_is_refused(idle):
    """Exit status 255, for DCGM_ST_BADPARAM."""
    said = idle("dcgmi", "diag", "-r", "7")
    assert "was not found among possible test choices" in said.out
    assert said.status == 255


def test_groups_are_remembered(idle):
    """The number stands last; numbers begin at 2."""
    said = idle("dcgmi", "group", "-c", "gpus", "--default")
    assert said.out.split()[-1] == "2"
    assert idle("dcgmi", "group", "-g", "2", "-r", "3").status == 0
    assert "GPU 0, GPU 1, GPU 2 " in idle("dcgmi", "group", "-l").out
    assert idle("dcgmi", "group", "-d", "2").status == 0
    assert idle("dcgmi", "group", "-d", "2").status == 251


def test_health_wants_to_be_watched_first(idle):
    """Then it says Healthy, or which GPU is not and why."""
    said = idle("dcgmi", "health", "-c")
    assert said.out == "Error: Health watches not enabled. Please enable watches. \n"
    assert said.status == 253
    assert idle("dcgmi", "health", "-s", "a").out == ("Health monitor systems set successfully.\n")
    assert "| Overall Health            | Healthy" in idle("dcgmi", "health", "-c").out
    failing(idle.node.gpus[1], "lost")
    body = json.loads(idle("dcgmi", "health", "-c", "-j").out)["body"]
    assert body["Overall Health"]["value"] == "Failure"
    assert list(body["GPU"]["children"]) == ["1"]


def test_links_are_letters(idle):
    """U for up, D for down; errors are counted link by link."""
    idle.node.gpus[0].nvlinks[1].up = False
    idle.node.gpus[0].nvlinks[2].crc = 9
    lines = idle("dcgmi", "nvlink", "-s").lines
    assert lines[lines.index("    gpuId 0:") + 1] == "        U D " + " ".join("U" * 16)
    body = json.loads(idle("dcgmi", "nvlink", "-e", "-g", "0", "-j").out)["body"]
    assert body["Link 2"]["children"]["CRC Data Error"]["value"] == "9"


def test_fields_are_printed_in_columns(make_shell):
    """A line for each GPU; a field that is not known makes the call not understood."""
    shell = make_shell(gpus=2)
    said = shell("dcgmi", "dmon", "-e", "150,155,203,1002", "-c", "1")
    assert said.lines[0].split() == ["#Entity", "TMPTR", "POWER", "GPUTL", "SMACT"]
    assert said.lines[2].split()[:3] == ["GPU", "0", "59"]
    assert len(said.lines) == 4
    assert shell("dcgmi", "dmon", "-e", "99999", "-c", "1").status == 125


def test_jobs_are_recorded(idle):
    """From a start to a stop; a job that nobody started has no data."""
    assert idle("dcgmi", "stats", "-g", "0", "--enable").status == 0
    assert idle("dcgmi", "stats", "-s", "77").status == 0
    idle.world.advance(idle.world.now_us + 60_000_000)
    assert idle("dcgmi", "stats", "-x", "77").status == 0
    assert "| Total Execution Time (sec)           | 60.00 " in (
        idle("dcgmi", "stats", "-v", "-j", "77").out
    )
    assert idle("dcgmi", "stats", "-v", "-j", "78").status == 242


def test_without_its_host_engine_nothing_works(idle):
    """nv-hostengine -t ends it, groups and all, and nv-hostengine starts it again."""
    idle("dcgmi", "group", "-c", "mine")
    assert idle("nv-hostengine", "-t").out == "Host engine successfully terminated.\n"
    for argv in (("discovery", "-l"), ("diag", "-r", "1"), ("health", "-c")):
        said = idle("dcgmi", *argv)
        assert "unable to establish a connection to the specified host: localhost" in said.out
        assert said.status == 235
    assert idle("nv-hostengine", "-t").status == 1
    assert "Started host engine version 3.3.8" in idle("nv-hostengine").out
    assert "already running with pid" in idle("nv-hostengine").out
    assert "2 groups found." in idle("dcgmi", "group", "-l").out


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_its_version_is_a_line(flag, idle):
    """``version: 3.3.8``, whether or not the host engine runs."""
    idle("nv-hostengine", "-t")
    said = idle("dcgmi", flag)
    assert any(line.endswith("version: 3.3.8") for line in said.lines)
    assert said.status == 0


@pytest.mark.parametrize("argv", [("policy", "--get"), ("diag", "-r", "1", "-t")])
def test_what_only_the_real_dcgmi_can_is_not_taken_for_done(argv, idle):
    """Status 125, and its name."""
    said = idle("dcgmi", *argv)
    assert said.status == 125
    assert "is not imitated" in said.err


def test_a_profiler_can_have_the_counters(shell):
    """What scripts do before and after a profiler runs."""
    assert shell("dcgmi", "profile", "--pause").out == "Successfully paused profiling.\n"
    assert shell("dcgmi", "profile", "--resume").out == "Successfully resumed profiling.\n"
    assert shell("dcgmi", "profile", "-l").status == NOT_UNDERSTOOD


def test_modules_are_loaded_when_they_are_needed(shell):
    """Health's with the first watch."""
    said = shell("dcgmi", "modules", "-l")
    assert len({len(line) for line in said.lines}) == 1
    state = {words[3]: " ".join(words[5:-1]) for words in map(str.split, said.lines[6:-1])}
    assert (state["NvSwitch"], state["Health"]) == ("Loaded", "Not loaded")
    shell("dcgmi", "health", "-s", "a")
    rows = (line.split() for line in shell("dcgmi", "modules", "-l").lines)
    assert ["|", "4", "|", "Health", "|", "Loaded", "|"] in list(rows)


def test_all_gpus_and_all_switches_are_groups_that_nobody_can_change(idle):
    """They are listed first; a script that takes the new group to be number 1 is refused."""
    lines = idle("dcgmi", "group", "-l").lines
    assert any("DCGM_ALL_SUPPORTED_GPUS" in line for line in lines)
    assert any("DCGM_ALL_SUPPORTED_NVSWITCHES" in line for line in lines)
    assert "DCGM_ALL_SUPPORTED_GPUS" in idle("dcgmi", "group", "-g", "0", "-i").out
    assert idle("dcgmi", "group", "-c", "mine").out.endswith(" 2\n")
    assert idle("dcgmi", "group", "-g", "1", "-a", "0,1").status != 0
