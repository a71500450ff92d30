"""The house: what a stranger adds is one new file, and nobody learns what they need not know."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("gputui", "fakes", "chaos")

FAULT = '''
"""Cold air: the room is cooler than it should be."""
from dataclasses import dataclass
from typing import ClassVar
from chaos.fault import fault
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World

@fault("draught", by="gpu")
@dataclass(frozen=True, slots=True)
class Draught:
    """Cool the air over a GPU."""
    gpu: Gpus
    does_not_prove: ClassVar[str] = "that anybody opened a window"

    def apply(self, world: World, undo: Undo) -> None:
        for gpu in self.gpu.resolve(world):
            undo.push(lambda gpu=gpu: gpu.set_air(38.7, world.now_us))
            gpu.set_air(10.0, world.now_us)
'''

RULE = '''
"""A rule of a stranger's."""
from gputui.incidents.rule import INFO, Finding, Subject, rule, samples
from gputui.model import Action

@rule(kind="GpuIsThere", severity=INFO, holds=samples(1), clears=samples(1))
def gpu_is_there(now, past):
    """A GPU is there."""
    for gpu in now.gpus:
        yield Finding(Subject.of_gpu(gpu), cause="unknown", cause_text="it is there",
                      action=Action.IGNORE, action_text="be glad", evidence="seen")
'''

ANSWER = '''
"""An answer of a stranger's."""
from fakes.nvml.answer import answers
from fakes.nvml.values import uint32

@answers("nvmlDeviceGetIrqNum")
def irq_num(gpu, at_us):
    """The interrupt's number."""
    return uint32(4242)
'''


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the three packages, to add files to."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package,
            tmp_path / package,
            ignore=shutil.ignore_patterns("__pycache__", "*.so"),
        )
    return tmp_path


def run(house: Path, code: str) -> str:
    """Run Python code in a house; what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_fault_is_one_new_file(house: Path) -> None:
    """Dropped into chaos/faults/, it is listed and can be built from words."""
    (house / "chaos/faults/draught.py").write_text(FAULT)
    code = "from chaos.fault import parse_fault; print(parse_fault('draught', {'gpu': 'n0/3'}))"
    assert "Draught" in run(house, code)


def test_a_new_rule_is_one_new_file(house: Path) -> None:
    """Dropped into gputui/incidents/rules/, it opens incidents."""
    (house / "gputui/incidents/rules/gpu_is_there.py").write_text(RULE)
    code = """
from gputui.incidents.engine import Engine
from gputui.model import GpuSample, NodeSample
from gputui.incidents.rules import all_rules
engine = Engine(all_rules(), interval_s=1.0)
engine.sample(NodeSample("n0", 1.0, gpu_count=1, gpus=(GpuSample(0, uuid="GPU-1"),)))
print([incident.kind for incident in engine.incidents])
"""
    assert "GpuIsThere" in run(house, code)


def test_a_new_answer_is_one_new_file(house: Path) -> None:
    """Dropped into fakes/nvml/answers/, it is what NVML says."""
    (house / "fakes/nvml/answers/interrupts.py").write_text(ANSWER)
    code = """
from fakes.node import Node
from fakes.nvml.answer import Call, answer
from fakes.profile import load_profile
node = Node("n0", load_profile("h100-sxm"), 1)
print(answer(node, Call("nvmlDeviceGetIrqNum", 0), 0).outputs)
"""
    assert str((4242).to_bytes(4, "little")) in run(house, code)


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def test_no_module_starts_another_package_by_name() -> None:
    """Import contracts do not see ``python -m``: only the demo may start chaos that way."""
    named = {
        (path.relative_to(ROOT).as_posix(), after.value.split(".")[0])
        for package in PACKAGES
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.List | ast.Tuple)
        for word, after in zip(node.elts, node.elts[1:], strict=False)
        if isinstance(word, ast.Constant)
        and word.value == "-m"
        and isinstance(after, ast.Constant)
        and isinstance(after.value, str)
        and not after.value.startswith("-")
    }
    upward = {(path, other) for path, other in named if not path.startswith(("chaos/", other))}
    assert upward == {("gputui/demo.py", "chaos")}
