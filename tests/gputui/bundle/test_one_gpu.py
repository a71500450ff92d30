"""``gputui bundle --gpu N`` says nothing of the other GPUs."""

import json
from dataclasses import replace

import pytest

from gputui.bundle.contents import contents
from gputui.doctor.site import Site
from gputui.incidents.states import state_of
from gputui.model import Action, GpuStatus, Incident, PciGpu, ProcessSample, Severity, Snapshot


def incident(number, subject, gpu=None, kind="GpuXid", **more):
    return Incident(
        id=str(number), kind=kind, subject=subject, host="node-a", severity=Severity.CRITICAL,
        opened_s=1.0, cause="hardware", cause_text="it broke", action=Action.RESET_GPU,
        action_text="reset it", gpu=gpu, **more,
    )  # fmt: skip


@pytest.fixture
def site(make, tmp_path):
    """Eight GPUs with serial numbers, the fifth of them lost, and a job on two."""
    gpus = [make.gpu(index, serial=f"165000000000{index}") for index in range(8)]
    gpus[5] = replace(make.lost(5), uuid="GPU-00000005", serial="1650000000005")
    sample = make.node(1000.0, *gpus)
    sample = replace(
        sample,
        processes=tuple(
            ProcessSample(4000 + gpu, gpu, user="ann", command="python", job=job)
            for gpu, job in ((3, "17"), (4, "17"), (5, "18"))
        ),
        on_bus=tuple(
            PciGpu(bus, "nvidia", above=(f"0000:{0x80 + at:02x}:00",))
            for at, bus in enumerate(make.BUSES[:8])
        ),
    )
    incidents = (
        incident(1, "gpu:GPU-00000003", 3),
        incident(2, "gpu:GPU-00000006", 6),
        incident(3, "node:node-a", evidence=("serial 1650000000006 is hot",)),
        incident(4, "job:17"),
        incident(5, "job:18"),
        incident(6, "job:19", parent="1"),
        incident(7, "gpu:GPU-00000001", 1, kind="NvlinkDown", evidence=("link 2, to GPU 3",)),
    )
    statuses = tuple(GpuStatus(gpu.index, state_of(gpu, incidents)[0], 1.0) for gpu in sample.gpus)
    return Site(Snapshot(sample, statuses, incidents), root=tmp_path, tool=repr)


@pytest.fixture
def log(make, tmp_path):
    """What the kernel said of GPUs 3 and 6, of a bridge, of the driver, and of neither."""
    path = tmp_path / "kern.log"
    path.write_text(
        "\n".join(
            [
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
                f"NVRM: Xid (PCI:{make.BUSES[3]}): 79, GPU has fallen off the bus.",
                f"NVRM: GPU at PCI:{make.BUSES[6]}: GPU-00000006",
                "NVRM: GPU Board Serial Number: 1650000000006",
                f"NVRM: Xid (PCI:{make.BUSES[6]}): 31, pid=1",
                f"NVRM: GPU at PCI:{make.BUSES[3]}: GPU-00000003",
                "NVRM: GPU Board Serial Number: 1650000000003",
                "pcieport 0000:83:00.0: AER: Corrected error received: 0000:83:00.0",
                "pcieport 0000:86:00.0: AER: Corrected error received: 0000:86:00.0",
                "",
            ]
        )
    )
    return str(path)


def test_the_log_is_of_one_gpu(site, log):
    """By its address, its bridge's, and what the driver says behind them or of itself."""
    told = contents(site, log, 3)["kernel.log"].splitlines()
    assert [line.rpartition(" ")[2] for line in told] == [
        "570.124.06", "bus.", "GPU-00000003", "1650000000003", "0000:83:00.0",
    ]  # fmt: skip


def test_incidents_are_its_own_its_nodes_and_its_jobs(site, log):
    """A job's only while it runs there, or because of it; a link's at either end."""
    told = json.loads(contents(site, log, 3)["incidents.json"])
    assert [one["id"] for one in told] == ["1", "3", "4", "6", "7"]


@pytest.mark.parametrize("gpu", range(8))
def test_no_other_board_is_named(site, log, gpu):
    """Neither its serial number nor its UUID, in no file."""
    told = repr(contents(site, log, gpu))
    for other in range(8):
        assert (f"165000000000{other}" in told) == (other == gpu)
        assert (f"GPU-0000000{other}" in told) == (other == gpu)


def test_readings_and_processes_are_its_own(site, log):
    """Also what stands beside them: the bus, who started what."""
    reading = json.loads(contents(site, log, 3)["reading.json"])
    assert [one["index"] for one in reading["gpus"]] == [3]
    assert [one["pid"] for one in reading["processes"]] == [4003]
    assert len(reading["on_bus"]) == 1


def test_a_missing_file_is_said_with_its_reason(site, log):
    """nvidia-smi has nothing to say of a GPU that is lost: whoever reads the ticket should know."""
    lost, fine = contents(site, log, 5), contents(site, log, 3)
    assert "nvidia-smi-q.txt" not in lost
    assert (
        "Missing: nvidia-smi-q.txt: GPU 5 does not answer (GPU is lost), so nvidia-smi has no "
        "report to give." in lost["README.txt"]
    )
    assert "'-i', '3'" in fine["nvidia-smi-q.txt"]
    assert "Missing" not in fine["README.txt"]


def test_without_a_gpu_named_all_of_them_are_in_it(site, log):
    """The whole node's evidence, as it is."""
    told = contents(site, log)
    assert len(json.loads(told["boards.json"])) == 8
    assert told["kernel.log"].count("\n") >= 8
