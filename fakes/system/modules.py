"""The kernel's modules on a node: which are loaded, who needs whom, and what holds them.

Names and sizes are those of lsmod on an HGX H100 server with Ubuntu 22.04 and driver 570 (the open
kernel modules), and of MLNX_OFED 24.10. A module that another one needs, or that somebody holds
open, cannot be taken out (delete_module(2)).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.actions import Action, Effect
from fakes.driver.disturbance import Refusal, calm, disturb
from fakes.driver.faults import DRIVER_NOT_LOADED
from fakes.driver.texts import driver_text

if TYPE_CHECKING:
    from fakes.node import Node
    from fakes.world import World

DRIVER = "nvidia"


@dataclass(frozen=True, slots=True)
class Module:
    """A module, its size in memory, and the modules that it needs."""

    name: str
    size_bytes: int
    needs: tuple[str, ...] = ()


KNOWN = {
    module.name: module
    for module in (
        Module("nvidia_uvm", 4_943_872, ("nvidia",)),
        Module("nvidia_drm", 131_072, ("nvidia_modeset",)),
        Module("nvidia_modeset", 1_724_416, ("nvidia",)),
        Module("nvidia_peermem", 16_384, ("nvidia", "ib_core")),
        Module("nvidia", 11_579_392),
        Module("nvidia_fs", 323_584),
        Module("gdrdrv", 28_672, ("nvidia",)),
        Module("rdma_ucm", 36_864, ("rdma_cm", "ib_uverbs", "ib_core")),
        Module("rdma_cm", 135_168, ("iw_cm", "ib_cm", "ib_core")),
        Module("iw_cm", 61_440, ("ib_core",)),
        Module("ib_ipoib", 155_648, ("ib_cm", "ib_core")),
        Module("ib_cm", 135_168, ("ib_core",)),
        Module("ib_umad", 40_960, ("ib_core",)),
        Module("mlx5_ib", 475_136, ("ib_uverbs", "ib_core", "mlx5_core")),
        Module("ib_uverbs", 200_704, ("ib_core",)),
        Module("ib_core", 520_192),
        Module("mlx5_core", 2_273_280),
        Module("nvme", 57_344, ("nvme_core",)),
        Module("nvme_core", 212_992),
        Module("overlay", 155_648),
        Module("lustre", 1_105_920),
        Module("ipmi_ssif", 45_056, ("ipmi_msghandler",)),
        Module("ipmi_si", 86_016, ("ipmi_msghandler",)),
        Module("ipmi_devintf", 20_480, ("ipmi_msghandler",)),
        Module("ipmi_msghandler", 143_360),
    )
}
_NOT_AT_BOOT = frozenset({"nvidia_fs", "lustre"})


class InUseError(Exception):
    """A module that cannot be taken out. ``holders`` are the modules that need it, if any does."""

    def __init__(self, name: str, holders: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.holders = holders


class Modules:
    """The modules that are ``loaded``, the last one first, as the kernel lists them."""

    def __init__(self) -> None:
        self._refusal: Refusal | None = None
        self._set(name for name in KNOWN if name not in _NOT_AT_BOOT)

    def _set(self, names: Iterable[str]) -> None:
        """Have these loaded, and know who needs whom."""
        self._names = frozenset(names)
        self.loaded = tuple(module for name, module in KNOWN.items() if name in self._names)
        self._holders = {
            name: tuple(module.name for module in self.loaded if name in module.needs)
            for name in KNOWN
        }

    def __contains__(self, name: str) -> bool:
        return canonical(name) in self._names

    def holders(self, name: str) -> tuple[str, ...]:
        """The loaded modules that need one."""
        return self._holders[name]

    def uses(self, node: Node, name: str) -> int:
        """How often a module is held: by modules, and by programs that have its device open."""
        return len(self.holders(name)) + _opened(node, name)

    def load(self, node: Node, world: World, name: str) -> None:
        """Load a module, and those that it needs. One that is unknown is a ``KeyError``."""
        name = canonical(name)
        needed = KNOWN[name].needs
        if name in self._names:
            return
        for each in needed:
            self.load(node, world, each)
        node.actions.note(Action(world.now_us, Effect.LOAD_MODULE, node.name, detail=name))
        self._set({*self._names, name})
        if name == DRIVER:
            self._driver_is_back(node, world.now_us)

    def unload(self, node: Node, world: World, name: str) -> None:
        """Take a module out. It is in use: :class:`InUseError`; it is not there: ``KeyError``."""
        name = canonical(name)
        if name not in self._names:
            raise KeyError(name)
        holders = self.holders(name)
        refused = bool(holders) or _opened(node, name) > 0
        action = Action(world.now_us, Effect.UNLOAD_MODULE, node.name, ok=not refused, detail=name)
        node.actions.note(action)
        if refused:
            raise InUseError(name, holders)
        self._set(self._names - {name})
        if name == DRIVER:
            self._driver_is_gone(node, world.now_us)

    def take_out(self, node: Node, at_us: int) -> None:
        """Let the driver's modules be out: nobody's action, and whoever holds them."""
        if DRIVER in self:
            self._set(name for name in self._names if DRIVER not in _needed_by(name))
            self._driver_is_gone(node, at_us)

    def bring_back(self, node: Node, at_us: int) -> None:
        """Let the driver's modules be loaded again: nobody's action."""
        if DRIVER not in self:
            self._set({*self._names, *(name for name in KNOWN if DRIVER in _needed_by(name))})
            self._driver_is_back(node, at_us)

    def boot(self, node: Node) -> None:
        """Be as after a boot."""
        self._set(name for name in KNOWN if name not in _NOT_AT_BOOT)
        if self._refusal is not None:
            calm(node, self._refusal)
            self._refusal = None

    def _driver_is_gone(self, node: Node, at_us: int) -> None:
        self._refusal = Refusal(DRIVER_NOT_LOADED, inside=True)
        disturb(node, self._refusal)
        node.kernel_log.write(
            at_us, "nvidia-nvlink: Unregistered Nvlink Core, major device number 510"
        )

    def _driver_is_back(self, node: Node, at_us: int) -> None:
        if self._refusal is not None:
            calm(node, self._refusal)
            self._refusal = None
        text = driver_text("module_loaded", module=node.driver.version)
        node.kernel_log.write(at_us, text)


def canonical(name: str) -> str:
    """A module's name as the kernel has it: ``nvidia-uvm`` is nvidia_uvm."""
    return name.replace("-", "_")


def _needed_by(name: str) -> set[str]:
    """A module, and all that it needs."""
    return {name}.union(*(_needed_by(needed) for needed in KNOWN[name].needs))


def _opened(node: Node, name: str) -> int:
    """How many programs have a module's device open."""
    ranks = sum(len(gpu.uses) for gpu in node.gpus)
    if name == "nvidia_uvm":
        return ranks
    if name == DRIVER:
        return ranks + sum(gpu.persistence for gpu in node.gpus)
    return 0
