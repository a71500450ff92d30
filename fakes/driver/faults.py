"""A driver whose parts do not fit together, that is not there, or that is replaced."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fakes.driver.texts import driver_text

if TYPE_CHECKING:
    from fakes.node import Node

DRIVER_NOT_LOADED = 9
VERSION_MISMATCH = 18
UNKNOWN = 999
"""nvmlReturn_t."""

_MISMATCH = ("client", "library", "module", "advice", "end")


def tell_mismatch(node: Node, library: str, client: str, pid: int, at_us: int) -> None:
    """Print what the module says when a program comes with a library of another version."""
    parts = {"client": client, "pid": pid, "library": library, "module": node.driver.version}
    for name in _MISMATCH:
        node.kernel_log.write(at_us, driver_text(f"api_mismatch_{name}", **parts))


def load_version(node: Node, version: str, at_us: int) -> None:
    """Load the module of another version, with the library that belongs to it."""
    cuda_branch = node.driver.nvml.split(".", 1)[0]
    node.driver = replace(node.driver, version=version, nvml=f"{cuda_branch}.{version}")
    node.kernel_log.write(at_us, driver_text("module_loaded", module=version))


def end_all_processes(node: Node, at_us: int) -> None:
    """End whatever uses a GPU: the module can be taken out only when nobody does."""
    for pid in sorted(node.processes):
        node.end_process(pid, at_us)
