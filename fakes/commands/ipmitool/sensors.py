"""``sdr`` and ``sensor``: what the service processor measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fakes.node import Node
from fakes.system.bmc import INLET_CRITICAL_C, INLET_FATAL_C, INLET_WARNING_C

_BASE_W = 1_450
_SUPPLIES = 6
_FANS = 8
_CPU_IDLE_C, _CPU_RISE_C = 41, 17


@dataclass(frozen=True, slots=True)
class Sensor:
    """One sensor. ``value`` is None where there is none; ``limits`` are upper ones, the mildest
    first; ``discrete`` is its state in words, for one that measures nothing.
    """

    name: str
    number: int
    kind: str
    entity: str
    value: float | None = None
    unit: str = ""
    limits: tuple[float, float, float] | None = None
    discrete: str = ""

    @property
    def status(self) -> str:
        """ok, nc, cr or nr, by the limits passed; ns without a value."""
        if self.discrete:
            return "ok"
        if self.value is None:
            return "ns"
        passed = sum(self.value >= limit for limit in self.limits or ())
        return ("ok", "nc", "cr", "nr")[passed]

    @property
    def reading(self) -> str:
        """``25 degrees C``."""
        if self.discrete:
            return self.discrete
        return "no reading" if self.value is None else f"{self.value:g} {self.unit}"


def sensors(node: Node, at_us: int) -> list[Sensor]:
    """All of a node's, in their order."""
    return [*_temperatures(node, at_us), *_fans(node), *_power(node, at_us)]


def total_watts(node: Node, at_us: int) -> int:
    """What the whole server draws."""
    if not node.is_up:
        return 60
    return _BASE_W + sum(gpu.power_mw(at_us) for gpu in node.gpus if not gpu.lost) // 1000


def _temperatures(node: Node, at_us: int) -> Iterator[Sensor]:
    kind = "Temperature"
    limits = (INLET_WARNING_C, INLET_CRITICAL_C, INLET_FATAL_C)
    yield Sensor("Inlet Temp", 0x30, kind, "64.1", round(node.inlet_c), "degrees C", limits)
    busy = any(gpu.conditions.load > 0 for gpu in node.gpus)
    for cpu in (1, 2):
        value = _CPU_IDLE_C + (_CPU_RISE_C if busy else 0) + cpu if node.is_up else None
        yield Sensor(
            f"CPU{cpu} Temp", 0x30 + cpu, kind, f"3.{cpu}", value, "degrees C", (90, 95, 100)
        )
    for gpu in node.gpus:
        there = node.is_up and not gpu.lost
        yield Sensor(
            f"GPU{gpu.index + 1} Temp", 0x40 + gpu.index, kind, f"11.{gpu.index + 1}",
            gpu.temperature_c(at_us) if there else None, "degrees C",
            (gpu.profile.thermal.max_operating_c, gpu.profile.thermal.slowdown_c,
             gpu.profile.thermal.shutdown_c),
        )  # fmt: skip


def _fans(node: Node) -> Iterator[Sensor]:
    busy = max((gpu.conditions.load for gpu in node.gpus), default=0.0)
    turns = 5_600 + round(busy * 52) * 100 if node.is_up else None
    for fan in range(1, _FANS + 1):
        yield Sensor(f"FAN{fan}", 0x50 + fan, "Fan", f"29.{fan}", turns, "RPM")


def _power(node: Node, at_us: int) -> Iterator[Sensor]:
    total = total_watts(node, at_us)
    failed = node.supply.capacity_mw is not None
    giving = _SUPPLIES - failed
    for supply in range(1, _SUPPLIES + 1):
        dead = failed and supply == _SUPPLIES
        state = "Presence detected, Failure detected" if dead else "Presence detected"
        number = 0x60 + supply
        yield Sensor(f"PSU{supply} Status", number, "Power Supply", f"10.{supply}", discrete=state)
        share = 0 if dead else total // giving
        yield Sensor(f"PSU{supply} Power", 0x70 + supply, "Current", f"10.{supply}", share, "Watts")
    yield Sensor("Total Power", 0x80, "Current", "7.1", total, "Watts")


def listing(found: Sequence[Sensor]) -> str:
    """``sdr list``: name, reading, status."""
    return "".join(
        f"{sensor.name:<16} | {sensor.reading:<17} | {sensor.status}\n" for sensor in found
    )


def extended(found: Sequence[Sensor]) -> str:
    """``sdr elist`` and ``sdr type``: number and entity as well."""
    return "".join(
        f"{sensor.name:<16} | {sensor.number:02X}h | {sensor.status:<3} | {sensor.entity:>5} | "
        f"{sensor.reading.capitalize() if sensor.value is None else sensor.reading}\n"
        for sensor in found
    )


def table(found: Sequence[Sensor]) -> str:
    """``sensor list``: values and limits in columns."""
    lines = []
    for sensor in found:
        limits = [f"{limit:.3f}" for limit in sensor.limits] if sensor.limits else ["na"] * 3
        if sensor.discrete:
            cells = ["0x1", "discrete", "0x0180"]
        else:
            value = "na" if sensor.value is None else f"{sensor.value:.3f}"
            cells = [value, sensor.unit, "na" if sensor.value is None else sensor.status]
        lines.append(
            f"{sensor.name:<16} | {cells[0]:<10} | {cells[1]:<10} | {cells[2]:<5} | "
            + " | ".join(f"{cell:<9}" for cell in ["na", "na", "na", *limits])
            + " \n"
        )
    return "".join(lines)


def one(sensor: Sensor) -> str:
    """``sensor get`` and ``sdr get``: the lines about one."""
    return (
        f"Locating sensor record...\nSensor ID              : {sensor.name} ({sensor.number:#x})\n"
        f" Entity ID             : {sensor.entity}\n Sensor Reading        : {sensor.reading}\n"
        f" Status                : {sensor.status}\n\n"
    )
