"""For how long a node has been up, since which boot, and how much it has to do."""

from __future__ import annotations

import uuid

from fakes.hardware.noise import mix, seed_of
from fakes.node import Node
from fakes.system.processors import PROCESSORS_PER_PROCESS, SYSTEM_PROCESSORS


def uptime_s(node: Node, at_us: int) -> float:
    """For how long a node has been up, at a moment of the run."""
    if node.booted_us is not None:
        return max(0.0, (at_us - node.booted_us) / 1e6)
    return node.up_before_s + at_us / 1e6


def booted_unix_s(node: Node) -> float:
    """When a node came up, on the calendar."""
    if node.booted_us is not None:
        return node.epoch.unix_us(node.booted_us) / 1e6
    return node.epoch.unix_us(0) / 1e6 - node.up_before_s


def boot_id(node: Node, boot: int | None = None) -> uuid.UUID:
    """What the kernel calls a boot (random/boot_id): another one after every reboot.

    ``boot`` counts from 0; None is the present one.
    """
    number = node.boots if boot is None else boot
    high, low = (mix(seed_of(node.name, "boot", number), half) for half in (0, 1))
    return uuid.UUID(int=high << 64 | low, version=4)


def load_average(node: Node) -> tuple[float, float, float]:
    """The load: a process of a job keeps some processors busy."""
    load = SYSTEM_PROCESSORS + PROCESSORS_PER_PROCESS * len(node.processes)
    return load, load, load


def memory_used_kib(node: Node) -> int:
    """The machine's memory in use: the system's own, and some of each process of a job."""
    return (24 << 20) + (20 << 20) * len(node.processes)
