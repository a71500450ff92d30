"""``timedatectl``: whether the node's clock is kept right, and by whom (systemd 249).

The kernel calls a clock unsynchronised some hours after its last correction, when the possible
error has grown to 16 s at 500 ppm (``MAXPHASE`` and ``MAXFREQ`` in the kernel's timex.h).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.services import MaskedError, StartError
from fakes.world import World

_KEEPER = "chrony.service"
_DRIFTS_FOR_US = 32_000 * SECOND_US
"""16 s at 500 ppm: so long the kernel trusts a clock that nobody corrects any more."""

_TRUE, _FALSE = ("1", "yes", "true", "on"), ("0", "no", "false", "off")
_FLAGS = {"a": "all"}
_VALUES = {"p": "property", "H": "host", "M": "machine"}
_LONG_FLAGS = ("no-pager", "value", "no-ask-password")


@command("timedatectl", latency_us=60_000)
def main(
    argv: Sequence[str],
    node: Node,
    world: World,
    clock: Callable[[], float],
    out: TextIO,
    err: TextIO,
) -> int:
    """``status``, ``show`` and ``set-ntp``; the rest is not known here."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES, (), _LONG_FLAGS)
    except UnknownOptionError as error:
        err.write(f"timedatectl: {error}\n")
        return NOT_UNDERSTOOD
    verb, *rest = words or ["status"]
    if {"host", "machine"} & options.keys():
        verb = "of another machine"
    if verb == "status" and not rest:
        out.write(_status(node, world, clock()))
    elif verb == "show" and not rest:
        told = _properties(node, world, clock())
        wanted = options["property"].split(",") if "property" in options else list(told)
        for name in wanted:
            if name in told:
                out.write(f"{'' if 'value' in options else f'{name}='}{told[name]}\n")
    elif verb == "set-ntp" and len(rest) == 1 and rest[0] in (*_TRUE, *_FALSE):
        return _set_ntp(rest[0] in _TRUE, node, world, err)
    else:
        err.write(f"timedatectl: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    return 0


def is_synchronised(node: Node, world: World) -> bool:
    """Whether the kernel trusts the node's clock."""
    keeper = node.services.find(_KEEPER)
    if keeper.is_active:
        return True
    return keeper.since_us is not None and world.now_us - keeper.since_us < _DRIFTS_FOR_US


def _properties(node: Node, world: World, now_s: float) -> dict[str, str]:
    """What systemd-timedated tells, by its names (org.freedesktop.timedate1(5))."""
    at = time.strftime("%a %Y-%m-%d %H:%M:%S UTC", time.gmtime(now_s))
    return {
        "Timezone": "Etc/UTC",
        "LocalRTC": "no",
        "CanNTP": "yes",
        "NTP": _word(node.services.is_active(_KEEPER)),
        "NTPSynchronized": _word(is_synchronised(node, world)),
        "TimeUSec": at,
        "RTCTimeUSec": at,
    }


def _status(node: Node, world: World, now_s: float) -> str:
    told = _properties(node, world, now_s)
    at = told["TimeUSec"]
    lines = (
        ("Local time", at),
        ("Universal time", at),
        ("RTC time", at.removesuffix(" UTC")),
        ("Time zone", "Etc/UTC (UTC, +0000)"),
        ("System clock synchronized", told["NTPSynchronized"]),
        ("NTP service", "active" if told["NTP"] == "yes" else "inactive"),
        ("RTC in local TZ", told["LocalRTC"]),
    )
    return "".join(f"{name:>25}: {text}\n" for name, text in lines)


def _set_ntp(wanted: bool, node: Node, world: World, err: TextIO) -> int:
    if wanted == node.services.is_active(_KEEPER):
        return 0
    try:
        if wanted:
            node.services.start(_KEEPER, world)
        else:
            node.services.stop(_KEEPER, world)
    except MaskedError:
        err.write(f"Failed to set ntp: Unit {_KEEPER} is masked.\n")
        return 1
    except StartError as error:
        err.write(f"Failed to set ntp: {error}\n")
        return 1
    return 0


def _word(value: bool) -> str:
    return "yes" if value else "no"
