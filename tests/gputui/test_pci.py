"""The GPUs on the PCI bus: which there are, who holds them, and whether they are meant for us."""

import os

import pytest

from gputui.model import PciGpu
from gputui.sources.pci import gpus_on_bus


class Bus:
    """A /sys, /proc and /dev with devices that the test puts there."""

    def __init__(self, root):
        self.root = root

    def device(self, address, *, vendor="0x10de", kind="0x030200", driver="nvidia", minor=None):
        folder = self.root / "sys/bus/pci/devices" / address
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "class").write_text(f"{kind}\n")
        if driver:
            drivers = self.root / "sys/bus/pci/drivers" / driver
            drivers.mkdir(parents=True, exist_ok=True)
            (folder / "driver").symlink_to(os.path.relpath(drivers, folder))
        if minor is not None:
            told = self.root / "proc/driver/nvidia/gpus" / address
            told.mkdir(parents=True)
            (told / "information").write_text(
                f"Model: \t\t NVIDIA H100\nIRQ:   \t\t 5\nDevice Minor: \t {minor}\n"
            )
        return folder

    def device_file(self, minor):
        (self.root / "dev").mkdir(exist_ok=True)
        (self.root / f"dev/nvidia{minor}").write_text("")


@pytest.fixture
def bus(tmp_path):
    return Bus(tmp_path)


def test_only_nvidias_gpus_count(bus):
    """No other vendor's, no switch, bridge or sound device, and no part given to a guest."""
    bus.device("0000:3b:00.0", minor=0)
    bus.device("0000:3b:00.1", kind="0x040300", driver="snd_hda_intel")
    bus.device("0000:05:00.0", kind="0x068000", driver="nvidia-nvswitch")
    bus.device("0000:04:00.0", vendor="0x1a03", kind="0x030000", driver="ast")
    guest = bus.device("0000:3b:01.0", driver="vfio-pci")
    (guest / "physfn").symlink_to("../0000:3b:00.0")
    bus.device_file(0)
    assert gpus_on_bus(bus.root) == (PciGpu("0000:3b:00", "nvidia"),)


def test_who_holds_a_gpu_is_told(bus):
    """Nobody, the driver, or another one that gives it to a virtual machine."""
    bus.device("0000:18:00.0", driver=None)
    bus.device("0000:9:00.0".replace(":9:", ":09:"), driver="vfio-pci", kind="0x030000")
    assert gpus_on_bus(bus.root) == (
        PciGpu("0000:09:00", "vfio-pci"),
        PciGpu("0000:18:00", None),
    )


def test_a_gpu_without_access_is_hidden(bus):
    """A container shows the bus of its host: what it was not given is no loss."""
    bus.device("0000:18:00.0", minor=0)
    bus.device("0000:2a:00.0", minor=1)
    bus.device("0000:3b:00.0")
    bus.device_file(0)
    hidden = {gpu.bus_id: gpu.hidden for gpu in gpus_on_bus(bus.root)}
    assert hidden == {"0000:18:00": False, "0000:2a:00": True, "0000:3b:00": True}
    counted = frozenset({"0000:3b:00"})
    assert not gpus_on_bus(bus.root, counted)[2].hidden


@pytest.mark.skipif(os.getuid() == 0, reason="root may open what its mode forbids")
def test_a_device_file_that_may_not_be_opened_hides_its_gpu(bus):
    """Device rules answer as permissions do."""
    bus.device("0000:18:00.0", minor=0)
    bus.device_file(0)
    (bus.root / "dev/nvidia0").chmod(0)
    assert gpus_on_bus(bus.root)[0].hidden


def test_where_the_bus_cannot_be_seen_there_is_none(bus):
    """No /sys, or devices that vanish while they are read."""
    assert gpus_on_bus(bus.root) == ()
    (bus.root / "sys/bus/pci/devices/0000:01:00.0").mkdir(parents=True)
    (bus.root / "sys/bus/pci/devices/rubbish").mkdir()
    assert gpus_on_bus(bus.root) == ()
