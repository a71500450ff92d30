"""dpkg, apt, dkms, nvcc: what is installed follows the driver and the services."""

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD


def test_the_drivers_packages_are_of_its_version(shell):
    """A script that greps the list finds them, as installed."""
    lines = shell("dpkg", "-l").lines
    nvidia = [line.split() for line in lines if "nvidia-utils" in line]
    assert [words[:3] for words in nvidia] == [
        ["ii", "nvidia-utils-570", "570.124.06-0ubuntu1"],
    ]
    assert "nvidia-fabricmanager-570" in shell("dpkg", "-l").out
    assert "nvidia-utils-570/now 570.124.06-0ubuntu1 amd64 [installed,local]" in (
        shell("apt", "list", "--installed").lines
    )


def test_a_package_that_is_not_there_is_an_error(shell):
    """As dpkg words it; what fits is still listed."""
    said = shell("dpkg", "-l", "nvidia-utils-*", "cowsay")
    assert (said.status, said.err) == (1, "dpkg-query: no packages found matching cowsay\n")
    assert "nvidia-utils-570" in said.out
    assert shell("dpkg", "-s", "cowsay").status == 1
    assert "Status: install ok installed" in shell("dpkg", "-s", "pciutils").lines


@pytest.mark.parametrize(
    "argv",
    [
        ("-W", "-f=${Version}\\n", "nvidia-utils-570"),
        ("-W", "-f", "${Version}\\n", "nvidia-utils-570"),
        ("--show", "--showformat=${Version}\\n", "nvidia-utils-570"),
        ("-Wf", "${Version}\\n", "nvidia-utils-570"),
    ],
)
def test_a_form_says_what_is_shown(argv, shell):
    """However the form is given."""
    assert shell("dpkg-query", *argv).out == "570.124.06-0ubuntu1\n"


def test_the_toolkit_fits_the_driver(shell):
    """The compiler's release is never above what nvidia-smi shows."""
    assert "Cuda compilation tools, release 12.8, V12.8.93" in shell("nvcc", "--version").lines
    assert shell("nvcc", "a.cu").status == NOT_UNDERSTOOD
    assert shell("dkms", "status").out == (
        "nvidia, 570.124.06, 5.15.0-126-generic, x86_64: installed\n"
    )
    assert shell("mokutil", "--sb-state").out == "SecureBoot disabled\n"
    assert shell("apt-cache", "policy", "pciutils").lines[1] == "  Installed: 1:3.7.0-6"
    for asked in (("apt", "install", "x"), ("dpkg", "-i", "x"), ("dkms", "remove")):
        assert shell(*asked).status == NOT_UNDERSTOOD
