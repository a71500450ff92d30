"""What is installed, and whether the driver runs it."""

from dataclasses import replace

import pytest

from gputui.doctor.check import Level
from gputui.doctor.checks.versions import versions
from gputui.doctor.installed import installed
from gputui.doctor.site import Site
from gputui.model import GpuState, GpuStatus, Snapshot

PACKAGES = "venv/lib/python3.11/site-packages"


@pytest.fixture
def site(make, tree):
    """A node whose driver is of CUDA 12.4, and a virtual environment below the tree."""

    def build(driver="550.54.15", cuda="12.4"):
        sample = replace(make.node(1.0), driver=driver, cuda=cuda)
        statuses = tuple(GpuStatus(gpu.index, GpuState.OK, 0.0) for gpu in sample.gpus)
        environment = {"VIRTUAL_ENV": str(tree.root / "venv")}
        return Site(Snapshot(sample, statuses), root=tree.root, environment=environment)

    return build


def torch(tree, version, cuda):
    tree.write(
        {
            f"{PACKAGES}/torch/version.py": f"from typing import Optional\n"
            f"__version__ = '{version}'\ncuda: Optional[str] = {cuda!r}\nhip: None = None"
        }
    )


@pytest.mark.parametrize(
    ("version", "cuda", "level"),
    [
        ("2.6.0+cu124", "12.4", Level.GOOD),
        ("2.9.1+cu128", "12.8", Level.GOOD),
        ("2.1.2+cu118", "11.8", Level.GOOD),
        ("2.12.0+cu130", "13.0", Level.CRITICAL),
        ("2.12.0+cpu", None, Level.WARNING),
    ],
)
def test_torch_runs_where_the_drivers_cuda_is_of_its_major_number(site, tree, version, cuda, level):
    """A newer major number is critical; a build without CUDA leaves the GPUs alone."""
    torch(tree, version, cuda)
    (found,) = versions.look(site())
    assert found.level is level
    assert version in found.text
    assert found.level is Level.GOOD or found.fix


def test_a_driver_that_is_too_old_for_the_major_number_is_told(site, tree):
    """The least driver of CUDA 12 is of branch 525; the older one's CUDA is of another number."""
    torch(tree, "2.6.0+cu124", "12.4")
    (found,) = versions.look(site(driver="470.57.02", cuda="11.4"))
    assert found.level is Level.CRITICAL
    assert "525.60.13" in found.text


def test_the_toolkit_and_tensorflow_are_found(site, tree):
    """By the files that they bring."""
    info = "build_info = {'cuda_version': '12.5.1', 'cudnn_version': '9'}"
    tree.write(
        {
            "usr/local/cuda/version.json": '{"cuda": {"version": "13.0.1"}}',
            f"{PACKAGES}/tensorflow-2.20.0.dist-info/METADATA": "",
            f"{PACKAGES}/tensorflow/python/platform/build_info.py": info,
            f"{PACKAGES}/nvidia_cudnn_cu12-8.9.2.26.dist-info/METADATA": "",
        }
    )
    found = {result.text.partition(" wants")[0]: result for result in versions.look(site())}
    assert found["CUDA toolkit 13.0.1"].level is Level.CRITICAL
    assert "8.9.2.26 is installed" in found["tensorflow 2.20.0"].text


def test_nothing_installed_is_skipped(site):
    """An environment without frameworks is not wrong."""
    assert [result.level for result in versions.look(site())] == [Level.SKIPPED]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cuda": 3}', "\x00"])
def test_a_broken_file_of_the_toolkit_is_no_toolkit(tree, text):
    """What cannot be understood is left out."""
    tree.write({"usr/local/cuda/version.json": text})
    assert installed(tree.root, {}) == ()
