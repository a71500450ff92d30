"""Which GPUs a call is about, and GPUs that are not to be had."""

from __future__ import annotations

import pytest

from fakes.hardware.gpu import Lookup, Lost

INDEX = ("--query-gpu=index", "--format=csv,noheader")
HANDLE = "Unable to determine the device handle for GPU"


@pytest.fixture
def eight(make_smi):
    """Eight GPUs; the driver ends a call at the first GPU that is lost."""
    return make_smi(gpus=8)


@pytest.fixture
def eight_on_580(make_smi):
    """Eight GPUs; the driver leaves out GPUs that are lost."""
    return make_smi(gpus=8, driver="580.159.03", cuda=(13, 0))


def lose(smi, index: int, lookup: Lookup = Lookup.UNKNOWN) -> None:
    smi.rig.node.gpus[index].lost = Lost(0, lookup)


def test_gpus_are_chosen_by_index_uuid_serial_or_address(eight):
    """Lists keep their order; addresses may be long or short, in either case."""
    gpus = eight.rig.node.gpus
    ids = f"5,{gpus[2].uuid},{gpus[3].serial},00000000:43:00.0,0000:c3:00.0"
    assert eight(*INDEX, "-i", ids).lines == ["5", "2", "3", "1", "5"]
    assert eight(*INDEX, f"--id={gpus[7].uuid}").lines == ["7"]


@pytest.mark.parametrize("wanted", ["8", "0,8", "GPU-0", "0000:99:00.0", "1234567890123"])
@pytest.mark.parametrize("what", [(), ("-L",), ("-q",), INDEX, ("-r",)])
def test_a_gpu_that_is_not_there_ends_the_call(wanted, what, eight):
    """No devices were found, status 6."""
    said = eight(*what, "-i", wanted)
    assert (said.out, said.status) == ("No devices were found\n", 6)


def test_a_node_without_gpus_has_no_devices(make_smi):
    """The same without being asked for one."""
    none = make_smi(gpus=0, idle=True)
    assert [none(*what).status for what in ((), ("-L",), ("-q",), INDEX)] == [6] * 4


@pytest.mark.parametrize(
    ("lookup", "why", "status"),
    [
        (Lookup.UNKNOWN, "Unknown Error", 255),
        (Lookup.LOST, "GPU is lost.  Reboot the system to recover this GPU", 15),
    ],
)
@pytest.mark.parametrize("what", [(), ("-q",), INDEX, ("-pm", "1")])
def test_one_lost_gpu_ends_a_call_about_all(what, lookup, why, status, eight):
    """The message alone, on stdout; the status is NVML's code, as far as a status reaches."""
    lose(eight, 3, lookup)
    said = eight(*what)
    assert (said.out, said.err) == (f"{HANDLE}0000:61:00.0: {why}\n", "")
    assert said.status == status


def test_the_other_gpus_can_be_asked_for(eight):
    """``-i 0,1,2`` works while GPU 3 is lost, and ``-i 3`` fails."""
    lose(eight, 3)
    assert eight(*INDEX, "-i", "0,1,2").lines == ["0", "1", "2"]
    assert eight("-i", "3").status == 255
    assert eight("-i", "0000:61:00.0").out == f"{HANDLE}0000:61:00.0: Unknown Error\n"


def test_newer_drivers_leave_a_lost_gpu_out_and_succeed(eight_on_580):
    """The message goes to stderr; a script that looks at the status alone sees nothing."""
    lose(eight_on_580, 3)
    said = eight_on_580(*INDEX)
    assert said.lines == ["0", "1", "2", "4", "5", "6", "7"]
    assert (said.err, said.status) == (f"{HANDLE}3: 0000:61:00.0: Unknown Error\n", 0)


def test_newer_drivers_find_no_devices_when_all_are_lost(eight_on_580):
    """Then the status tells."""
    for index in range(8):
        lose(eight_on_580, index)
    said = eight_on_580()
    assert (said.out, said.status) == ("No devices were found\n", 6)
    assert len(said.err.splitlines()) == 8


@pytest.mark.parametrize("smi_of", ["eight", "eight_on_580"])
def test_the_list_names_a_lost_gpu_in_its_place(smi_of, request):
    """``-L`` has eight lines still: who counts lines sees nothing."""
    smi = request.getfixturevalue(smi_of)
    lose(smi, 0)
    said = smi("-L")
    assert said.lines[0] == (
        "Unable to determine the device handle for gpu 0000:1B:00.0: Unknown Error"
    )
    assert said.lines[7] == f"GPU 7: NVIDIA H100 80GB HBM3 (UUID: {smi.rig.node.gpus[7].uuid})"
    assert (len(said.lines), said.status) == (8, 0)


def test_without_addresses_a_lost_gpu_is_named_by_its_index(eight):
    """NVML alone does not tell where a GPU without a handle is."""
    lose(eight, 3)
    assert eight(gpu_addresses=()).out == f"{HANDLE}3: Unknown Error\n"


@pytest.mark.parametrize(
    ("code", "begins", "status"),
    [
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 12),
        (4, "Failed to initialize NVML: Insufficient Permissions\n", 4),
        (18, "Failed to initialize NVML: Driver/library version mismatch\n", 18),
        (999, "Failed to initialize NVML: Unknown Error\n", 255),
    ],
)
@pytest.mark.parametrize("what", [(), ("-L",), ("-q",), INDEX, ("--version",)])
def test_a_driver_that_is_not_there_fails_every_call(what, code, begins, status, smi, answering):
    """In the real words, on stdout, with NVML's code as status."""
    said = smi(*what, nvml=answering(nvmlInit=code))
    assert said.out.startswith(begins)
    assert said.status == status


@pytest.mark.parametrize(
    "what", [(), ("-L",), ("-i", "9"), ("--query-gpu=no", "--format=csv"), ("--no",), ("-h",)]
)
def test_nvml_is_given_back_whatever_happens(what, eight):
    """Each call begins and ends its own use of NVML, failures included."""
    nvml = eight.rig.nvml
    lose(eight, 3)
    nvml.nvmlShutdown()
    eight(*what)
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlDeviceGetCount()
    nvml.nvmlInit()
