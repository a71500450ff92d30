"""A node's service processor (BMC): the event log that it keeps, whatever becomes of the node.

It notes what a server's own hardware sees: errors of the bus, power, the air that comes in. Sensor
types and offsets are those of the IPMI specification (v2.0, tables 42-2 and 42-3), in ipmitool's
words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fakes.actions import Action, Effect
from fakes.system.kernel_log import KernelLine

if TYPE_CHECKING:
    from fakes.node import Node

INLET_WARNING_C, INLET_CRITICAL_C, INLET_FATAL_C = 38.0, 42.0, 47.0
"""Upper non-critical, critical and non-recoverable: of air-cooled servers of class A2."""

MOST_ENTRIES = 909
"""As many as there is room for (16 KiB, 18 bytes each): what comes later is lost."""

_BUS = (
    ("severity=Uncorrectable (Fatal)", "Bus Fatal Error"),
    ("severity=Uncorrectable (Non-Fatal)", "Bus Uncorrectable error"),
    ("has fallen off the bus", "Bus Fatal Error"),
)
_POWER = {
    Effect.POWER_OFF: "Power off/down",
    Effect.POWER_CYCLE: "Power cycle",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An entry: when, which sort of sensor and which one, what, and whether it began or ended."""

    at_us: int
    sensor_type: str
    sensor: str
    number: int
    text: str
    asserted: bool = True


@dataclass(slots=True, eq=False)
class ServiceProcessor:
    """The event log of one node. ``boot_device`` is what was asked for the next boot."""

    events: list[Event] = field(default_factory=list)
    cleared_us: int | None = None
    boot_device: str = ""

    def watch(self, node: Node) -> None:
        """Note what happens to ``node`` from now on."""
        hot = False

        def air_changed(celsius: float) -> None:
            nonlocal hot
            if (celsius >= INLET_CRITICAL_C) is hot:
                return
            hot = not hot
            text = f"Upper Critical going high | {_sign(hot)} | Reading {celsius:.0f} > Threshold "
            text += f"{INLET_CRITICAL_C:.0f} degrees C"
            at_us = node.world.now_us if node.world else 0
            self._note(Event(at_us, "Temperature", "Inlet Temp", 0x30, text, hot))

        def power_changed(failed: bool, at_us: int) -> None:
            self._note(
                Event(at_us, "Power Supply", "PSU6 Status", 0x66, "Failure detected", failed)
            )

        node.kernel_log.listen(self._read)
        node.actions.listen(self._acted)
        node.inlet.listen(air_changed)
        node.supply.listen(power_changed)

    def clear(self, at_us: int) -> None:
        """Forget all of it; that is noted in turn."""
        self.events.clear()
        self.cleared_us = at_us
        self._note(Event(at_us, "Event Logging Disabled", "SEL", 0x72, "Log area reset/cleared"))

    def _note(self, event: Event) -> None:
        if len(self.events) < MOST_ENTRIES:
            self.events.append(event)

    def _read(self, line: KernelLine) -> None:
        for words, text in _BUS:
            if words in line.text:
                event = Event(line.at_us, "Critical Interrupt", "PCIe Bus Error", 0x41, text)
                if not self.events or self.events[-1] != event:
                    self._note(event)
                return

    def _acted(self, action: Action) -> None:
        if action.effect in _POWER:
            text = _POWER[action.effect]
            self._note(Event(action.at_us, "Power Unit", "Power Unit", 0x01, text))
        elif action.effect is Effect.REBOOT:
            self._note(Event(action.at_us, "OS Boot", "OS Boot", 0x1F, "OS graceful shutdown"))


def _sign(asserted: bool) -> str:
    return "Asserted" if asserted else "Deasserted"
