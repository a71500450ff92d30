"""/proc: what the kernel tells of itself."""

from __future__ import annotations

from fakes.files.registry import node_file
from fakes.node import Node
from fakes.system.kernel import BUILD, RELEASE, VERSION_LINE
from fakes.system.machine import CPUS, MEMORY_KIB
from fakes.system.processors import SYSTEM_PROCESSORS
from fakes.system.uptime import boot_id, load_average, memory_used_kib, uptime_s
from fakes.world import World


@node_file("/proc/uptime")
def uptime(node: Node, world: World) -> str:
    """Seconds since the boot, and those that all processors together were idle (proc(5))."""
    seconds = uptime_s(node, world.now_us)
    used = node.processors.user_s(node.processes.values(), node.boots, world.now_us)
    idle = (CPUS - SYSTEM_PROCESSORS) * seconds - used
    return f"{seconds:.2f} {idle:.2f}\n"


@node_file("/proc/sys/kernel/random/boot_id")
def random_boot_id(node: Node, world: World) -> str:
    """Another one after every reboot (random(4))."""
    del world
    return f"{boot_id(node)}\n"


@node_file("/proc/version")
def version(node: Node, world: World) -> str:
    """The kernel's release, and by what it was built (proc(5))."""
    del node, world
    return f"{VERSION_LINE}\n"


@node_file("/proc/sys/kernel/osrelease")
def osrelease(node: Node, world: World) -> str:
    """What ``uname -r`` prints."""
    del node, world
    return f"{RELEASE}\n"


@node_file("/proc/sys/kernel/version")
def build(node: Node, world: World) -> str:
    """What ``uname -v`` prints."""
    del node, world
    return f"{BUILD}\n"


@node_file("/proc/modules")
def modules(node: Node, world: World) -> str:
    """A module a line: name, size, uses, who needs it, state, address (proc(5))."""
    del world
    rows = []
    for module in node.modules.loaded:
        holders = "".join(f"{name}," for name in node.modules.holders(module.name)) or "-"
        uses = node.modules.uses(node, module.name)
        rows.append(f"{module.name} {module.size_bytes} {uses} {holders} Live 0x0000000000000000\n")
    return "".join(rows)


@node_file("/proc/sys/vm/drop_caches", writable=True)
def drop_caches(node: Node, world: World) -> str:
    """Written by epilogs so that the next job finds no file cached: nothing else comes of it."""
    del node, world
    return "0\n"


@node_file("/proc/sys/vm/compact_memory", writable=True)
def compact_memory(node: Node, world: World) -> str:
    """Written by epilogs so that the next job finds large pages: nothing else comes of it."""
    del node, world
    return "0\n"


@node_file("/proc/cmdline")
def cmdline(node: Node, world: World) -> str:
    """What the boot loader gave the kernel, as GPU servers commonly have it."""
    del node, world
    return (
        f"BOOT_IMAGE=/boot/vmlinuz-{RELEASE} root=/dev/nvme0n1p2 ro console=tty0 "
        "console=ttyS0,115200n8 iommu=pt pci=realloc=off modprobe.blacklist=nouveau\n"
    )


@node_file("/proc/devices")
def devices(node: Node, world: World) -> str:
    """The major numbers of device files; those of the driver are 195 and dynamic ones."""
    del world
    rows = ["  1 mem", "  4 tty", "  5 /dev/tty", "  5 /dev/console", " 10 misc"]
    if "nvidia" in node.modules:
        rows += ["195 nvidia", "195 nvidiactl", "195 nvidia-modeset", "234 nvidia-nvswitch"]
        rows += ["235 nvidia-nvlink", "236 nvidia-caps", "237 nvidia-caps-imex-channels"]
    rows.append("231 infiniband_verbs")
    if "nvidia_uvm" in node.modules:
        rows.append("510 nvidia-uvm")
    character = "".join(f"{row}\n" for row in rows)
    return f"Character devices:\n{character}\nBlock devices:\n  8 sd\n259 blkext\n"


@node_file("/proc/loadavg")
def loadavg(node: Node, world: World) -> str:
    """The load, runnable and all threads, the last PID (proc(5))."""
    del world
    loads = " ".join(f"{load:.2f}" for load in load_average(node))
    return f"{loads} {1 + 4 * len(node.processes)}/3120 {max(node.pids, default=1)}\n"


@node_file("/proc/meminfo")
def meminfo(node: Node, world: World) -> str:
    """Memory of the machine: each process of a job holds some of it."""
    del world
    free_kib = MEMORY_KIB - memory_used_kib(node)
    rows = {
        "MemTotal": MEMORY_KIB,
        "MemFree": free_kib - _CACHED_KIB,
        "MemAvailable": free_kib,
        "Buffers": 524_288,
        "Cached": _CACHED_KIB,
        "SwapCached": 0,
        "SwapTotal": 0,
        "SwapFree": 0,
        "Shmem": 16_384,
        "HugePages_Total": 0,
    }
    return "".join(f"{name + ':':<16}{kib:>8} kB\n" for name, kib in rows.items()).replace(
        "HugePages_Total:       0 kB", "HugePages_Total:       0"
    )


_CACHED_KIB = 64 << 20
