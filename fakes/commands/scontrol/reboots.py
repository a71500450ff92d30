"""``scontrol reboot``: when no job is left; with ASAP none begins meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.scontrol.caller import Caller, RefusedError
from fakes.hardware.recovery import reboot
from fakes.jobs.cluster import UnknownError
from fakes.slurm.hostlist import HostlistError, expand
from fakes.world import World

_LOOKS_EVERY_US = 30_000_000


def reboot_nodes(caller: Caller, words: Sequence[str]) -> None:
    """``reboot [ASAP] [nextstate=RESUME|DOWN] [reason=TEXT] NODES``."""
    asap, next_state, reason, listed = False, "", "", []
    for word in words:
        name, equals, value = word.partition("=")
        if word.upper() == "ASAP":
            asap = True
        elif equals and name.lower() == "nextstate":
            next_state = value.upper()
            if next_state not in ("RESUME", "DOWN"):
                raise RefusedError(f"Invalid state: {value}\nValid states: DOWN, RESUME")
        elif equals and name.lower() == "reason":
            reason = value.strip("'\"")
        else:
            listed.append(word)
    for name in _nodes(caller, listed):
        if asap:
            caller.cluster.drain(name, reason or "Reboot ASAP", caller.user)
        caller.cluster.reboot_asked(name, next_state)
        _reboot_when_idle(caller.world, name)


def cancel_reboot(caller: Caller, words: Sequence[str]) -> None:
    """Take back a reboot that has not begun, and the drain that came with it."""
    names = _nodes(caller, words)
    for name in names:
        node = caller.cluster.node(name)
        if node.reboot is None or node.reboot.issued:
            raise RefusedError("slurm_update error: Invalid node state specified")
        node.reboot = None
        node.drain = None


def _nodes(caller: Caller, words: Sequence[str]) -> list[str]:
    """The nodes that are meant: all, if none is named."""
    if not words or words[0].upper() == "ALL":
        return list(caller.cluster.nodes)
    try:
        names = expand(",".join(words))
        for name in names:
            caller.cluster.node(name)
    except (UnknownError, HostlistError) as error:
        raise RefusedError("scontrol_reboot_nodes error: Invalid node name specified") from error
    return names


def _reboot_when_idle(world: World, name: str) -> None:
    asked = world.cluster.nodes[name].reboot
    if asked is None or asked.issued:
        return  # taken back meanwhile, or asked for twice
    if world.cluster.jobs_on(name):
        again_us = world.now_us + _LOOKS_EVERY_US
        world.schedule(again_us, f"{name}/scontrol", lambda: _reboot_when_idle(world, name))
        return
    world.cluster.reboot_issued(name)
    reboot(world, world.nodes[name])
