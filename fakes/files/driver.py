"""/proc/driver/nvidia, nvidia-nvswitch: what the driver tells of itself, its GPUs and NVSwitches.

The layout is that of the driver's own nv-procfs.c (open-gpu-kernel-modules).
"""

from __future__ import annotations

from fakes.files.registry import Content, Files, Folder, node_tree
from fakes.hardware.gpu import Gpu
from fakes.hardware.links import switches_of
from fakes.node import Node
from fakes.world import World

_PARAMS = (
    ("ResmanDebugLevel", "4294967295"),
    ("RmLogonRC", "1"),
    ("ModifyDeviceFiles", "1"),
    ("DeviceFileUID", "0"),
    ("DeviceFileGID", "0"),
    ("DeviceFileMode", "438"),
    ("InitializeSystemMemoryAllocations", "1"),
    ("UsePageAttributeTable", "4294967295"),
    ("EnableMSI", "1"),
    ("EnablePCIeGen3", "0"),
    ("MemoryPoolSize", "0"),
    ("EnableStreamMemOPs", "0"),
    ("EnableResizableBar", "0"),
    ("DynamicPowerManagement", "3"),
    ("OpenRmEnableUnsupportedGpus", "1"),
    ("GrdmaPciTopoCheckOverride", "0"),
)


@node_tree("/proc/driver")
def driver(node: Node, world: World) -> Files:
    """All of it while the module is loaded; nothing while it is not."""
    del world
    if "nvidia" not in node.modules:
        return {}
    files: dict[str, Content] = {
        "nvidia/version": _version(node),
        "nvidia/params": "".join(f"{name}: {value}\n" for name, value in _PARAMS),
        "nvidia/registry": 'Binary: ""\n',
        "nvidia/capabilities/fabric-imex-mgmt": "DeviceFileMinor: 1\nDeviceFileMode: 256\n",
        "nvidia/capabilities/mig/config": "DeviceFileMinor: 1\nDeviceFileMode: 256\n",
        "nvidia/capabilities/mig/monitor": "DeviceFileMinor: 2\nDeviceFileMode: 292\n",
        "nvidia/gpus": Folder(),
        "nvidia/warnings": Folder(),
    }
    for gpu in node.gpus:
        home = f"nvidia/gpus/{gpu.bus_id}.0"
        files[f"{home}/information"] = _information(gpu, node.driver.version)
        files[f"{home}/registry"] = 'Binary: ""\n'
    for switch in switches_of(node) if node.gpus else ():
        files[f"nvidia-nvswitch/devices/{switch.bus_id}.0"] = Folder()
        files["nvidia-nvswitch/permissions"] = "DeviceFileMode: 438\n"
    return files


def _version(node: Node) -> str:
    return (
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {node.driver.version}  "
        "Thu Feb 20 18:14:13 UTC 2025\n"
        "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n"
    )


def _information(gpu: Gpu, version: str) -> str:
    return (
        f"Model: \t\t {gpu.profile.name}\n"
        f"IRQ:   \t\t {64 + gpu.index}\n"
        f"GPU UUID: \t {gpu.uuid}\n"
        f"Video BIOS: \t {gpu.profile.vbios.lower()}\n"
        "Bus Type: \t PCIe\n"
        "DMA Size: \t 52 bits\n"
        "DMA Mask: \t 0xfffffffffffff\n"
        f"Bus Location: \t {gpu.bus_id}.0\n"
        f"Device Minor: \t {gpu.index}\n"
        f"GPU Firmware: \t {version}\n"
        "GPU Excluded:\t No\n"
    )
