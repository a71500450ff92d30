"""lsmod, rmmod, modprobe and modinfo."""

import pynvml
import pytest

from fakes.jobs.process import JobSpec
from fakes.nvml.inprocess import installed


def test_a_driver_in_use_stays(machine):
    """Held by other modules, by programs, or by persistence mode: refused in kmod's words."""
    machine.node.start_job(JobSpec("train", (0, 1)), 0)
    assert machine("rmmod", "nvidia") == (
        1,
        "rmmod: ERROR: Module nvidia is in use by: nvidia_uvm nvidia_modeset nvidia_peermem "
        "gdrdrv\n",
    )
    assert machine("rmmod", "nvidia_uvm") == (1, "rmmod: ERROR: Module nvidia_uvm is in use\n")
    assert machine("modprobe", "-r", "nvidia_uvm") == (
        1, "modprobe: FATAL: Module nvidia_uvm is in use.\n",
    )  # fmt: skip
    assert not any(action.ok for action in machine.done)


def test_a_driver_that_nobody_uses_is_taken_out_and_loaded_again(machine):
    """NVML says so, and lsmod; loaded again all is well."""
    machine("systemctl", "stop", "nvidia-persistenced", "nvidia-dcgm")
    for name in ("gdrdrv", "nvidia-peermem", "nvidia_drm", "nvidia_modeset", "nvidia_uvm"):
        assert machine("rmmod", name) == (0, "")
    assert machine("rmmod", "nvidia") == (0, "")
    assert "nvidia" not in machine("lsmod")[1]
    with installed(machine.answer):
        with pytest.raises(pynvml.NVMLError) as refused:
            pynvml.nvmlInit()
        assert refused.value.value == pynvml.NVML_ERROR_DRIVER_NOT_LOADED
        assert machine("modprobe", "nvidia-uvm") == (0, "")
        pynvml.nvmlInit()
        assert pynvml.nvmlDeviceGetCount() == 2
    assert "NVRM: loading NVIDIA UNIX" in machine("dmesg")[1]


def test_modprobe_takes_out_what_nobody_needs_any_more(machine):
    """As in ``modprobe -r nvidia_drm``, which scripts reload the driver by."""
    machine("systemctl", "stop", "nvidia-persistenced")
    machine("rmmod", "gdrdrv", "nvidia_peermem", "nvidia_uvm")
    assert machine("modprobe", "-r", "nvidia_drm") == (0, "")
    assert "nvidia" not in machine("lsmod")[1]


def test_rows_of_lsmod(machine):
    """Name, size, how often it is held, by whom."""
    rows = {line.split()[0]: line for line in machine("lsmod")[1].splitlines()}
    assert rows["Module"] == "Module                  Size  Used by"
    assert rows["nvidia_modeset"] == "nvidia_modeset       1724416  1 nvidia_drm"
    assert rows["nvidia_drm"].split()[2] == "0"


@pytest.mark.parametrize(
    ("argv", "status", "printed"),
    [
        (("modprobe", "no-such"), 1,
         "modprobe: FATAL: Module no-such not found in directory "
         "/lib/modules/5.15.0-126-generic\n"),
        (("modprobe", "nvidia"), 0, ""),
        (("rmmod", "no_such"), 1, "rmmod: ERROR: Module no_such is not currently loaded\n"),
        (("modinfo", "-F", "version", "nvidia"), 0, "570.124.06\n"),
        (("modinfo", "no_such"), 1, "modinfo: ERROR: Module no_such not found.\n"),
        (("modinfo", "-n", "nvidia-uvm"), 0,
         "/lib/modules/5.15.0-126-generic/updates/dkms/nvidia-uvm.ko\n"),
    ],
)  # fmt: skip
def test_kmods_words(machine, argv, status, printed):
    """Of modules that there are, and of those that there are not."""
    assert machine(*argv) == (status, printed)
