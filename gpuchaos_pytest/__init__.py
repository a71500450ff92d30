"""The plug-in for pytest: scenario files collect as tests, and ``gpu_node`` is a fake node.

A package of its own, under a name that no repository has: whatever else is ours runs in processes
of its own, so that ``fakes`` and ``chaos`` stay the names of whoever tests. It imports pytest and
nothing more until a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gpuchaos_pytest.node import GpuNode

_MARKER = (
    "gpu_node(model='h100-sxm', gpus=8, nodes=1, idle=False, scheduler='slurm', seed=0): "
    "what the fixture gpu_node is"
)
_SUFFIXES = (".yaml", ".yml")
_NODE = pytest.StashKey["GpuNode"]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A scenario that expects something is a test; any other YAML is left alone."""
    if file_path.suffix not in _SUFFIXES:
        return None
    from gpuchaos_pytest.scenarios import ScenarioFile, is_test

    return ScenarioFile.from_parent(parent, path=file_path) if is_test(file_path) else None


@pytest.fixture
def gpu_node(request: pytest.FixtureRequest) -> Iterator[GpuNode]:
    """A fake node in virtual time; ``@pytest.mark.gpu_node(model="a100-sxm", gpus=4)`` says which.

    Faults are injected by hand, programs run on it by its clock, and what they did can be asked.
    """
    from gpuchaos_pytest.node import GpuNode

    marker = request.node.get_closest_marker("gpu_node")
    if marker is not None and marker.args:
        raise pytest.UsageError("gpu_node takes names: @pytest.mark.gpu_node(gpus=4)")
    with GpuNode(**(marker.kwargs if marker else {})) as node:
        request.node.stash[_NODE] = node
        yield node


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A test that fails shows what happened on its fake node."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    node = item.stash.get(_NODE, None)
    if node is not None and call.when == "call" and report.failed:
        report.sections.append(("what happened on the fake node", node.told()))
    return report  # type: ignore[return-value]
