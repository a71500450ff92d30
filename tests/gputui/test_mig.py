"""The parts of a GPU in MIG mode."""

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gputui.model import MigInstance
from gputui.recording import CaptureReader, CaptureWriter, SampleRecord
from gputui.sources.mig import mig_instances


class NvmlError(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Nvml:
    """A GPU with room for seven instances, of which the numbers 0 and 2 are taken."""

    NVMLError = NvmlError

    def nvmlDeviceGetMaxMigDeviceCount(self, handle):
        return 7 if handle == "gpu" else 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index):
        if index not in (0, 2):
            raise NvmlError(6)
        return index

    def nvmlDeviceGetMemoryInfo(self, device):
        if device == 2:
            raise NvmlError(4)
        return SimpleNamespace(used=1 << 30, total=10 << 30)

    def nvmlDeviceGetName(self, device):
        return f"NVIDIA H100 80GB HBM3 MIG {1 + device}g.10gb"

    def nvmlDeviceGetGpuInstanceId(self, device):
        return 9 + device

    def nvmlDeviceGetComputeInstanceId(self, _):
        return 0

    def nvmlDeviceGetUUID(self, device):
        return f"MIG-{device}"


FOUND = (
    MigInstance(9, 0, "MIG-0", "1g.10gb", 1 << 30, 10 << 30),
    MigInstance(11, 0, "MIG-2", "3g.10gb"),
)


def test_instances_are_told_by_number_profile_and_memory():
    """Numbers have gaps; one whose memory may not be read is there all the same."""
    assert mig_instances(Nvml(), "gpu") == (FOUND,)


def test_without_mig_there_are_none():
    """Which is an answer, and not a missing reading."""
    assert mig_instances(Nvml(), "other") == ((),)


def test_a_gpu_that_fails_meanwhile_is_no_gpu_without_instances():
    """Another error than a gap in the numbers is told as one."""

    class Lost(Nvml):
        def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, index):
            raise NvmlError(15)

    with pytest.raises(NvmlError):
        mig_instances(Lost(), "gpu")


def test_they_are_recorded_and_read_again(make):
    """As every other reading."""
    sample = make.node(1.0, replace(make.gpu(3), mig_enabled=True, mig_instances=FOUND))
    text = io.StringIO()
    CaptureWriter(text).sample(sample)
    *_, record = CaptureReader().read_all(text.getvalue().splitlines())
    assert isinstance(record, SampleRecord)
    assert record.sample.gpus[3].mig_instances == FOUND
    assert record.sample.gpus[2].mig_instances is None
