"""The plug-in for pytest, in repositories of other people."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCENARIO = """\
scenario: {name}
why: A burst of Xids is one incident.
seed: 7
timeline:
  - {{at: 5s, xid: {{gpu: n0/3, code: 13, times: 3, every: 1s}}}}
expect:
  - {{incident: {kind}, gpu: n0/3, within: 10s, times: 1}}
"""

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with a conftest of its own."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "conftest.py").write_text("THEIRS = True\n", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


@pytest.fixture
def run_pytest(repository: Path) -> Pytest:
    """Run pytest there, with the plug-in as it is installed."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        known = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        plain = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "gpuchaos_pytest", "-q", *words],
            cwd=repository,
            env={**plain, "PYTHONPATH": known, "NO_COLOR": "1", "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def _write(folder: Path, name: str, kind: str = "GpuXid") -> None:
    folder.mkdir(exist_ok=True)
    text = SCENARIO.format(name=name, kind=kind)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_scenarios_are_tests_and_other_yaml_is_left_alone(repository, run_pytest):
    """A failing one shows its report: what was expected, deadline, lines, and the command."""
    scenarios = repository / "scenarios"
    _write(scenarios, "burst")
    _write(scenarios, "lost", "GpuLost")
    (scenarios / "compose.yaml").write_text("services:\n  scenario: x\nexpect: y\n")
    (scenarios / "broken.yaml").write_text("{{ not yaml\n")
    (scenarios / "bare.yaml").write_text("scenario: bare\nwhy: Only to look at.\n")
    done = run_pytest("scenarios", "-n", "2")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "NOT MET {incident: GpuLost, gpu: n0/3, within: 10s, times: 1}" in done.stdout
    assert "did not open in" in done.stdout
    assert f"again: gpuchaos test {scenarios / 'lost.yaml'}" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_mistake_in_a_scenario_fails_at_its_place(repository, run_pytest):
    """FILE:LINE:COLUMN, as of the command."""
    (repository / "drill.yaml").write_text(
        "scenario: drill\nwhy: So.\nexpect:\n  - {incedent: GpuLost}\n"
    )
    done = run_pytest("drill.yaml")
    assert done.returncode == 1
    assert "drill.yaml:4:6: unknown expectation 'incedent'. Did you mean 'incident'?" in done.stdout


PLAYED = """\
import sys
import pytest
import fakes, chaos

def test_theirs():
    assert fakes.THEIRS and chaos.THEIRS

@pytest.mark.gpu_node(gpus=2, model="l4")
def test_ours(gpu_node):
    gpu_node.inject("xid", gpu=1, code=79)
    assert gpu_node.wait("GpuLost", within="10s")["gpu"] == 1
    done = gpu_node.run("./drain.sh", "1").check()
    assert "drained" in done.output
    assert [one["node"] for one in gpu_node.actions("drain")] == ["n0"]
    assert gpu_node.calls("scontrol update*")
    assert gpu_node.actions("reboot") == []
    assert 300 < gpu_node.now_s < 400
    assert fakes.THEIRS and not hasattr(sys.modules["chaos"], "__path__")
    with pytest.raises(AssertionError, match="ended with 3; it printed"):
        gpu_node.run("bash", "-c", "echo no; exit 3").check()

@pytest.mark.gpu_node(gpus=2, model="l4")
def test_that_fails(gpu_node):
    gpu_node.inject("thermal", gpu=0, airflow="20%")
    gpu_node.advance("1m")
    assert gpu_node.incidents("GpuLost")
"""


def test_a_node_is_played_by_hand_beside_packages_of_our_names(repository, run_pytest):
    """A repository may have its own ``fakes`` and ``chaos``; a failing test tells the journal."""
    tests = repository / "tests"
    (tests / "fakes").mkdir(parents=True)
    (tests / "fakes/__init__.py").write_text("THEIRS = True\n", encoding="utf-8")
    (tests / "chaos.py").write_text("THEIRS = True\n", encoding="utf-8")
    (tests / "test_played.py").write_text(PLAYED, encoding="utf-8")
    script = repository / "drain.sh"
    script.write_text(
        "#!/bin/sh -e\nscontrol update nodename=n0 state=drain reason=gpu$1\nsleep 300\n"
        "echo drained\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    repository.chmod(0o755)
    done = run_pytest("tests", "-n", "2")
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "what happened on the fake node" in done.stdout
    assert "GpuThermalThrottle" in done.stdout


WRONG = """\
import pytest

def test_wrong(gpu_node):
    with pytest.raises(Exception, match="unknown fault 'xidd'. Did you mean 'xid'"):
        gpu_node.inject("xidd", gpu=1)
    with pytest.raises(Exception, match="there is no GPU n0/9"):
        gpu_node.inject("xid", gpu=9, code=79)
    with pytest.raises(Exception, match="unknown kind of incident 'GpuLots'"):
        gpu_node.wait("GpuLots")
    with pytest.raises(Exception, match="there is no file"):
        gpu_node.run("./nowhere.sh")
    assert gpu_node.heal() == []
"""


def test_what_cannot_be_is_said_in_a_sentence(repository, run_pytest):
    """The node lives on after a mistake."""
    (repository / "test_wrong.py").write_text(WRONG, encoding="utf-8")
    done = run_pytest("test_wrong.py")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_it_imports_nothing_of_ours_where_it_is_not_used(repository, run_pytest):
    """Whoever has no scenario pays for one small module."""
    (repository / "test_plain.py").write_text(
        "import sys\n\ndef test_plain():\n"
        "    ours = {'chaos', 'fakes', 'gputui', 'ruamel', 'gpuchaos_pytest.node'}\n"
        "    assert not ours & set(sys.modules)\n",
        encoding="utf-8",
    )
    done = run_pytest("test_plain.py")
    assert "1 passed" in done.stdout, done.stdout + done.stderr
