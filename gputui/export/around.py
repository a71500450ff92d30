"""The machine and the network around the GPUs, in a few lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gputui.age import age
from gputui.export.words import gib
from gputui.model import HostSample, LinkSample, NodeSample, TcpSample

_MOST_LINKS = 8
_GIGA = 1_000_000_000


def lines(sample: NodeSample) -> list[str]:
    """One line for the host, one for its links and for each that has trouble, one for TCP."""
    host = [] if sample.host_readings is None else [_host(sample.host_readings)]
    tcp = [] if sample.tcp is None or not sample.tcp.connections else [_tcp(sample.tcp)]
    return [line for line in (*host, *_links(sample.links), *tcp) if line]


def short(sample: NodeSample) -> str:
    """A few words for one line a node: the CPUs' share, and how many links are up."""
    words = []
    host = sample.host_readings
    if host is not None and host.cpu_percent is not None:
        words.append(f"cpu {host.cpu_percent:.0f}%")
    if sample.links:
        up = sum(link.is_up for link in sample.links)
        words.append(f"links {up}/{len(sample.links)} up")
    return "  ".join(words)


def _host(host: HostSample) -> str:
    parts = []
    if host.cpu_percent is not None:
        parts.append(f"CPU {host.cpu_percent:.0f}% of {host.cpu_count}")
    if host.load_1m is not None:
        parts.append(f"load {host.load_1m:.1f}")
    if host.memory_total_bytes is not None:
        parts.append(f"memory {gib(host.memory_used_bytes)}/{gib(host.memory_total_bytes)} GiB")
    pressures = [
        f"{name} {share:.0f}%"
        for name, share in (
            ("cpu", host.cpu_pressure_percent),
            ("memory", host.memory_pressure_percent),
            ("io", host.io_pressure_percent),
        )
        if share is not None
    ]
    if pressures:
        parts.append(f"pressure {' '.join(pressures)}")
    if host.uptime_s is not None:
        parts.append(f"up {age(host.uptime_s)}")
    return f"HOST   {'  '.join(parts)}" if parts else ""


def _links(links: Sequence[LinkSample]) -> list[str]:
    if not links:
        return []
    up = [link for link in links if link.is_up]
    groups = Counter(f"{link.kind}{_speed(link)}" for link in up)
    parts = [f"{len(up)}/{len(links)} up", *(f"{count}x {what}" for what, count in groups.items())]
    # What goes over a bond goes over its members.
    singles = [link for link in up if link.kind != "bond"]
    if any(link.rx_bytes_per_s is not None for link in singles):
        received = sum(link.rx_bytes_per_s or 0 for link in singles)
        sent = sum(link.tx_bytes_per_s or 0 for link in singles)
        parts.append(f"rx {received / _GIGA:.1f} tx {sent / _GIGA:.1f} GB/s")
    troubled = [_trouble(link) for link in links if not link.is_up or link.new_errors]
    more = len(troubled) - _MOST_LINKS
    rest = [f"       ... and {more} more"] if more > 0 else []
    return [f"LINKS  {'  '.join(parts)}", *troubled[:_MOST_LINKS], *rest]


def _trouble(link: LinkSample) -> str:
    words = [link.name, link.kind, link.state or f"? ({link.missing.get('state', 'unknown')})"]
    if link.physical_state and not link.is_up:
        words.append(f"({link.physical_state})")
    errors = [f"{name} +{by}" for name, by in link.new_errors.items()]
    if errors and link.growth_s is not None:
        words.append(f"{', '.join(errors)} in {link.growth_s:.0f}s")
    return f"       {' '.join(words)}"


def _speed(link: LinkSample) -> str:
    if link.speed_mbps is None:
        return ""
    return f" {link.speed_mbps / 1000:g} Gb/s"


def _tcp(tcp: TcpSample) -> str:
    words = f"TCP    {tcp.connections} connections of GPU processes"
    if tcp.rtt_median_us is not None and tcp.rtt_worst_us is not None:
        words += f"  round trip {_ms(tcp.rtt_median_us)} ms"
        words += f", worst {_ms(tcp.rtt_worst_us)} ms to {tcp.worst_peer}"
    if tcp.retransmits:
        words += f"  {tcp.retransmits} segments sent again"
    return words


def _ms(us: int) -> str:
    return f"{us / 1000:.2f}" if us < 10_000 else f"{us / 1000:.0f}"
