"""Verbs on unit files: cat, enable, disable, mask, unmask, daemon-reload."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from fakes.commands.systemctl.asked import Asked, Verb
from fakes.node import Node
from fakes.system.services import MaskedError, Service, Services, StartError, UnknownUnitError
from fakes.system.units import Unit, full_name
from fakes.world import World

_WANTS = "/etc/systemd/system/multi-user.target.wants"


def unit_text(unit: Unit) -> str:
    """A unit file."""
    lines = ["[Unit]", f"Description={unit.description}"]
    if unit.after:
        lines.append(f"After={' '.join(unit.after)}")
    if unit.name.endswith(".service"):
        lines += ["", "[Service]", f"Type={'simple' if unit.command else 'oneshot'}"]
        if unit.user != "root":
            lines.append(f"User={unit.user}")
        command = " ".join(unit.command) or "/bin/true"
        lines.append(f"ExecStart={command}")
        if unit.restarts:
            lines.append("Restart=on-failure")
        if not unit.command:
            lines.append("RemainAfterExit=yes")
    if unit.enabled != "static":
        lines += ["", "[Install]", "WantedBy=multi-user.target"]
        lines += [f"Alias={alias}" for alias in unit.aliases]
    return "\n".join(lines) + "\n"


def _cat(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """The files of units, each under its path."""
    del world
    status = 0
    for number, word in enumerate(asked.words):
        try:
            unit = node.services.find(word).unit
        except UnknownUnitError:
            err.write(f"No files found for {full_name(word)}.\n")
            status = 1
            continue
        out.write("\n" if number else "")
        out.write(f"# {unit.file}\n{unit_text(unit)}")
    return status


def _enable(service: Service, err: TextIO) -> None:
    if service.enabled == "disabled":
        name = service.name
        err.write(f"Created symlink {_WANTS}/{name} → {service.unit.file}.\n")
        service.enabled = "enabled"


def _disable(service: Service, err: TextIO) -> None:
    if service.enabled == "enabled":
        err.write(f"Removed {_WANTS}/{service.name}.\n")
        service.enabled = "disabled"


def _mask(service: Service, err: TextIO) -> None:
    if service.enabled != "masked":
        err.write(f"Created symlink /etc/systemd/system/{service.name} → /dev/null.\n")
        service.enabled = "masked"


def _unmask(service: Service, err: TextIO) -> None:
    if service.enabled == "masked":
        err.write(f"Removed /etc/systemd/system/{service.name}.\n")
        service.enabled = service.unit.enabled


def _verb(act: Callable[[Service, TextIO], None], now: str = "") -> Verb:
    """A verb that does ``act`` to each unit, and with ``--now`` starts or stops it."""

    def verb(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
        del out
        for word in asked.words:
            try:
                service = node.services.find(word)
            except UnknownUnitError:
                err.write(
                    f"Failed to {asked.verb} unit: Unit file {full_name(word)} does not exist.\n"
                )
                return 1
            if service.enabled == "masked" and asked.verb == "enable":
                path = f"/etc/systemd/system/{service.name}"
                err.write(f"Failed to enable unit: Unit file {path} is masked.\n")
                return 1
            act(service, err)
            if "now" in asked.options and now:
                return _at_once(node.services, service, world, now, err)
        return 0

    return verb


def _at_once(services: Services, service: Service, world: World, now: str, err: TextIO) -> int:
    try:
        (services.start if now == "start" else services.stop)(service.name, world)
    except (StartError, MaskedError):
        err.write(f"Job for {service.name} failed.\n")
        return 1
    return 0


def _nothing(asked: Asked, node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """What has no effect here."""
    del asked, node, world, out, err
    return 0


VERBS: dict[str, Verb] = {
    "cat": _cat,
    "enable": _verb(_enable, "start"),
    "reenable": _verb(_enable),
    "preset": _verb(_enable),
    "disable": _verb(_disable, "stop"),
    "mask": _verb(_mask, "stop"),
    "unmask": _verb(_unmask),
    "daemon-reload": _nothing,
    "daemon-reexec": _nothing,
    "set-property": _nothing,
    "import-environment": _nothing,
    "show-environment": _nothing,
}
