"""The node: what is around the GPUs in full, and what is over."""

from __future__ import annotations

from dataclasses import fields

from gputui.age import age
from gputui.model import HostSample, LinkSample, NodeSample, Snapshot, TcpSample
from gputui.tui import format as fmt
from gputui.tui.pages.writer import Page, Writer
from gputui.tui.panels.incidents import subject
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Run, clean, left, make_line

_UNITS = (
    ("_percent", lambda value: f"{value:.1f} %"),
    ("_bytes", lambda value: f"{value / (1 << 30):.1f} GiB"),
    ("uptime_s", fmt.duration),
)
"""How a reading of the host is written, by the end of its name."""

_NAME_CELLS = 20


def node_page(scene: Scene, width: int) -> Page:
    """The page of the node."""
    snapshot = scene.snapshot
    if snapshot is None:
        return (make_line([Run(" nothing is known yet")], width),)
    sample = snapshot.sample
    writer = Writer(width)
    writer.line(Run(clean(sample.host), Role.STRONG))
    writer.blank()
    writer.labelled("driver", sample.driver or "not known", cells=_NAME_CELLS)
    writer.labelled("CUDA", sample.cuda or "not known", cells=_NAME_CELLS)
    writer.labelled("GPUs", str(sample.gpu_count), cells=_NAME_CELLS)
    for notice in snapshot.notices:
        writer.labelled("monitor", notice, Role.INFO, _NAME_CELLS)
    _host(writer, sample)
    _links(writer, sample)
    _connections(writer, sample.tcp, scene.now_s)
    _recent(writer, scene, snapshot)
    return writer.page


def _host(writer: Writer, sample: NodeSample) -> None:
    host = sample.host_readings
    if host is None:
        return
    writer.heading("HOST")
    for field in fields(HostSample):
        if field.name == "missing":
            continue
        value = getattr(host, field.name)
        label = field.name
        write = next((w for end, w in _UNITS if field.name.endswith(end)), str)
        for end in ("_percent", "_bytes", "_s"):
            label = label.removesuffix(end)
        label = " " + label.replace("_", " ").replace("cpu", "CPU").replace("io ", "I/O ")
        if value is None:
            writer.labelled(label, host.missing.get(field.name, "not read"), Role.DIM, _NAME_CELLS)
        else:
            writer.labelled(label, write(value), cells=_NAME_CELLS)


def _links(writer: Writer, sample: NodeSample) -> None:
    why = sample.host_readings.missing.get("links") if sample.host_readings else None
    if not sample.links and why is None:
        return
    writer.heading("LINKS")
    if why is not None:
        writer.labelled(" not all are told", why, Role.DIM, _NAME_CELLS)
    for link in sample.links:
        _link(writer, link)


def _link(writer: Writer, link: LinkSample) -> None:
    """One line, and one for the counters of errors that are not zero."""
    speed = link.lanes or ("" if link.speed_mbps is None else f"{link.speed_mbps / 1000:g} Gb/s")
    state = link.state or link.missing.get("state", "not known")
    physical = f" ({link.physical_state})" if link.physical_state and not link.is_up else ""
    part_of = f" in {link.bond}" if link.bond else f" is {link.interface}" if link.interface else ""
    writer.line(
        Run(" " + left(clean(link.name), _NAME_CELLS - 2) + " "),
        Run(f"{clean(state)}{clean(physical)}", Role.TEXT if link.is_up else Role.WARNING),
        Run(f"  {link.kind} {clean(speed)}{clean(part_of)}  "),
        Run(fmt.rates(link.rx_bytes_per_s, link.tx_bytes_per_s)),
    )
    told = []
    for name, total in sorted(link.counters.items()):
        grew = link.growth.get(name)
        told.append(f"{name} {total}" + (f" (+{grew})" if grew else ""))
    if told:
        role = Role.WARNING if link.new_errors else Role.DIM
        writer.labelled("", ", ".join(told), role, _NAME_CELLS)


def _connections(writer: Writer, tcp: TcpSample | None, now_s: float) -> None:
    if tcp is None:
        return
    writer.heading("CONNECTIONS OF GPU PROCESSES")
    values = {
        "connections": tcp.connections,
        "rtt_median_us": tcp.rtt_median_us,
        "rtt_worst_us": tcp.rtt_worst_us,
        "worst_peer": tcp.worst_peer,
        "retransmits": tcp.retransmits,
    }
    for field, value in values.items():
        label = " " + field.removesuffix("_us").replace("_", " ").replace("rtt", "round trip,")
        if value is None:
            writer.labelled(label, tcp.missing.get(field, "none"), Role.DIM, _NAME_CELLS)
        elif field.endswith("_us") and isinstance(value, int):
            writer.labelled(label, f"{fmt.milliseconds(value)} ms", cells=_NAME_CELLS)
        else:
            writer.labelled(label, str(value), cells=_NAME_CELLS)
    writer.labelled(" measured", f"{age(now_s - tcp.time_s)} ago", cells=_NAME_CELLS)


def _recent(writer: Writer, scene: Scene, snapshot: Snapshot) -> None:
    if not snapshot.recent:
        return
    writer.heading("OVER WITHIN THE LAST HOUR")
    for incident in snapshot.recent:
        cleared_s = incident.cleared_s or scene.now_s
        ago = f"{age(scene.now_s - cleared_s)} ago, after {age(cleared_s - incident.opened_s)}"
        writer.line(
            Run(f" {scene.glyphs.severity(incident.severity)} {incident.kind} ", Role.STRONG),
            Run(f"{subject(incident)}  {ago}  {clean(incident.cause_text)}"),
        )
