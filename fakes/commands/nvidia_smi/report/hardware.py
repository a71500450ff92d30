"""The report's first part: what the GPU is, how it is set, where it is plugged in."""

from __future__ import annotations

from fakes.commands.nvidia_smi.fields.fabric import place
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.report.layout import Part, group, line
from fakes.commands.nvidia_smi.words import (
    ARCHITECTURES,
    BRANDS,
    VIRTUALIZATION_MODES,
    Read,
    field_value,
    nothing,
    one_of,
    part,
    said,
    yes,
)
from fakes.nvml.codes import Code

_TX, _RX = 0, 1
_ROLLOVERS = 95
_OUTBOUND, _INBOUND = 228, 229
_ATOMICS = (
    "FETCHADD_32", "FETCHADD_64", "SWAP_32", "SWAP_64", "CAS_32", "CAS_64", "CAS_128",
)  # fmt: skip
_VGPU_HETEROGENEOUS = ("Disabled", "Enabled")


def _atomics(mask: int) -> str:
    """Names of the atomic operations, each with a space behind it; N/A if there are none."""
    names = [name for bit, name in enumerate(_ATOMICS) if mask >> bit & 1]
    return "".join(f"{name} " for name in names) or "N/A"


def _racked(read: Read) -> Read:
    """A place in the rack, which only GPUs in a chassis with a number have."""

    def checked(gpu: Gpu) -> str:
        if not place(gpu).chassis_serial_number.rstrip(b"\0"):
            raise Missing(Code.NOT_SUPPORTED)
        return read(gpu)

    return checked


def _in_rack(label: str, name: str) -> Part:
    plain = line(label, name)
    return line(label, _racked(plain.read))


HARDWARE: tuple[Part, ...] = (
    line("Product Name", "name"),
    line("Product Brand", said("nvmlDeviceGetBrand", by=lambda brand: one_of(BRANDS, brand))),
    line(
        "Product Architecture",
        said("nvmlDeviceGetArchitecture", by=lambda number: one_of(ARCHITECTURES, number)),
    ),
    line("Display Mode", "display_mode"),
    line("Display Attached", "display_attached"),
    line("Display Active", "display_active"),
    line("Persistence Mode", "persistence_mode"),
    line("Addressing Mode", "addressing_mode"),
    group("MIG Mode", line("Current", "mig.mode.current"), line("Pending", "mig.mode.pending")),
    line("Accounting Mode", "accounting.mode", section="ACCOUNTING"),
    line("Accounting Mode Buffer Size", "accounting.buffer_size", section="ACCOUNTING"),
    group(
        "Driver Model",
        line("Current", "driver_model.current"),
        line("Pending", "driver_model.pending"),
    ),
    line("Serial Number", "serial"),
    line("GPU UUID", "uuid"),
    line("GPU PDI", said("nvmlDeviceGetPdi", by="0x{:016x}".format)),
    line("Minor Number", said("nvmlDeviceGetMinorNumber")),
    line("VBIOS Version", "vbios_version"),
    line("MultiGPU Board", said("nvmlDeviceGetMultiGpuBoard", by=yes)),
    line("Board ID", said("nvmlDeviceGetBoardId", by=hex)),
    line("Board Part Number", said("nvmlDeviceGetBoardPartNumber")),
    line("GPU Part Number", nothing),
    line("FRU Part Number", nothing),
    group(
        "Platform Info",
        _in_rack("Chassis Serial Number", "platform.chassis_serial_number"),
        _in_rack("Slot Number", "platform.slot_number"),
        _in_rack("Tray Index", "platform.tray_index"),
        _in_rack("Host ID", "platform.host_id"),
        _in_rack("Peer Type", "platform.peer_type"),
        line("Module Id", "platform.module_id"),
        _in_rack("GPU Fabric GUID", "platform.gpu_fabric_guid"),
    ),
    group(
        "Inforom Version",
        line("Image Version", "inforom.img"),
        line("OEM Object", "inforom.oem"),
        line("ECC Object", "inforom.ecc"),
        line("Power Management Object", "inforom.pwr"),
    ),
    group(
        "Inforom BBX Object Flush",
        line("Latest Timestamp", part("nvmlDeviceGetLastBBXFlushTime", 0)),
        line("Latest Duration", part("nvmlDeviceGetLastBBXFlushTime", 1), " us"),
    ),
    group("GPU Operation Mode", line("Current", "gom.current"), line("Pending", "gom.pending")),
    line("GPU C2C Mode", "c2c.mode"),
    group(
        "GPU Virtualization Mode",
        line(
            "Virtualization Mode",
            said(
                "nvmlDeviceGetVirtualizationMode",
                by=lambda mode: one_of(VIRTUALIZATION_MODES, mode),
            ),
        ),
        line("Host VGPU Mode", said("nvmlDeviceGetHostVgpuMode")),
        line(
            "vGPU Heterogeneous Mode",
            said(
                "nvmlDeviceGetVgpuHeterogeneousMode",
                by=lambda mode: one_of(_VGPU_HETEROGENEOUS, mode),
            ),
        ),
    ),
    line("GPU Recovery Action", "gpu_recovery_action"),
    line(
        "GSP Firmware Version",
        said("nvmlDeviceGetGspFirmwareVersion"),
        section="GSP_FIRMWARE_VERSION",
    ),
    group("IBMNPU", line("Relaxed Ordering Mode", nothing)),
    group(
        "PCI",
        line("Bus", "pci.bus"),
        line("Device", "pci.device"),
        line("Domain", "pci.domain"),
        line("Base Classcode", "pci.baseClass"),
        line("Sub Classcode", "pci.subClass"),
        line("Device Id", "pci.device_id"),
        line("Bus Id", "pci.bus_id"),
        line("Sub System Id", "pci.sub_device_id"),
        group(
            "GPU Link Info",
            group(
                "PCIe Generation",
                line("Max", "pcie.link.gen.max"),
                line("Current", "pcie.link.gen.current"),
                line("Device Current", "pcie.link.gen.gpucurrent"),
                line("Device Max", "pcie.link.gen.gpumax"),
                line("Host Max", "pcie.link.gen.hostmax"),
            ),
            group(
                "Link Width",
                line("Max", "pcie.link.width.max", "x"),
                line("Current", "pcie.link.width.current", "x"),
            ),
        ),
        group("Bridge Chip", line("Type", nothing), line("Firmware", nothing)),
        line("Replays Since Reset", said("nvmlDeviceGetPcieReplayCounter")),
        line("Replay Number Rollovers", field_value(_ROLLOVERS)),
        line("Tx Throughput", said("nvmlDeviceGetPcieThroughput", _TX), " KB/s"),
        line("Rx Throughput", said("nvmlDeviceGetPcieThroughput", _RX), " KB/s"),
        line("Atomic Caps Outbound", field_value(_OUTBOUND, by=_atomics)),
        line("Atomic Caps Inbound", field_value(_INBOUND, by=_atomics)),
    ),
    line("Fan Speed", "fan.speed"),
)
