"""What stands around the GPUs, in one line or two: the host, and the network that training uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gputui.model import HostSample, LinkSample, TcpSample
from gputui.tui import format as fmt
from gputui.tui.missing import short_reason
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line, width_of

_RDMA = frozenset({"infiniband", "roce", "rdma"})

_MUCH_MEMORY = 0.95
"""The share of memory from which on it is marked."""

_MUCH_PRESSURE = {"cpu": 50.0, "mem": 10.0, "io": 40.0}
"""Percent of the time in which some task waited, from which on it is marked."""

_GAP = 2

_TROUBLE = 0
"""The rank of what is marked."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One fact. The lowest ranks stay longest when room is short."""

    rank: int
    runs: tuple[Run, ...]

    @property
    def width(self) -> int:
        return sum(width_of(run.text) for run in self.runs)


def wanted(scene: Scene) -> int:
    """Lines it takes to say everything: the host's, and the network's if there is one."""
    sample = scene.snapshot.sample if scene.snapshot else None
    if sample is None or sample.host_readings is None:
        return 0
    return 2 if sample.links or sample.tcp else 1


def lines(scene: Scene, width: int, count: int) -> list[Line]:
    """Both in ``count`` lines: on one line, what matters most of either."""
    sample = scene.snapshot.sample if scene.snapshot else None
    if count == 0 or sample is None or sample.host_readings is None:
        return []
    host = list(_host(sample.host_readings))
    network = list(_network(scene, sample.links, sample.tcp))
    if count == 1:
        return [_fitted([("host", host), ("net", network)], width)]
    return [_fitted([("host", host)], width), _fitted([("net", network)], width)]


def _fitted(groups: Sequence[tuple[str, list[_Part]]], width: int) -> Line:
    """As many parts as fit, in their order, each group behind its name."""
    room = width - 1
    kept: set[int] = set()
    for _, parts in groups:
        room -= 5 + _GAP if parts else 0
    for part in sorted((part for _, parts in groups for part in parts), key=lambda one: one.rank):
        if part.width + _GAP <= room:
            room -= part.width + _GAP
            kept.add(id(part))
    runs: list[Run] = []
    for name, parts in groups:
        shown = [part for part in parts if id(part) in kept]
        if shown:
            runs.append(Run(f" {name:5}" if not runs else f"{name:4}", Role.TITLE))
        for part in shown:
            runs += [*part.runs, Run(" " * _GAP)]
    return make_line(runs, width)


# --- the host -------------------------------------------------------------------------------------


def _host(host: HostSample) -> Iterator[_Part]:
    cpu = _or_why(host, "cpu_percent", lambda: f"{host.cpu_percent:.0f}%")
    count = f" of {host.cpu_count}" if host.cpu_count and host.cpu_percent is not None else ""
    yield _Part(1, (Run("CPU ", Role.DIM), cpu, Run(count, Role.DIM)))
    used, total = host.memory_used_bytes, host.memory_total_bytes
    memory = _or_why(host, "memory_used_bytes", lambda: fmt.used_of_total(used, total))
    is_full = used is not None and total and used >= _MUCH_MEMORY * total
    if is_full:
        memory = Run(f"{memory.text}!", Role.WARNING)
    yield _Part(_TROUBLE if is_full else 2, (Run("memory ", Role.DIM), memory))
    pressures = (Run("pressure", Role.DIM), *_pressures(host))
    is_high = any(run.role is Role.WARNING for run in pressures)
    yield _Part(_TROUBLE if is_high else 4, pressures)
    yield _Part(
        8, (Run("load ", Role.DIM), _or_why(host, "load_1m", lambda: f"{host.load_1m:.1f}"))
    )
    if host.uptime_s is not None:
        yield _Part(9, (Run("up ", Role.DIM), Run(fmt.duration(host.uptime_s))))


def _pressures(host: HostSample) -> Iterator[Run]:
    """How long tasks waited for each, or once why that is not known."""
    names = {
        "cpu": "cpu_pressure_percent",
        "mem": "memory_pressure_percent",
        "io": "io_pressure_percent",
    }
    values = {name: getattr(host, field) for name, field in names.items()}
    if all(value is None for value in values.values()):
        yield Run(f" {short_reason(host.missing.get('cpu_pressure_percent'))}", Role.DIM)
        return
    for name, field in names.items():
        value = values[name]
        yield Run(f" {name} ", Role.DIM)
        if value is None:
            yield Run(short_reason(host.missing.get(field)), Role.DIM)
        elif value >= _MUCH_PRESSURE[name]:
            yield Run(f"{value:.0f}%!", Role.WARNING)
        else:
            yield Run(f"{value:.0f}%")


def _or_why(host: HostSample, field: str, write: Callable[[], str]) -> Run:
    """A reading, or a short word for why there is none."""
    if getattr(host, field) is None:
        return Run(short_reason(host.missing.get(field)), Role.DIM)
    return Run(write())


# --- the network ----------------------------------------------------------------------------------


def carrying(links: Sequence[LinkSample]) -> list[LinkSample]:
    """The links whose traffic adds up to the node's: RDMA ports, or interfaces in no bond."""
    rdma = [link for link in links if link.kind in _RDMA]
    return rdma or [link for link in links if link.bond is None]


def _network(scene: Scene, links: Sequence[LinkSample], tcp: TcpSample | None) -> Iterator[_Part]:
    down = [link for link in links if link.state is not None and not link.is_up]
    failing = {link.name: sum(link.new_errors.values()) for link in links if link.new_errors}
    if links:
        up = sum(link.is_up for link in links)
        role = Role.WARNING if down else Role.TEXT
        yield _Part(3, (Run(f"{up} of {len(links)}", role), Run(" links up", Role.DIM)))
    if down:
        rest = f" +{len(down) - 1}" if len(down) > 1 else ""
        mark = f"{scene.glyphs.warning} {clean(down[0].name)} {clean(down[0].state or '')}{rest}"
        yield _Part(_TROUBLE, (Run(mark, Role.WARNING),))
    if failing:
        name = max(failing, key=lambda one: failing[one])
        mark = f"{scene.glyphs.warning} {clean(name)} +{failing[name]} errors"
        yield _Part(_TROUBLE, (Run(mark, Role.WARNING),))
    if tcp is not None:
        yield from _connections(tcp)
    speeds = carrying(links)
    received = [link.rx_bytes_per_s for link in speeds if link.rx_bytes_per_s is not None]
    sent = [link.tx_bytes_per_s for link in speeds if link.tx_bytes_per_s is not None]
    if received and sent:
        text = fmt.rates(sum(received), sum(sent))
        yield _Part(6, (Run("rx/tx ", Role.DIM), Run(text)))


def _connections(tcp: TcpSample) -> Iterator[_Part]:
    """The round-trip times of the connections that the GPUs' processes hold."""
    if tcp.rtt_median_us is not None and tcp.rtt_worst_us is not None:
        times = f"{fmt.milliseconds(tcp.rtt_median_us)}/{fmt.milliseconds(tcp.rtt_worst_us)}ms"
        yield _Part(5, (Run("rtt ", Role.DIM), Run(times)))
    if tcp.retransmits:
        yield _Part(7, (Run("resent ", Role.DIM), Run(str(tcp.retransmits), Role.WARNING)))
