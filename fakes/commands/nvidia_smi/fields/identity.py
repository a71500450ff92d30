"""When, which driver, and which GPU it is."""

from __future__ import annotations

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import nothing, said

_PCI_INFO_EXT_V1 = 0x1000040


def _pci(gpu: Gpu, member: str) -> int:
    return int(getattr(gpu.get("nvmlDeviceGetPciInfo"), member))


def _pci_class(gpu: Gpu, member: str) -> str:
    """A class code; only the newer of the two structures has it."""
    info = gpu.filled("nvmlDeviceGetPciInfoExt", "nvmlPciInfoExt_v1_t", _PCI_INFO_EXT_V1)
    return f"0x{getattr(info, member):X}"


SYSTEM: tuple[Field[Gpu], ...] = (
    field(
        "timestamp",
        read=lambda gpu: gpu.driver.stamp,
        about="When the query was made: YYYY/MM/DD HH:MM:SS.msec.",
    ),
    field("driver_version", read=lambda gpu: gpu.driver.version, about="The driver's version."),
    field("kmd_version", read=lambda gpu: gpu.driver.version, about="The kernel driver's version."),
    field(
        "vgpu_driver_capability.heterogenous_multivGPU",
        read=nothing,
        about="Whether the driver can run different vGPUs side by side.",
    ),
    field(
        "count",
        read=lambda gpu: str(gpu.driver.get("nvmlDeviceGetCount")),
        about="How many NVIDIA GPUs there are.",
    ),
)

NAMES: tuple[Field[Gpu], ...] = (
    field("name", "gpu_name", read=said("nvmlDeviceGetName"), about="The product's name."),
    field("serial", "gpu_serial", read=said("nvmlDeviceGetSerial"), about="The board's number."),
    field("uuid", "gpu_uuid", read=said("nvmlDeviceGetUUID"), about="The GPU's unique identifier."),
    field(
        "pci.bus_id",
        "gpu_bus_id",
        read=lambda gpu: gpu.bus_id,
        about="PCI address, domain:bus:device.function, in hexadecimal.",
    ),
    field("pci.domain", read=lambda gpu: f"0x{_pci(gpu, 'domain'):04X}", about="PCI domain."),
    field("pci.bus", read=lambda gpu: f"0x{_pci(gpu, 'bus'):02X}", about="PCI bus."),
    field("pci.device", read=lambda gpu: f"0x{_pci(gpu, 'device'):02X}", about="PCI device."),
    field("pci.baseClass", read=lambda gpu: _pci_class(gpu, "baseClass"), about="PCI base class."),
    field("pci.subClass", read=lambda gpu: _pci_class(gpu, "subClass"), about="PCI sub-class."),
    field(
        "pci.device_id",
        read=lambda gpu: f"0x{_pci(gpu, 'pciDeviceId'):08X}",
        about="PCI device and vendor id.",
    ),
    field(
        "pci.sub_device_id",
        read=lambda gpu: f"0x{_pci(gpu, 'pciSubSystemId'):08X}",
        about="PCI sub-system id.",
    ),
    *(
        field(f"vgpu_device_capability.{name}", read=nothing, about="A capability of vGPU hosts.")
        for name in (
            "fractional_multiVgpu",
            "heterogeneous_timeSlice_profile",
            "heterogeneous_timeSlice_sizes",
            "homogeneous_placements",
            "mig_timeSlicing",
            "mig_timeSlicing_mode",
        )
    ),
)
