"""/proc: what the kernel tells of itself."""

from __future__ import annotations

from fakes.files.registry import node_file
from fakes.node import Node
from fakes.uptime import boot_id, uptime_s
from fakes.world import World


@node_file("/proc/uptime")
def uptime(node: Node, world: World) -> str:
    """Seconds since the boot, and those that all processors together were idle (proc(5))."""
    seconds = uptime_s(node, world.now_us)
    return f"{seconds:.2f} {seconds * 100:.2f}\n"


@node_file("/proc/sys/kernel/random/boot_id")
def random_boot_id(node: Node, world: World) -> str:
    """Another one after every reboot (random(4))."""
    del world
    return f"{boot_id(node)}\n"


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


@node_file("/proc/cmdline")
def cmdline(node: Node, world: World) -> str:
    """What the boot loader gave the kernel, as GPU servers commonly have it."""
    del node, world
    return (
        "BOOT_IMAGE=/boot/vmlinuz-5.15.0-126-generic root=/dev/nvme0n1p2 ro console=tty0 "
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
