"""What a GPU is: names, numbers, versions and modes that no load changes."""

from __future__ import annotations

from struct import Struct

from fakes.actions import Action, Effect
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import int32, text, uint32

_ENABLED, _DISABLED = 1, 0
_INFOROM_OBJECTS = {0: "2.1", 1: "7.16"}  # OEM and ECC; the capture has no power object
_ACCOUNTING_BUFFER = 4000  # of the capture
_BUS_PCIE = 2
_PLATFORM = Struct("<I16s16s5B3x")
_DIRECTLY_CONNECTED = 0


@answers("nvmlDeviceGetName", reach=Reach.IDENTITY)
def name(gpu: Gpu, at_us: int) -> Value:
    """The product's name: ``NVIDIA H100 80GB HBM3``."""
    return text(gpu.profile.name)


@answers("nvmlDeviceGetUUID", reach=Reach.IDENTITY)
def uuid(gpu: Gpu, at_us: int) -> Value:
    """The GPU's UUID: ``GPU-`` and 8-4-4-4-12 hexadecimal digits."""
    return text(gpu.uuid)


@answers("nvmlDeviceGetIndex", reach=Reach.IDENTITY)
def index(gpu: Gpu, at_us: int) -> Value:
    """The index by which NVML counts it."""
    return uint32(gpu.index)


@answers("nvmlDeviceGetMinorNumber", reach=Reach.IDENTITY)
def minor_number(gpu: Gpu, at_us: int) -> Value:
    """The N of its device node, ``/dev/nvidiaN``."""
    return uint32(gpu.index)


@answers("nvmlDeviceGetSerial")
def serial(gpu: Gpu, at_us: int) -> Value:
    """The number printed on the board."""
    return text(gpu.serial)


@answers("nvmlDeviceGetBrand")
def brand(gpu: Gpu, at_us: int) -> Value:
    """nvmlBrandType_t."""
    return uint32(gpu.profile.brand)


@answers("nvmlDeviceGetArchitecture")
def architecture(gpu: Gpu, at_us: int) -> Value:
    """NVML_DEVICE_ARCH_*."""
    return uint32(gpu.profile.architecture)


@answers("nvmlDeviceGetCudaComputeCapability")
def compute_capability(gpu: Gpu, at_us: int) -> Value:
    """CUDA's compute capability: major, minor."""
    major, minor = gpu.profile.compute_capability
    return int32(major), int32(minor)


@answers("nvmlDeviceGetNumGpuCores")
def cores(gpu: Gpu, at_us: int) -> Value:
    """CUDA cores."""
    return uint32(gpu.profile.cores)


@answers("nvmlDeviceGetBoardId")
def board_id(gpu: Gpu, at_us: int) -> Value:
    """A number that GPUs on one board share: of the PCI address."""
    return uint32(gpu.pci_domain << 16 | gpu.pci_bus << 8)


@answers("nvmlDeviceGetMultiGpuBoard")
def multi_gpu_board(gpu: Gpu, at_us: int) -> Value:
    """Whether more GPUs sit on its board: no."""
    return uint32(0)


@answers("nvmlDeviceGetBoardPartNumber")
def board_part_number(gpu: Gpu, at_us: int) -> Value:
    """The board's part number, of its infoROM."""
    return text(gpu.profile.board_part_number)


@answers("nvmlDeviceGetModuleId")
def module_id(gpu: Gpu, at_us: int) -> Value:
    """Where on the baseboard it sits, from 1; so says every card of itself (captures)."""
    return uint32(_place(gpu))


@answers("nvmlDeviceGetVbiosVersion")
def vbios_version(gpu: Gpu, at_us: int) -> Value:
    """The VBIOS's version."""
    return text(gpu.profile.vbios)


@answers("nvmlDeviceGetInforomImageVersion")
def inforom_image_version(gpu: Gpu, at_us: int) -> Value:
    """The version of the whole infoROM image."""
    return text(gpu.profile.inforom_image)


@answers("nvmlDeviceGetInforomVersion")
def inforom_version(gpu: Gpu, at_us: int, item: int) -> Value:
    """The version of one infoROM object (nvmlInforomObject_t)."""
    if item > 3:
        raise NvmlError(Code.INVALID_ARGUMENT)
    if item not in _INFOROM_OBJECTS:
        raise NvmlError(Code.NOT_SUPPORTED)
    return text(_INFOROM_OBJECTS[item])


@answers("nvmlDeviceValidateInforom")
def validate_inforom(gpu: Gpu, at_us: int) -> Value:
    """Check the infoROM's checksums: they are right."""
    return ()


@answers("nvmlDeviceGetGspFirmwareVersion", node=True)
def gsp_firmware_version(gpu: Gpu, node: Node, at_us: int) -> Value:
    """The firmware of the GPU's system processor: the driver brings it along."""
    return text(node.driver.version)


@answers("nvmlDeviceGetGspFirmwareMode")
def gsp_firmware_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether the system processor's firmware is in use, and by default."""
    return uint32(_ENABLED), uint32(_ENABLED)


@answers("nvmlDeviceGetPersistenceMode", reach=Reach.DRIVER)
def persistence_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether the driver stays with the GPU when nobody uses it."""
    return uint32(gpu.persistence)


@answers("nvmlDeviceSetPersistenceMode", node=True, changes=True, reach=Reach.DRIVER)
def set_persistence_mode(gpu: Gpu, node: Node, at_us: int, mode: int) -> Value:
    """Let the driver stay, or go with the last user."""
    if mode > 1:
        raise NvmlError(Code.INVALID_ARGUMENT)
    gpu.persistence = bool(mode)
    word = "on" if mode else "off"
    node.actions.note(Action(at_us, Effect.SET_PERSISTENCE, node.name, gpu.index, detail=word))
    return ()


@answers("nvmlDeviceGetComputeMode")
def compute_mode(gpu: Gpu, at_us: int) -> Value:
    """nvmlComputeMode_t: how many processes may compute."""
    return uint32(gpu.settings.compute_mode)


@answers("nvmlDeviceGetDisplayMode")
def display_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether a display could be attached: the capture says so of a GPU without connectors."""
    return uint32(_ENABLED)


@answers("nvmlDeviceGetDisplayActive")
def display_active(gpu: Gpu, at_us: int) -> Value:
    """Whether a display is set up on it."""
    return uint32(_DISABLED)


@answers("nvmlDeviceGetVirtualizationMode")
def virtualization_mode(gpu: Gpu, at_us: int) -> Value:
    """nvmlGpuVirtualizationMode_t: bare metal."""
    return uint32(0)


@answers("nvmlDeviceGetAccountingMode")
def accounting_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether statistics of ended processes are kept."""
    return uint32(gpu.settings.accounting)


@answers("nvmlDeviceGetAccountingBufferSize")
def accounting_buffer_size(gpu: Gpu, at_us: int) -> Value:
    """Of how many processes statistics would be kept."""
    return uint32(_ACCOUNTING_BUFFER)


@answers("nvmlDeviceGetAccountingPids")
def accounting_pids(gpu: Gpu, at_us: int) -> Value:
    """Processes of which statistics were kept."""
    return b""


@answers("nvmlDeviceGetC2cModeInfoV")
def c2c_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether a chip-to-chip link to an NVIDIA CPU is on."""
    return uint32(_DISABLED)


@answers("nvmlDeviceGetBusType")
def bus_type(gpu: Gpu, at_us: int) -> Value:
    """NVML_BUS_TYPE_*."""
    return uint32(_BUS_PCIE)


@answers("nvmlDeviceGetPlatformInfo")
def platform_info(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Where the GPU sits in a rack: only its place on the baseboard is known; host 1."""
    return _PLATFORM.pack(words[0], b"", b"", 0, 0, 1, _DIRECTLY_CONNECTED, _place(gpu))


def _place(gpu: Gpu) -> int:
    return gpu.index + 1 if gpu.profile.can.baseboard else 1
