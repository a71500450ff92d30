"""PCI Express: the GPU's address, its link, and the traffic over it."""

from __future__ import annotations

from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import text, uint32

_INFO_V1 = Struct("<16s4I")
_INFO_V2 = Struct("<16s5I")
_INFO_V3 = Struct("<16s5I32s")
_INFO_EXT = Struct("<8I32s")
_CLASS_DISPLAY, _SUBCLASS_3D = 0x03, 0x02
_TX, _RX = 0, 1
_MBIT_PER_S = {1: 2500, 2: 5000, 3: 8000, 4: 16000, 5: 32000, 6: 64000}


@answers("nvmlDeviceGetPciInfo", reach=Reach.IDENTITY)
def pci_info_v1(gpu: Gpu, at_us: int) -> Value:
    """The first form, 32 bytes: it ends before the sub-system's id."""
    return _INFO_V1.pack(_legacy_address(gpu), *_numbers(gpu)[:4])


@answers("nvmlDeviceGetPciInfo_v2", reach=Reach.IDENTITY)
def pci_info_v2(gpu: Gpu, at_us: int) -> Value:
    """The second form, 36 bytes: it ends before the long address."""
    return _INFO_V2.pack(_legacy_address(gpu), *_numbers(gpu))


@answers("nvmlDeviceGetPciInfo_v3", reach=Reach.IDENTITY)
def pci_info(gpu: Gpu, at_us: int) -> Value:
    """Address with a domain of four digits, its parts, device ids, address with eight digits."""
    return pci_address(gpu.pci_domain, gpu.pci_bus, *_numbers(gpu)[3:])


@answers("nvmlDeviceGetPciInfoExt", reach=Reach.IDENTITY)
def pci_info_ext(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """The same with the class of the device, 3D controller, and without the short address."""
    address = text(f"{gpu.pci_domain:08X}:{gpu.pci_bus:02X}:00.0")
    return _INFO_EXT.pack(words[0], *_numbers(gpu), _CLASS_DISPLAY, _SUBCLASS_3D, address)


@answers("nvmlDeviceGetCurrPcieLinkGeneration")
def current_generation(gpu: Gpu, at_us: int) -> Value:
    """The generation at which the link runs."""
    return uint32(gpu.pcie_generation)


@answers("nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetGpuMaxPcieLinkGeneration")
def max_generation(gpu: Gpu, at_us: int) -> Value:
    """The highest generation that GPU and slot, or the GPU alone, can do."""
    return uint32(gpu.profile.pcie.generation)


@answers("nvmlDeviceGetCurrPcieLinkWidth")
def current_width(gpu: Gpu, at_us: int) -> Value:
    """The lanes in use."""
    return uint32(gpu.pcie_width)


@answers("nvmlDeviceGetMaxPcieLinkWidth")
def max_width(gpu: Gpu, at_us: int) -> Value:
    """The lanes that GPU and slot have."""
    return uint32(gpu.profile.pcie.width)


@answers("nvmlDeviceGetPcieLinkMaxSpeed")
def max_speed(gpu: Gpu, at_us: int) -> Value:
    """NVML_PCIE_LINK_MAX_SPEED_*: numbered as the generations are."""
    return uint32(gpu.profile.pcie.generation)


@answers("nvmlDeviceGetPcieSpeed")
def speed(gpu: Gpu, at_us: int) -> Value:
    """Megabits a second on one lane."""
    return uint32(_MBIT_PER_S[gpu.pcie_generation])


@answers("nvmlDeviceGetPcieThroughput")
def throughput(gpu: Gpu, at_us: int, counter: int) -> Value:
    """KiB a second that the GPU sent or received (nvmlPcieUtilCounter_t)."""
    if counter > _RX:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return uint32(gpu.pcie_kib_per_s(at_us, received=counter == _RX))


@answers("nvmlDeviceGetPcieReplayCounter")
def replay_counter(gpu: Gpu, at_us: int) -> Value:
    """Packets that had to be sent again."""
    return uint32(gpu.pcie.replays)


def pci_address(domain: int, bus: int, device_id: int, subsystem_id: int) -> bytes:
    """nvmlPciInfo_t of the device at ``domain:bus:00.0``."""
    return _INFO_V3.pack(
        text(f"{domain:04X}:{bus:02X}:00.0"), domain, bus, 0, device_id, subsystem_id,
        text(f"{domain:08X}:{bus:02X}:00.0"),
    )  # fmt: skip


def _legacy_address(gpu: Gpu) -> bytes:
    return text(f"{gpu.pci_domain:04X}:{gpu.pci_bus:02X}:00.0")


def _numbers(gpu: Gpu) -> tuple[int, int, int, int, int]:
    """Domain, bus, device, device and vendor id, sub-system id."""
    profile = gpu.profile
    return gpu.pci_domain, gpu.pci_bus, 0, profile.pci_device_id, profile.pci_subsystem_id
