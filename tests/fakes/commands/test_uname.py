"""uname and nproc."""

import pytest

from fakes.files.registry import all_files

UBUNTU = "Linux n0 5.15.0-126-generic #136-Ubuntu SMP Wed Nov 6 10:38:22 UTC 2024 x86_64"


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("uname", "Linux\n"),
        ("uname -r", "5.15.0-126-generic\n"),
        ("uname -mn", "n0 x86_64\n"),
        ("uname -a", f"{UBUNTU} x86_64 x86_64 GNU/Linux\n"),
        ("nproc", "224\n"),
        ("nproc --all", "224\n"),
        ("nproc --ignore=24", "200\n"),
    ],
)
def test_a_node_tells_of_its_own_kernel_and_processors(machine, line, printed):
    """Those that its log and lscpu tell of, not the machine's."""
    assert machine(*line.split()) == (0, printed)


def test_processors_for_openmp_are_those_that_it_may_use(machine):
    """OMP_NUM_THREADS holds, but not for all of them."""
    env = {"OMP_NUM_THREADS": "8"}
    assert machine("nproc", env=env) == (0, "8\n")
    assert machine("nproc", "--all", env=env) == (0, "224\n")


def test_modules_lie_under_the_release_that_uname_tells(machine):
    """/lib/modules/$(uname -r) is there."""
    release = machine("uname", "-r")[1].strip()
    files = all_files(machine.node, machine.world)
    assert f"/usr/lib/modules/{release}/updates/dkms/nvidia.ko" in files


@pytest.mark.parametrize(("model", "count"), [("h100-sxm", 4), ("a100-sxm", 6), ("l4", 0)])
def test_the_driver_has_files_for_each_nvswitch(make_machine, model, count):
    """As many as lspci shows; a node without any has none."""
    machine = make_machine(model)
    home = "/proc/driver/nvidia-nvswitch/"
    found = [path for path in all_files(machine.node, machine.world) if path.startswith(home)]
    assert len([path for path in found if "/devices/" in path]) == count
    assert (f"{home}permissions" in found) == bool(count)
