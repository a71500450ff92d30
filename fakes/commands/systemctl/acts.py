"""Verbs that act on services: start, stop, restart, reload, kill, reset-failed."""

from __future__ import annotations

import signal as signals
from collections.abc import Callable
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD
from fakes.commands.systemctl.asked import Asked, Verb, matching
from fakes.node import Node
from fakes.system.services import MaskedError, Service, StartError, State, UnknownUnitError
from fakes.system.units import full_name
from fakes.world import World

_NOT_INSTALLED = 5

Act = Callable[[Service, Node, World], None]


def _start(service: Service, node: Node, world: World) -> None:
    node.services.start(service.name, world)


def _stop(service: Service, node: Node, world: World) -> None:
    node.services.stop(service.name, world)


def _restart(service: Service, node: Node, world: World) -> None:
    node.services.restart(service.name, world)


def _restart_if_active(service: Service, node: Node, world: World) -> None:
    if service.is_active:
        node.services.restart(service.name, world)


def _reload(service: Service, node: Node, world: World) -> None:
    """A service that runs reads its configuration anew: nothing changes here."""
    del node, world
    if not service.is_active:
        raise NotActiveError(service.name)


class NotActiveError(Exception):
    """A unit that does not run, and cannot be reloaded."""


def _verb(act: Act, word: str) -> Verb:
    """A verb that does ``act`` to each unit named."""

    def verb(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
        del out
        status = 0
        for name in asked.words:
            status = max(status, _on_one(act, word, name, node, world, err))
        return status

    return verb


def _on_one(act: Act, word: str, name: str, node: Node, world: World, err: TextIO) -> int:
    full = full_name(name)
    try:
        for service in (
            matching(node.services, [name]) if "*" in name else [node.services.find(name)]
        ):
            act(service, node, world)
    except UnknownUnitError:
        how = "not loaded" if word == "stop" else "not found"
        err.write(f"Failed to {word} {full}: Unit {full} {how}.\n")
        return _NOT_INSTALLED
    except MaskedError:
        err.write(f"Failed to {word} {full}: Unit {full} is masked.\n")
        return 1
    except NotActiveError:
        err.write(f"{full} is not active, cannot reload.\n")
        return 1
    except StartError:
        err.write(
            f"Job for {full} failed because the control process exited with error code.\n"
            f'See "systemctl status {full}" and "journalctl -xeu {full}" for details.\n'
        )
        return 1
    return 0


def _kill(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Send a unit's processes a signal: those that end a process end it."""
    del out
    word = asked.options.get("signal", "TERM").upper().removeprefix("SIG")
    number = int(word) if word.isdecimal() else getattr(signals, f"SIG{word}", None)
    if number is None:
        err.write(f"Failed to parse signal string {word}.\n")
        return 1
    for name in asked.words:
        try:
            service = node.services.find(name)
        except UnknownUnitError:
            err.write(
                f"Failed to kill unit {full_name(name)}: Unit {full_name(name)} not loaded.\n"
            )
            return 1
        if service.pid and number in (signals.SIGTERM, signals.SIGKILL, signals.SIGINT):
            pid = service.pid
            node.services.process_ended(pid, world, signal=int(number))
            node.kill_service(pid)
        elif number not in (signals.SIGHUP, signals.SIGUSR1, signals.SIGUSR2, 0):
            err.write(f"systemctl: kill -s {word}: this signal is not known here\n")
            return NOT_UNDERSTOOD
    return 0


def _reset_failed(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Let units that have failed be merely inactive."""
    del out
    for name in asked.words:
        try:
            node.services.find(name)
        except UnknownUnitError:
            full = full_name(name)
            err.write(f"Failed to reset failed state of unit {full}: Unit {full} not loaded.\n")
            return 1
    for service in matching(node.services, asked.words):
        if service.state is State.FAILED:
            service.state, service.since_us = State.INACTIVE, world.now_us
    return 0


VERBS: dict[str, Verb] = {
    "start": _verb(_start, "start"),
    "stop": _verb(_stop, "stop"),
    "restart": _verb(_restart, "restart"),
    "reload-or-restart": _verb(_restart, "restart"),
    "try-restart": _verb(_restart_if_active, "restart"),
    "condrestart": _verb(_restart_if_active, "restart"),
    "try-reload-or-restart": _verb(_restart_if_active, "restart"),
    "reload": _verb(_reload, "reload"),
    "kill": _kill,
    "reset-failed": _reset_failed,
}
