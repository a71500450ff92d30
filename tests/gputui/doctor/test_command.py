"""``gputui doctor`` as people and programs run it."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from gputui.doctor.check import Check, critical, good, unchecked, warning
from gputui.doctor.examination import Examined
from gputui.doctor.hostlist import expanded
from gputui.doctor.reports import npd, slurm

GPUTUI = (sys.executable, "-m", "gputui")
GPUCHAOS = (sys.executable, "-m", "chaos")
CHECK = Check("ecc", "", lambda _: ())


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("model", ["h100-sxm", "a100-sxm", "l4"])
def test_a_healthy_node_is_good(model):
    """On a fake node every check is good or does not apply, whatever this machine is like."""
    done = run(
        *GPUCHAOS, "node", model, "--name", f"doctor-{model}-{os.getpid()}", "--",
        *GPUTUI, "doctor", "--json",
    )  # fmt: skip
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    if "contained by namespaces" not in done.stderr:
        pytest.skip("without namespaces its system is this machine's")
    poor = [one for one in told["results"] if one["level"] not in ("good", "skipped")]
    assert poor == []
    judged = {one["check"] for one in told["results"] if one["level"] == "good"}
    assert judged >= {"driver", "gpus", "ecc", "pcie", "limits", "clock", "incidents"}
    assert told["exit_code"] == done.returncode == 0


def test_a_node_whose_library_was_replaced_is_judged_by_what_can_be_asked():
    """Of its GPUs nothing is known; nowhere is it said that they have no NVLink or ECC."""
    name = f"doctor-mismatch-{os.getpid()}"
    script = (
        f"{shlex.join(GPUCHAOS)} inject driver node=n0 mismatch=580.65.06 >/dev/null; "
        f"{shlex.join(GPUTUI)} doctor --json"
    )
    done = run(*GPUCHAOS, "node", "h100-sxm", "--name", name, "--", "sh", "-c", script)
    assert done.stdout, done.stderr
    told = {one["check"]: one for one in json.loads(done.stdout)["results"]}
    assert done.returncode == 2
    assert "DriverMismatch" in told["incidents"]["text"]
    for check in ("ecc", "remap", "pcie", "nvlink", "persistence", "gpus", "power"):
        assert "unknown: NVML cannot be asked" in told[check]["text"]


def test_without_a_driver_it_could_not_check():
    """Exit code 3, and one sentence instead of a traceback."""
    done = run(*GPUTUI, "doctor", "--only", "driver", "--json")
    (found,) = json.loads(done.stdout)["results"]
    assert found["level"] in ("unchecked", "good")
    assert done.returncode in (0, 3)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--only", "nonsense"),
        ("--supply", "5"),
        ("--nodes", "n[0-"),
        ("--nodes", "n[0-99999999]"),
        ("--json", "--npd"),
        ("--what",),
    ],
)
def test_bad_usage_is_one_line(arguments):
    """With exit code 64."""
    done = run(*GPUTUI, "doctor", *arguments)
    assert done.returncode == 64
    assert done.stderr.count("\n") == 1


def test_slurm_is_told_the_command_that_drains():
    """Nothing while nothing is critical; then a command whose words a shell keeps together."""
    fine = (Examined(CHECK, warning("meh", fix="x")),)
    assert slurm.write(fine, "n0.cluster") == ""
    bad = (*fine, Examined(CHECK, critical("it's broken; rm -rf /", fix="x")))
    command = slurm.write(bad, "n0.cluster")
    assert command.startswith("scontrol update nodename=n0 state=drain ")
    shown = run("sh", "-c", f'scontrol() {{ printf \'%s\\n\' "$#" "$4"; }}; {command}')
    assert shown.stdout == "4\nreason=gputui: ecc: it's broken; rm -rf /\n"


def test_the_node_problem_detector_gets_one_short_line():
    """0 for good and for warnings, 1 for what is critical, 2 where nothing is known."""
    for result, status in (
        (good("a"), 0),
        (warning("b" * 99, fix=""), 0),
        (unchecked("c", fix="x"), 2),
    ):
        assert npd.status((Examined(CHECK, result),)) == status
    bad = (Examined(CHECK, critical("d" * 200, fix="")),)
    assert npd.status(bad) == 1
    assert len(npd.write(bad, "n0")) <= 81


def test_lists_of_nodes_are_slurms():
    """Ranges keep the width of their numbers."""
    assert expanded("n[8-10],x[01,03]y[1-2]", most=99) == (
        "n8", "n9", "n10", "x01y1", "x01y2", "x03y1", "x03y2",
    )  # fmt: skip
    for wrong in ("", "a,,b", "n[1", "n]1[", "n[a-b]", "n[1-1000]"):
        with pytest.raises(ValueError, match=r"nodes|numbers"):
            expanded(wrong, most=99)
