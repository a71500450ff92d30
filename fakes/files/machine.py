"""The machine itself: processors, memory, and what its BIOS says."""

from __future__ import annotations

from functools import cache

from fakes.files.registry import Content, Files, Link, node_file, node_tree
from fakes.node import Node
from fakes.system import machine
from fakes.world import World


@node_file("/proc/cpuinfo")
def cpuinfo(node: Node, world: World) -> str:
    """A paragraph for each processor."""
    del node, world
    return _cpuinfo()


@cache
def _cpuinfo() -> str:
    said = []
    for numa_node in range(machine.NUMA_NODES):
        for part in machine.cpus_of(numa_node):
            for at, cpu in enumerate(part):
                said.append((cpu, _processor(cpu, numa_node, at)))
    return "".join(text for _, text in sorted(said))


def _processor(cpu: int, socket: int, core: int) -> str:
    return (
        f"processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: {machine.CPU_FAMILY}\n"
        f"model\t\t: {machine.CPU_MODEL_NUMBER}\nmodel name\t: {machine.CPU_MODEL}\n"
        f"stepping\t: {machine.CPU_STEPPING}\ncpu MHz\t\t: {machine.CPU_MHZ:.3f}\n"
        f"cache size\t: {machine.L3_KIB_PER_SOCKET} KB\nphysical id\t: {socket}\n"
        f"siblings\t: {machine.CORES_PER_SOCKET * machine.THREADS_PER_CORE}\n"
        f"core id\t\t: {core}\ncpu cores\t: {machine.CORES_PER_SOCKET}\n"
        f"flags\t\t: {machine.CPU_FLAGS}\nbogomips\t: {2 * machine.CPU_MHZ:.2f}\n\n"
    )


@node_tree("/sys/class/dmi/id")
def dmi(node: Node, world: World) -> Files:
    """What the BIOS says, as dmidecode's (smbios)."""
    del world
    own = machine.identity(node.name)
    return {
        "sys_vendor": f"{machine.MANUFACTURER}\n",
        "product_name": f"{machine.PRODUCT}\n",
        "product_serial": f"{own.serial}\n",
        "product_uuid": f"{own.uuid}\n",
        "board_vendor": f"{machine.MANUFACTURER}\n",
        "board_name": f"{machine.BOARD}\n",
        "board_serial": f"{own.board_serial}\n",
        "bios_vendor": f"{machine.BIOS_VENDOR}\n",
        "bios_version": f"{machine.BIOS_VERSION}\n",
        "bios_date": f"{machine.BIOS_DATE}\n",
        "chassis_asset_tag": f"{own.asset_tag}\n",
        "chassis_vendor": f"{machine.MANUFACTURER}\n",
    }


@node_tree("/sys/devices/system/cpu")
def cpus(node: Node, world: World) -> Files:
    """Which processors there are, and how they run."""
    del node, world
    return _cpus()


@cache
def _cpus() -> Files:
    every = f"0-{machine.CPUS - 1}\n"
    files: dict[str, Content] = {
        "online": every, "possible": every, "present": every, "offline": "\n",
        "smt/active": "1\n", "smt/control": "on\n",
    }  # fmt: skip
    files["cpu0/cpufreq"] = Link("../cpufreq/policy0")
    for cpu in range(1, machine.CPUS):
        files[f"cpu{cpu}"] = Link("cpu0")  # they are all alike
    policy = "cpufreq/policy0"
    files[f"{policy}/scaling_governor"] = "performance\n"
    files[f"{policy}/scaling_driver"] = "intel_pstate\n"
    files[f"{policy}/scaling_cur_freq"] = f"{machine.CPU_MAX_MHZ * 1000}\n"
    files[f"{policy}/cpuinfo_cur_freq"] = f"{machine.CPU_MAX_MHZ * 1000}\n"
    files[f"{policy}/scaling_max_freq"] = f"{machine.CPU_MAX_MHZ * 1000}\n"
    files[f"{policy}/scaling_min_freq"] = f"{machine.CPU_MIN_MHZ * 1000}\n"
    return files


@node_tree("/sys/devices/system/node")
def numa_nodes(node: Node, world: World) -> Files:
    """The NUMA nodes, their processors and memory."""
    del node, world
    every = f"0-{machine.NUMA_NODES - 1}\n"
    files = {"online": every, "possible": every, "has_cpu": every, "has_memory": every}
    for number in range(machine.NUMA_NODES):
        files[f"node{number}/cpulist"] = f"{machine.cpu_list(number)}\n"
        distances = (10 if other == number else 21 for other in range(machine.NUMA_NODES))
        files[f"node{number}/distance"] = " ".join(map(str, distances)) + "\n"
        total_kib = machine.memory_kib_of(number)
        files[f"node{number}/meminfo"] = (
            f"Node {number} MemTotal:       {total_kib} kB\n"
            f"Node {number} MemFree:        {total_kib * 9 // 10} kB\n"
            f"Node {number} HugePages_Total:     0\n"
        )
    return files
