"""What a reset, a reboot and a power cycle mend, what they do not, and when they are refused.

From NVIDIA's documents on GPU memory errors and Xids, and operators' runbooks:

============  ===========================================  =====================================
step          mends                                        does not
============  ===========================================  =====================================
GPU reset     a GPU that asks for it; pending remaps;      a GPU off the bus; spent spare rows;
              volatile counters; limits set by hand;       heat; a link that is broken;
              memory that the driver forgot                what a zombie holds (it is in use)
reboot        the same of every GPU, and the driver        a GPU off the bus
power cycle   the same, and GPUs off the bus               what is broken for good
============  ===========================================  =====================================

DCGM's host engine and its exporter have every GPU open while they run: a reset is refused then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial

from fakes.actions import Action, Effect
from fakes.clock import SECOND_US
from fakes.driver.texts import driver_text
from fakes.hardware import unowned
from fakes.hardware.gpu import Gpu
from fakes.node import Node, Power
from fakes.system.kernel import VERSION_LINE
from fakes.world import World

RESET_US = 3 * SECOND_US
REBOOT_US = 240 * SECOND_US
POWER_CYCLE_US = 300 * SECOND_US
"""How long each takes: a reset is seconds, a server with eight GPUs boots for minutes."""


_HAVE_ALL_GPUS_OPEN = ("nvidia-dcgm", "dcgm-exporter")
"""Services that keep NVML, and so /dev/nvidia*, open. The exporter has a host engine of its own."""


class Refusal(Enum):
    """Why a GPU cannot be reset."""

    IN_USE = "in use by another client"
    PERSISTENCE = "persistence mode is on"
    LOST = "GPU is lost"


@dataclass(frozen=True, slots=True)
class Reset:
    """What came of a reset."""

    gpu: Gpu
    refusal: Refusal | None = None


def reset_gpu(node: Node, gpu: Gpu, at_us: int) -> Reset:
    """Reset a GPU, unless somebody uses it, the driver holds it, or it is not there."""
    refusal = None
    if gpu.lost is not None:
        refusal = Refusal.LOST
    elif unowned.is_held(gpu) or any(map(node.services.is_active, _HAVE_ALL_GPUS_OPEN)):
        refusal = Refusal.IN_USE
    elif gpu.persistence:
        refusal = Refusal.PERSISTENCE
    note = Action(
        at_us,
        Effect.RESET_GPU,
        node.name,
        gpu.index,
        ok=refusal is None,
        detail=refusal.value if refusal else "",
    )
    node.actions.note(note)
    if refusal is None:
        renew(gpu, at_us)
    return Reset(gpu, refusal)


def renew(gpu: Gpu, at_us: int) -> None:
    """What a GPU is like when its driver has begun anew with it."""
    gpu.reset_required = False
    gpu.recovery_action = 0
    gpu.memory_errors = gpu.memory_errors.forgotten(at_us, aggregate=False)
    gpu.remapped_rows.pending = False
    gpu.retired_pages.pending = False
    unowned.free(gpu, at_us)
    gpu.set_settings(gpu.settings.after_reset(), at_us)
    gpu.set_power_limit(gpu.profile.power.limit_mw, at_us)


def reboot(world: World, node: Node) -> None:
    """Shut a node down and start it again."""
    node.actions.note(Action(world.now_us, Effect.REBOOT, node.name))
    _go_down(world, node)
    _boot(world, node, REBOOT_US)


def power_cycle(world: World, node: Node) -> None:
    """Take the power from a node and give it back."""
    node.actions.note(Action(world.now_us, Effect.POWER_CYCLE, node.name))
    _go_down(world, node)
    _boot(world, node, POWER_CYCLE_US, cold=True)


def power_off(world: World, node: Node) -> None:
    """Shut a node down; it stays so until somebody turns it on."""
    node.actions.note(Action(world.now_us, Effect.POWER_OFF, node.name))
    _go_down(world, node)
    node.power = Power.OFF


def power_on(world: World, node: Node) -> None:
    """Start a node that is off."""
    node.actions.note(Action(world.now_us, Effect.POWER_ON, node.name))
    if node.power is Power.OFF:
        _boot(world, node, REBOOT_US, cold=True)


def fall(world: World, node: Node) -> None:
    """Let a node be off: nobody's action."""
    _go_down(world, node)


def come_back(world: World, node: Node) -> None:
    """Let a node that is off boot: nobody's action."""
    if node.power is Power.OFF:
        _boot(world, node, REBOOT_US, cold=True)


def _go_down(world: World, node: Node) -> None:
    node.power = Power.OFF
    node.boots += 1
    for pid in sorted(node.processes):
        node.end_process(pid, world.now_us)
    node.end_services()
    world.cluster.node_went_down(node.name)


def _boot(world: World, node: Node, for_us: int, *, cold: bool = False) -> None:
    node.power = Power.BOOTING
    come_up = partial(_come_up, world, node, node.boots, cold=cold)
    world.schedule(world.now_us + for_us, f"{node.name}/boot", come_up)


def _come_up(world: World, node: Node, boot: int, *, cold: bool) -> None:
    if node.boots != boot:
        return  # it went down again meanwhile, and is brought up by another
    node.power = Power.ON
    node.booted_us = world.now_us
    node.kernel_log.write(world.now_us, VERSION_LINE)
    for gpu in node.gpus:
        if cold:
            gpu.lost = None
        if gpu.lost is None:
            renew(gpu, world.now_us)
    node.modules.boot(node)
    node.kernel_log.write(world.now_us, driver_text("module_loaded", module=node.driver.version))
    node.begin_services(world)
    world.cluster.node_came_up(node.name)
