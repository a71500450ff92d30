"""The report as XML (``-q -x``): elements in place of labels.

Names follow NVIDIA's nvsmi_device DTD as drivers 535 to 570 fill it; where no rule makes a name of
a label, it stands in a table here. Indentation is by tabs, as the real command's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from fakes.commands.nvidia_smi.report.layout import Entry, Listing

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_GROUPS = {
    "FB Memory Usage": "fb_memory_usage",
    "Conf Compute Protected Memory Usage": "cc_protected_memory_usage",
    "GPU Link Info": "pci_gpu_link_info",
    "PCIe Generation": "pcie_gen",
    "Link Width": "link_widths",
    "Bridge Chip": "pci_bridge_chip",
    "Inforom BBX Object Flush": "inforom_bbx_flush",
    "Bank Remap Availability Histogram": "row_remapper_histogram",
    "GPU Power Readings": "gpu_power_readings",
    "GPU Memory Power Readings ": "gpu_memory_power_readings",
    "Workload Power Profiles": "power_profiles",
    "Platform Info": "platformInfo",
}
_LINES = {
    "Serial Number": "serial",
    "GPU UUID": "uuid",
    "GPU PDI": "pdi",
    "FRU Part Number": "gpu_fru_part_number",
    "MultiGPU Board": "multigpu_board",
    "GPU C2C Mode": "c2c_mode",
    "Module Id": "module_id",
    "GPU Fabric GUID": "gpu_fabric_guid",
    "Image Version": "img_version",
    "Power Management Object": "pwr_object",
    "Host VGPU Mode": "host_vgpu_mode",
    "vGPU Heterogeneous Mode": "vgpu_heterogeneous_mode",
    "Replays Since Reset": "replay_counter",
    "Replay Number Rollovers": "replay_rollover_counter",
    "Tx Throughput": "tx_util",
    "Rx Throughput": "rx_util",
    "SRAM Uncorrectable SEC-DED": "sram_uncorrectable_secded",
    "CliqueId": "cliqueId",
    "ClusterUUID": "clusterUuid",
    "EDPp Multiplier": "edpp_multiplier",
    "Average FPS": "average_fps",
    "Active Sessions": "session_count",
    "Instantaneous Power Draw": "instant_power_draw",
    "GPU Current Temp": "gpu_temp",
    "GPU T.Limit Temp": "gpu_temp_tlimit",
    "GPU Shutdown T.Limit Temp": "gpu_temp_max_tlimit_threshold",
    "GPU Slowdown T.Limit Temp": "gpu_temp_slow_tlimit_threshold",
    "GPU Max Operating T.Limit Temp": "gpu_temp_max_gpu_tlimit_threshold",
    "Memory Max Operating T.Limit Temp": "gpu_temp_max_mem_tlimit_threshold",
    "GPU Shutdown Temp": "gpu_temp_max_threshold",
    "GPU Slowdown Temp": "gpu_temp_slow_threshold",
    "GPU Max Operating Temp": "gpu_temp_max_gpu_threshold",
    "Memory Max Operating Temp": "gpu_temp_max_mem_threshold",
    "Memory Current Temp": "memory_temp",
}
_IN_GROUP = {
    ("MIG Mode", "Current"): "current_mig",
    ("MIG Mode", "Pending"): "pending_mig",
    ("Driver Model", "Current"): "current_dm",
    ("Driver Model", "Pending"): "pending_dm",
    ("GPU Operation Mode", "Current"): "current_gom",
    ("GPU Operation Mode", "Pending"): "pending_gom",
    ("ECC Mode", "Current"): "current_ecc",
    ("ECC Mode", "Pending"): "pending_ecc",
    ("DRAM Encryption Mode", "Current"): "current_dram_encryption_mode",
    ("DRAM Encryption Mode", "Pending"): "pending_dram_encryption_mode",
    ("PCIe Generation", "Max"): "max_link_gen",
    ("PCIe Generation", "Current"): "current_link_gen",
    ("PCIe Generation", "Device Current"): "device_current_link_gen",
    ("PCIe Generation", "Device Max"): "max_device_link_gen",
    ("PCIe Generation", "Host Max"): "max_host_link_gen",
    ("Link Width", "Max"): "max_link_width",
    ("Link Width", "Current"): "current_link_width",
    ("Bridge Chip", "Type"): "bridge_chip_type",
    ("Bridge Chip", "Firmware"): "bridge_chip_fw",
    ("PCI", "Base Classcode"): "pci_base_class",
    ("PCI", "Sub Classcode"): "pci_sub_class",
    ("Remapped Rows", "Correctable Error"): "remapped_row_corr",
    ("Remapped Rows", "Uncorrectable Error"): "remapped_row_unc",
    ("Remapped Rows", "Pending"): "remapped_row_pending",
    ("Remapped Rows", "Remapping Failure Occurred"): "remapped_row_failure",
    ("Clocks Event Reasons", "Idle"): "clocks_event_reason_gpu_idle",
    ("Clocks Event Reasons", "Display Clock Setting"): (
        "clocks_event_reason_display_clocks_setting"
    ),
    ("Clocks Event Reasons Counters", "SW Power Capping"): (
        "clocks_event_reasons_counters_sw_power_cap"
    ),
    ("Clocks Event Reasons Counters", "SW Thermal Slowdown"): (
        "clocks_event_reasons_counters_sw_therm_slowdown"
    ),
    ("Clocks Event Reasons Counters", "HW Thermal Slowdown"): (
        "clocks_event_reasons_counters_hw_therm_slowdown"
    ),
    ("Clocks Event Reasons Counters", "HW Power Braking"): (
        "clocks_event_reasons_counters_hw_power_brake"
    ),
}
_PREFIXES = {
    "PCI": "pci_",
    "Clocks Event Reasons": "clocks_event_reason_",
    "Clocks Event Reasons Counters": "clocks_event_reasons_counters_",
    "Bank Remap Availability Histogram": "row_remapper_histogram_",
}
_PREFIXED_PCI = frozenset({"Bus", "Device", "Domain", "Device Id", "Bus Id", "Sub System Id"})
_CLOCK_GROUPS = frozenset(
    {
        "Clocks", "Applications Clocks", "Default Applications Clocks", "Deferred Clocks",
        "Max Clocks", "Max Customer Boost Clocks",
    }
)  # fmt: skip
_CLOCKS = {
    "Graphics": "graphics_clock",
    "SM": "sm_clock",
    "Memory": "mem_clock",
    "Video": "video_clock",
}
_PROCESS = {
    "GPU instance ID": "gpu_instance_id",
    "Compute instance ID": "compute_instance_id",
    "Process ID": "pid",
    "Type": "type",
    "Name": "process_name",
    "Used GPU Memory": "used_memory",
}
_PAGES = {
    "Single Bit ECC": "multiple_single_bit_retirement",
    "Double Bit ECC": "double_bit_retirement",
}


class XmlSheet:
    """Elements, in ``lines``."""

    def __init__(self) -> None:
        self.lines = ['<?xml version="1.0" ?>\n']
        self.lines.append('<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n')
        self._open: list[str] = []
        self._labels: list[str] = []

    def line(self, label: str, value: str) -> None:
        """An element with a value."""
        group = self._labels[-1] if self._labels else ""
        if group == "Retired Pages":
            self._pages(label, value)
            return
        self._element(_name(group, label.strip()), value)

    def open(self, label: str) -> None:
        """An element with others in it."""
        self._labels.append(label)
        self.begin(_GROUPS.get(label) or _plain(label))

    def close(self) -> None:
        """Its end."""
        self._labels.pop()
        self.end()

    def listing(self, part: Listing, entries: Sequence[Entry]) -> None:
        """A list: of processes, each an element of its own."""
        self.begin(_plain(part.label))
        for at, entry in enumerate(entries):
            if entry.label == next(iter(_PROCESS)):
                if at:
                    self.end()
                self.begin("process_info")
            self._element(_PROCESS.get(entry.label) or _plain(entry.label), entry.value)
        if entries:
            self.end()
        self.end()

    def begin(self, name: str, **attributes: str) -> None:
        """Open an element by its name."""
        given = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
        self.lines.append(f"{self._indent}<{name}{given}>\n")
        self._open.append(name)

    def end(self) -> None:
        """Close the last one."""
        name = self._open.pop()
        self.lines.append(f"{self._indent}</{name}>\n")

    def _element(self, name: str, value: str) -> None:
        self.lines.append(f"{self._indent}<{name}>{escape(value, quote=False)}</{name}>\n")

    def _pages(self, label: str, value: str) -> None:
        if label not in _PAGES:
            self.begin("pending_blacklist" if "Blacklist" in label else _plain(label))
            self._element("pending_retirement", value)
            self.end()
            return
        self.begin(_PAGES[label])
        self._element("retired_count", value)
        self._element("retired_pagelist", "N/A" if value in ("0", "N/A") else "")
        self.end()

    @property
    def _indent(self) -> str:
        return "\t" * len(self._open)


def _name(group: str, label: str) -> str:
    if (name := _IN_GROUP.get((group, label))) is not None:
        return name
    if group in _CLOCK_GROUPS:
        return _CLOCKS.get(label) or _plain(label)
    if group == "Utilization":
        return f"{_plain(label)}_util"
    if group in _PREFIXES and (group != "PCI" or label in _PREFIXED_PCI):
        return _PREFIXES[group] + _plain(label)
    return _LINES.get(label) or _plain(label)


def _plain(label: str) -> str:
    return _NOT_IN_A_NAME.sub("_", label.lower()).strip("_")
