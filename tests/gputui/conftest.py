"""What the monitor's tests share: a small NVML that answers as told, and samples to start from."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample, NodeSample

GIB = 1 << 30
FAKE_NVML = Path(__file__).parent / "fake_nvml"


_module = importlib.util.spec_from_file_location("fake_nvml", FAKE_NVML / "pynvml.py")
assert _module is not None
assert _module.loader is not None
fake_nvml = importlib.util.module_from_spec(_module)
sys.modules["fake_nvml"] = fake_nvml
_module.loader.exec_module(fake_nvml)
FakeNvml = fake_nvml.FakeNvml


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or leaves anything in the folders of whoever runs it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def nvml() -> FakeNvml:
    """Two healthy GPUs."""
    return FakeNvml()


BUSES = tuple(f"0000:{0x10 + index:02x}:00" for index in range(16))


def gpu_sample(index: int, **readings: object) -> GpuSample:
    """A healthy GPU under load, with what the test changes."""
    healthy: dict[str, object] = {
        "uuid": f"GPU-{index:08x}",
        "bus_id": BUSES[index],
        "name": "NVIDIA H100 80GB HBM3",
        "utilization_percent": 93,
        "memory_used_bytes": 60 * GIB,
        "memory_total_bytes": 80 * GIB,
        "temperature_c": 67,
        "power_mw": 641_000,
        "sm_clock_mhz": 1980,
        "sm_clock_max_mhz": 1980,
        "clock_reasons": 4,
    }
    return GpuSample(index, **{**healthy, **readings})  # type: ignore[arg-type]


def lost_gpu(index: int, code: int = 15) -> GpuSample:
    """A GPU that answers nothing but its code."""
    return GpuSample(index, f"GPU-{index:08x}", BUSES[index], return_code=code)


def node_sample(time_s: float, *changed: GpuSample, count: int = 8) -> NodeSample:
    """A healthy node, with the GPUs that the test changes in their places."""
    instead = {gpu.index: gpu for gpu in changed}
    gpus = tuple(instead.get(index) or gpu_sample(index) for index in range(count))
    return NodeSample("n0", time_s, driver="570.124.06", gpu_count=count, gpus=gpus)


def xid_event(time_s: float, gpu: int, code: int, detail: str = "") -> KernelEvent:
    """An Xid as the log's reader gives it."""
    text = f"NVRM: Xid (PCI:{BUSES[gpu]}): {code}, {detail}"
    return KernelEvent("xid", time_s, text, bus_id=BUSES[gpu], code=code, detail=detail)


class Make:
    """Builders of samples and events, for tests that need many."""

    gpu = staticmethod(gpu_sample)
    lost = staticmethod(lost_gpu)
    node = staticmethod(node_sample)
    xid = staticmethod(xid_event)
    GIB = GIB
    BUSES = BUSES


@pytest.fixture(scope="session")
def make() -> type[Make]:
    """``make.node(1.0, make.gpu(3, temperature_c=89))`` and the like."""
    return Make


@pytest.fixture(scope="session")
def fake_nvml_path() -> Path:
    """A directory in which ``import pynvml`` finds the small NVML instead of nvidia-ml-py."""
    return FAKE_NVML


class Tree:
    """A small /proc and /sys below ``root``, to be read in place of the real ones."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, files: dict[str, object]) -> None:
        """Write files by their paths below the root, each with the end of a line."""
        for path, content in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                file.write_text(f"{content}\n", encoding="utf-8")

    def lock(self, path: str) -> None:
        """Let nobody read a file or a folder any more."""
        (self.root / path).chmod(0)

    def remove(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it."""
        target = self.root / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty tree."""
    return Tree(tmp_path)


@contextlib.contextmanager
def _unprivileged():
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def unprivileged():
    """A context in which only what everybody may read can be read, also where root runs tests."""
    return _unprivileged
